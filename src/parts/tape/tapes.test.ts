import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';

import type { Entry, NewTape, Tape } from '../../core/tape.ts';
import { nodeSyncFs } from './sync-fs.ts';
import { answerSays, diskWith, systemError, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createMemoryTapes, createTapes } from './tapes.ts';

const ID = '01J00000000000000000000000';
const request: NewTape = { agent: 'crab', sender: (id) => `cli:${id}`, cwd: '/work/My project' };

function tapesIn(home: string, changes: Parameters<typeof diskWith>[0] = {}, seed = 1) {
  return createTapes({ home, clock: testClock(), random: seeded(seed), disk: diskWith(changes) });
}

function linesOf(tape: Tape): readonly Record<string, unknown>[] {
  const lines = readFileSync(tape.path ?? '', 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test('nothing is on disk before the first append, and then header and entries are', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'home');
  const tape = await tapesIn(home).create({ ...request, id: ID, name: 'a name' });
  const path = tape.path ?? '';
  assert.equal(existsSync(home), false);
  assert.deepEqual(tape.info(), { id: ID, path, name: 'a name', cwd: request.cwd, messages: 0 });

  const { entries, synced } = tape.append([userSays('hello')]);
  await synced;
  const [id, parentId] = [entries[0]?.id, entries[0]?.parentId];
  const timestamp = '2030-01-01T00:00:00.000Z';
  assert.deepEqual(entries, [{ ...userSays('hello'), id, parentId, timestamp }]);
  assert.deepEqual(
    linesOf(tape).map(({ crc: _, ...record }) => record),
    [
      {
        type: 'session',
        version: 3,
        id: ID,
        timestamp,
        cwd: request.cwd,
        agent: 'crab',
        sender: `cli:${ID}`,
      },
      {
        type: 'session_info',
        id: parentId,
        parentId: null,
        timestamp,
        name: 'a name',
        session: { messages: 0, name: 'a name' },
      },
      { ...userSays('hello'), id, parentId, timestamp, session: { messages: 1, name: 'a name' } },
    ],
  );
  assert.match(path, /\/home\/sessions\/crab\/My_project-[0-9a-f]{8}\/01J0{23}\.jsonl$/);
  for (let at = dirname(path); at !== folder.path; at = dirname(at)) assert.equal(modeOf(at), 0o700, at);
  assert.equal(modeOf(path), 0o600);
  await tape.close();
});

test('a session that gets no entry leaves nothing behind', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create(request);
  tape.partial({ api: 'a', provider: 'p', model: 'm', text: 'x'.repeat(20_000) });
  await tape.close();
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a reopened session is the one that was closed', async () => {
  await using folder = await tempFolder();
  const first = await tapesIn(folder.path).create(request);
  first.append([userSays('one'), answerSays('two')]);
  first.append([
    { type: 'model_change', provider: 'p', modelId: 'm' },
    { type: 'session_info', name: 'renamed' },
  ]);
  await first.close();
  const again = await tapesIn(folder.path, {}, 2).open(first.path ?? '');
  assert.deepEqual([...again.branch()], [...first.branch()]);
  assert.deepEqual(again.header, first.header);
  assert.deepEqual(again.info(), first.info());
  assert.deepEqual(again.notices, []);
  await again.close();
});

test('the head stays where it was moved to, and other readers find the same branch by parents alone', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create(request);
  const [one, two] = tape.append([userSays('one'), userSays('two'), userSays('three')]).entries as Entry[];
  tape.append([{ type: 'leaf', targetId: two?.id ?? '' }]);
  assert.equal(tape.leafId, two?.id);
  await tape.close();
  const again = await tapesIn(folder.path, {}, 2).open(tape.path ?? '');
  assert.deepEqual([...again.branch()], [one, two]);
  assert.equal(linesOf(again).at(-1)?.['parentId'], two?.id);
  const [four] = again.append([userSays('four')]).entries;
  assert.equal(four?.parentId, two?.id);
  assert.deepEqual([...again.branch()], [one, two, four]);
  assert.equal(again.info().messages, 4);
  assert.throws(() => again.append([{ type: 'leaf', targetId: 'nowhere' }]), { code: 'internal' });
  await again.close();
});

