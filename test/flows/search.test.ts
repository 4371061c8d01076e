// What was said in one session is found from any other, by the model and by the person.

import assert from 'node:assert/strict';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Journey, journey, nearTest, onEachWire } from '../support/journey.ts';

const SCRIPT = {
  scripts: [
    { when: 'ship', replies: [{ text: 'We ship with make release.' }] },
    {
      when: 'earlier',
      replies: [
        { calls: [{ name: 'search_sessions', input: { query: 'make release' } }] },
        { text: 'With make release.' },
      ],
    },
  ],
};

onEachWire('the model finds what was said in another session, and not its own', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  await at.run(['-p', 'how do we ship?', '--name', 'Shipping']);
  const [session] = await at.sessions();
  const exit = await at.run(['-p', 'what did I say earlier about make release?']);
  assert.equal(exit.stdout, 'With make release.\n');
  const asked = JSON.stringify(at.asked().at(-1)?.messages);
  assert.ok(asked.includes(`## ${session?.header.id} (`));
  assert.ok(asked.includes('[1] > assistant: We ship with make release.'));
  assert.equal(asked.match(/## 0/g)?.length, 1);
});

async function search({ run, work }: Journey, args: readonly string[], cwd = work.path): Promise<string> {
  const exit = await run(['search', ...args], { cwd });
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  return exit.stdout.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d/gm, 'TIME');
}

test('a person finds the message, its session and how to go on', async () => {
  await using at = await journey('anthropic', { script: SCRIPT, files: { 'sub dir/file': '' } });
  await at.run(['-p', 'how do we ship?', '--name', 'Shipping']);
  const [session] = await at.sessions();
  const id = session?.header.id ?? '';
  assert.equal(
    await search(at, ['make', 'release']),
    `TIME  Shipping  (2 messages)\n  > assistant: We ship with make release.\n  crab --resume ${id}\n`,
  );
  assert.equal(
    await search(at, ['release', '-C', '1']),
    `TIME  Shipping  (2 messages)\n    user: how do we ship?\n  > assistant: We ship with make release.\n  crab --resume ${id}\n`,
  );
  const below = at.work.file('sub dir');
  assert.match(
    await search(at, ['release'], below),
    new RegExp(`\\n  cd ${at.work.path} && crab --resume ${id}\\n$`),
  );
  assert.equal(await search(at, ['release', '--here'], below), 'Nothing was said about that.\n');
  assert.equal(await search(at, ['release', '--agent', 'other']), 'Nothing was said about that.\n');
  assert.equal(await search(at, ['release', '--until', '1d']), 'Nothing was said about that.\n');
  assert.match(await search(at, ['release', '--since', '1h', '--role', 'assistant']), /> assistant/);
  const reply = JSON.parse(await search(at, ['ship', '--json', '--limit', '1']));
  assert.deepEqual(
    {
      ...reply,
      hits: reply.hits.map(({ session_id, msg_idx }: Record<string, unknown>) => [session_id, msg_idx]),
    },
    { hits: [[id, 0]], more: false, ignored: [], pending: 0 },
  );
});

nearTest('the index is made anew when it is damaged or asked for, and says how it is', async () => {
  await using at = await journey('anthropic', { script: SCRIPT });
  await at.run(['-p', 'how do we ship?']);
  await search(at, ['release']);
  const folder = join(at.work.home, '.crab/index');
  await writeFile(join(folder, 'sessions.db'), 'no database'.repeat(1000));
  assert.match(await search(at, ['release']), /make release/);
  assert.ok((await readdir(folder)).includes('sessions.db.aside'));
  assert.equal(await search(at, ['--rebuild']), 'Indexed 1 of 1 sessions.\n');
  assert.ok(!(await readdir(folder)).includes('sessions.db.aside'));
  const report = await search(at, ['--check']);
  assert.match(
    report,
    /^index +\S+sessions\.db\nsize +\d+\.\d MB\nsessions +1\nmessages +2\nto read +nothing\nstate +sound\n$/,
  );
});

test('a session is meant by its name or how its id begins, and one that is not there is refused', async () => {
  await using at = await journey('anthropic', { script: SCRIPT });
  await at.run(['-p', 'how do we ship?', '--name', 'Shipping']);
  const [session] = await at.sessions();
  for (const named of ['Shipping', session?.header.id.slice(0, 20) ?? ''])
    assert.match(await search(at, ['release', '--session', named]), /^TIME {2}Shipping /);
  const exit = await at.run(['search', 'release', '--session', 'none']);
  assert.equal(exit.code, 9);
  assert.match(exit.stderr, /\[session-unknown\]/);
});

test('a folder of sessions that cannot be read is told of, and the others are searched', async () => {
  await using at = await journey('anthropic', { script: SCRIPT });
  await at.run(['-p', 'how do we ship?', '--name', 'Shipping']);
  // A link to itself holds off root, too.
  await symlink('shut', join(at.work.home, '.crab/sessions/crab/shut'));
  const { code, stdout, stderr } = await at.run(['search', 'release']);
  assert.equal(code, 0);
  assert.match(stdout, /Shipping/);
  assert.match(stderr, /^crab: there may be more: 1 sessions, or folders of them, cannot be read in \S+\n$/);
  const [hit] = JSON.parse((await at.run(['search', 'release', '--json'])).stdout).hits;
  assert.equal(hit.meta.title, 'Shipping');
});

nearTest('a home that can never be made is told of at once', async () => {
  await using at = await journey('anthropic', { script: [] });
  const env = { CRAB_HOME: '/proc/self/none/crab' };
  const crab = (...args: readonly string[]) => at.run(args, { env, stdin: 'text' });
  assert.equal((await crab('search', 'anything')).stdout, 'Nothing was said about that.\n');
  for (const args of [['memory', 'edit', 'note'], ['trust'], ['memory', 'dump', '/proc/self/none/book']]) {
    const { code, stderr } = await crab(...args);
    assert.equal(code, 9, stderr);
    assert.match(stderr, /^crab: .*ENOENT.*\[storage-failed\]\n[^\n]+\n$/);
  }
});

test('a text that would move the cursor is shown as marks', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'plain' }] });
  await at.run(['-p', 'okapi \u001b[2J\u0007 here']);
  const text = await search(at, ['okapi']);
  assert.doesNotMatch(text, /[\p{Cc}--[\t\n]]/v);
});

test('what cannot be meant is refused with what can', async () => {
  await using at = await journey('anthropic', { script: [] });
  for (const [args, message] of [
    [[], /needs words\. \[usage\]\nRun `crab search --help`/],
    [['x', '--role', 'god'], /--role god is not known\. \[usage\]\nUse one of user, assistant, tool/],
    [['x', '--since', 'yore'], /--since yore is no time/],
    [['x', '--limit', '21'], /--limit 21 is no number from 1 to 20/],
    [['x', '--here', '--all'], /exclude each other/],
    [['x', '--colour'], /Unknown option '--colour'/],
  ] as const) {
    const exit = await at.run(['search', ...args]);
    assert.equal(exit.code, 2);
    assert.match(exit.stderr, message);
  }
  assert.match((await at.run(['search', '--help'])).stdout, /^Usage: crab search WORDS\n/);
  assert.equal(await search(at, ['anything']), 'Nothing was said about that.\n');
});
