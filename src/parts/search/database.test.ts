// The index is a cache: nothing that can be the matter with it is the person's affair.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { found, SearchHome } from './testing.ts';

async function withOkapi(): Promise<{ readonly home: SearchHome; readonly expected: readonly unknown[] }> {
  const home = new SearchHome();
  const session = home.session();
  home.say(session, 'user', 'okapi');
  return { home, expected: [[session.id, 0]] };
}

/** A database that another process made and left. */
async function indexed(home: SearchHome): Promise<void> {
  const search = home.open();
  await found(search, 'okapi');
  await search.close();
}

for (const [name, spoil] of [
  [
    'is no database',
    (path: string) => writeFileSync(path, 'no database at all, but long enough to be one'.repeat(100)),
  ],
  ['is empty', (path: string) => writeFileSync(path, '')],
  ['is cut in the middle', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 9000))],
  [
    'has damaged pages',
    (path: string) => {
      const bytes = readFileSync(path);
      bytes.fill(0x5a, 4096);
      writeFileSync(path, bytes);
    },
  ],
  [
    'comes from a newer Crab',
    (path: string) => {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
      database.close();
    },
  ],
  [
    'lost a table',
    (path: string) => {
      const database = new DatabaseSync(path);
      database.exec('DROP TABLE messages');
      database.close();
    },
  ],
  ['is gone', (path: string) => rmSync(path)],
] as const)
  test(`an index that ${name} is made anew`, async () => {
    const { home, expected } = await withOkapi();
    await using _ = home;
    await indexed(home);
    for (const suffix of ['-wal', '-shm']) rmSync(home.index + suffix, { force: true });
    spoil(home.index);
    const search = home.open();
    assert.deepEqual(await found(search, 'okapi'), expected);
    assert.equal((await search.check()).damage, undefined);
  });

test('what is set aside is kept once', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  for (const content of ['first '.repeat(1000), 'second '.repeat(1000)]) {
    mkdirSync(dirname(home.index), { recursive: true });
    rmSync(home.index, { force: true });
    writeFileSync(home.index, content);
    const search = home.open();
    assert.deepEqual(await found(search, 'okapi'), expected);
    await search.close();
    assert.equal(readFileSync(`${home.index}.aside`, 'utf8'), content);
  }
});

test('an index that another process writes is read as it is', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  await indexed(home);
  const writer = new DatabaseSync(home.index);
  writer.exec('BEGIN IMMEDIATE');
  home.say(home.session(), 'user', 'quokka');
  const search = home.open();
  assert.deepEqual(await found(search, 'okapi'), expected);
  const reply = await search.search({ query: 'quokka' });
  assert.deepEqual([reply.hits.length, reply.pending], [0, 1]);
  writer.exec('ROLLBACK');
  writer.close();
  assert.equal((await search.search({ query: 'quokka' })).hits.length, 1);
});

test('an index that another process keeps for itself is made anew', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  await indexed(home);
  const hermit = new DatabaseSync(home.index);
  hermit.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  assert.deepEqual(await found(home.open(), 'okapi'), expected);
  hermit.close();
});

test('an index that cannot be written anywhere lives in memory', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  // A file where the folder should be holds off root, too.
  writeFileSync(dirname(home.index), 'in the way');
  assert.deepEqual(await found(home.open(), 'okapi'), expected);
});

test('a session that cannot be read is counted, and the others are found', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  const secret = home.session();
  home.say(secret, 'user', 'okapi');
  chmodSync(secret.path, 0);
  const unprivileged = process.getuid?.() === 0;
  if (unprivileged) {
    chmodSync(home.root, 0o777);
    chmodSync(dirname(dirname(dirname(secret.path))), 0o777);
    process.seteuid?.(65534);
  }
  try {
    const reply = await home.open().search({ query: 'okapi' });
    assert.deepEqual(
      reply.hits.map(({ session_id, msg_idx }) => [session_id, msg_idx]),
      expected,
    );
    assert.equal(reply.pending, 1);
  } finally {
    if (unprivileged) process.seteuid?.(0);
  }
});

test('making it anew leaves nothing of the old one', async () => {
  const { home, expected } = await withOkapi();
  await using _ = home;
  await indexed(home);
  const search = home.open();
  const progress: number[] = [];
  assert.deepEqual(await search.rebuild((left) => progress.push(left), new AbortController().signal), {
    pending: 0,
    files: 1,
  });
  assert.deepEqual(progress, [0]);
  assert.equal(existsSync(`${home.index}.aside`), false);
  assert.deepEqual(await found(search, 'okapi'), expected);
});