test('a clock and a random source that repeat themselves make no id twice', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create({ ...request, id: ID });
  tape.append([userSays('one')]);
  await tape.close();
  for (const text of ['two', 'three']) {
    const again = await tapesIn(folder.path).open(tape.path ?? '');
    again.append([userSays(text)]);
    await again.close();
  }
  const last = await tapesIn(folder.path).open(tape.path ?? '');
  assert.equal([...last.branch()].length, 3);
  await last.close();
});

test('eight writers at once share two syncs, and each is told when its own is done', async () => {
  await using folder = await tempFolder();
  let syncs = 0;
  const tape = await tapesIn(folder.path, {
    fdatasync: (fd) => {
      syncs++;
      return nodeSyncFs.fdatasync(fd);
    },
  }).create(request);
  await tape.append([userSays('first')]).synced;
  syncs = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, at) => tape.append([userSays(`writer ${at}`)]).synced),
  );
  assert.equal(syncs, 2);
  await tape.close();
});

test('a file’s own name and those of its folders are synced before the first entry is durable', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'new', 'home');
  const synced: string[] = [];
  const tapes = tapesIn(home, {
    fsyncDir: async (path) => {
      synced.push(path);
    },
  });
  const first = await tapes.create(request);
  await first.append([userSays('one')]).synced;
  const above = [
    folder.path,
    join(folder.path, 'new'),
    home,
    join(home, 'sessions'),
    join(home, 'sessions', 'crab'),
  ];
  const own = dirname(first.path ?? '');
  assert.deepEqual(synced.toSorted(), [...above, own].toSorted());

  const second = await tapes.create({ ...request, cwd: '/elsewhere' });
  synced.length = 0;
  await second.append([userSays('one')]).synced;
  const elsewhere = dirname(second.path ?? '');
  assert.deepEqual(synced.toSorted(), [join(home, 'sessions', 'crab'), elsewhere].toSorted());
  await first.close();
  await second.close();
});

for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']) {
  test(`an append that fails with ${code} leaves no trace, and the next one works`, async () => {
    await using folder = await tempFolder();
    let fails = false;
    const tape = await tapesIn(folder.path, {
      write: (fd, bytes) => {
        if (!fails) return nodeSyncFs.write(fd, bytes);
        nodeSyncFs.write(fd, bytes.subarray(0, bytes.length / 2));
        throw systemError(code);
      },
    }).create(request);
    tape.append([userSays('one')]);
    const [before, head] = [readFileSync(tape.path ?? ''), tape.leafId];
    fails = true;
    const expected = code === 'EIO' ? 'storage-failed' : 'storage-full';
    assert.throws(
      () => tape.append([userSays('lost'), userSays('lost too')]),
      (error: Error & { code?: string }) =>
        error.code === expected && error.message.includes(tape.path ?? '?'),
    );
    assert.deepEqual([readFileSync(tape.path ?? ''), tape.leafId], [before, head]);
    fails = false;
    await tape.append([userSays('two')]).synced;
    assert.equal([...tape.branch()].length, 2);
    await tape.close();
    const again = await tapesIn(folder.path, {}, 2).open(tape.path ?? '');
    assert.deepEqual([[...again.branch()], again.notices], [[...tape.branch()], []]);
    await again.close();
  });
}

test('a short write counts as a full disk', async () => {
  await using folder = await tempFolder();
  let room = Number.POSITIVE_INFINITY;
  const tape = await tapesIn(folder.path, {
    write: (fd, bytes) => nodeSyncFs.write(fd, bytes.subarray(0, Math.min(bytes.length, room))),
  }).create(request);
  tape.append([userSays('one')]);
  const before = readFileSync(tape.path ?? '');
  room = 10;
  assert.throws(() => tape.append([userSays('lost')]), { code: 'storage-full' });
  assert.deepEqual(readFileSync(tape.path ?? ''), before);
  await tape.close();
});

test('a first append that fails leaves no file and no lock, and can be tried again', async () => {
  await using folder = await tempFolder();
  let fails = true;
  const tape = await tapesIn(folder.path, {
    write: (fd, bytes) => {
      if (fails && bytes.length > 200) throw systemError('ENOSPC');
      return nodeSyncFs.write(fd, bytes);
    },
  }).create({ ...request, name: 'kept' });
  assert.throws(() => tape.append([userSays('x'.repeat(200))]), { code: 'storage-full' });
  assert.deepEqual(readdirSync(dirname(tape.path ?? '')), []);
  fails = false;
  await tape.append([userSays('again')]).synced;
  assert.deepEqual(tape.info().messages, 1);
  assert.deepEqual(
    linesOf(tape).map(({ type }) => type),
    ['session', 'session_info', 'message'],
  );
  await tape.close();
});

test('after a failed sync the file takes nothing more, and what waited is told so', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path, { fdatasync: () => Promise.reject(systemError('ENOSPC')) }).create(
    request,
  );
  const expected = { code: 'storage-failed' };
  const first = tape.append([userSays('one')]).synced;
  const second = tape.append([userSays('two')]).synced;
  await assert.rejects(first, expected);
  await assert.rejects(second, expected);
  assert.throws(() => tape.append([userSays('three')]), expected);
  await assert.rejects(tape.settled(), expected);
  await assert.rejects(tape.close(), expected);
  assert.deepEqual(readdirSync(dirname(tape.path ?? '')), [basename(tape.path ?? '')]);
});

test('a failed write that cannot be cut off ends the writing', async () => {
  await using folder = await tempFolder();
  let fails = false;
  const tape = await tapesIn(folder.path, {
    write: (fd, bytes) => nodeSyncFs.write(fd, fails ? bytes.subarray(0, 10) : bytes),
    truncate: () => {
      throw systemError('EIO');
    },
  }).create(request);
  await tape.append([userSays('one')]).synced;
  fails = true;
  assert.throws(() => tape.append([userSays('two')]), { code: 'storage-full' });
  fails = false;
  assert.throws(() => tape.append([userSays('three')]), { code: 'storage-failed' });
  await tape.close();
  const again = await tapesIn(folder.path, {}, 2).open(tape.path ?? '');
  assert.deepEqual([...again.branch()], [...tape.branch()]);
  assert.equal(again.notices.length, 1);
  await again.close();
});

test('a closed tape takes nothing, and closing twice is closing once', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create(request);
  tape.append([userSays('one')]);
  await Promise.all([tape.close(), tape.close()]);
  assert.throws(() => tape.append([userSays('two')]), { code: 'internal' });
  assert.deepEqual(readdirSync(dirname(tape.path ?? '')), [basename(tape.path ?? '')]);
});

test('an id of the caller’s choice must be an id, and a new one', async () => {
  await using folder = await tempFolder();
  const tapes = tapesIn(folder.path);
  await assert.rejects(tapes.create({ ...request, id: '../../etc' }), { code: 'session-id-invalid' });
  const tape = await tapes.create({ ...request, id: ID });
  tape.append([userSays('one')]);
  await assert.rejects(tapes.create({ ...request, id: ID }), { code: 'session-id-invalid' });
  await tape.close();
});

test('an agent’s name cannot lead out of the folder', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create({ ...request, agent: '../Ä' });
  assert.match(tape.path ?? '', /\/sessions\/%2e%2e%2f%c3%84\//);
  assert.ok(tape.path?.startsWith(join(folder.path, 'sessions/')));
  await assert.rejects(tapesIn(folder.path).create({ ...request, agent: '' }), { code: 'usage' });
  await assert.rejects(tapesIn(folder.path).create({ ...request, agent: 'x'.repeat(300) }), {
    code: 'usage',
  });
});

test('a file in the way of the home is an error that names it', async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, 'sessions'));
  await writeFile(join(folder.path, 'sessions', 'crab'), '');
  const tape = await tapesIn(folder.path).create(request);
  assert.throws(() => tape.append([userSays('one')]), { code: 'storage-failed', message: /sessions\/crab/ });
  await tape.close();
});

test('a tape in memory behaves like one in a file and touches nothing', async () => {
  const tapes = createMemoryTapes({ clock: testClock(), random: seeded(1) });
  const tape = await tapes.create({ ...request, id: ID, name: 'a name' });
  const [one, two] = tape.append([userSays('one'), answerSays('two')]).entries as Entry[];
  await tape.append([{ type: 'leaf', targetId: one?.id ?? '' }]).synced;
  assert.equal(tape.path, undefined);
  assert.equal(two?.parentId, one?.id);
  assert.deepEqual([...tape.branch()].at(-1), one);
  assert.deepEqual(tape.info(), { id: ID, name: 'a name', cwd: request.cwd, messages: 2 });
  tape.partial({ api: 'a', provider: 'p', model: 'm', text: 'text' });
  await tape.close();
  assert.throws(() => tape.append([userSays('three')]), { code: 'internal' });
  await assert.rejects(tapes.find('01J'), { code: 'session-unknown' });
  assert.deepEqual(await tapes.list(), []);
});
