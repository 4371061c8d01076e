// Session files that are damaged, foreign or too new. What can be kept is kept and said; what cannot be judged is
// refused and left byte for byte as it was.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { assertComplaint, type Complaint, type Setting, sessions, setting } from './bad-setting.ts';

/** A setting with one session of one prompt. */
async function withSession(): Promise<{ readonly at: Setting; readonly path: string }> {
  const at = await setting([{ text: 'First.' }, { text: 'Second.' }]);
  const exit = await at.run(['hi']);
  assert.equal(exit.code, 0, exit.stderr);
  const [path = ''] = sessions(at);
  return { at, path };
}

test('a torn end is set aside with a notice, and the session goes on', async () => {
  const { at, path } = await withSession();
  await using _ = at;
  const whole = readFileSync(path, 'utf8');
  appendFileSync(path, '{"type":"message","id":"01');
  const exit = await at.run(['--continue', 'and']);
  assert.deepEqual([exit.code, exit.stdout], [0, 'Second.\n']);
  assert.match(exit.stderr, /^! The last 26 bytes of .* were incomplete or damaged; they were moved to /);
  assert.ok(readFileSync(path, 'utf8').startsWith(whole));
  const aside = readdirSync(dirname(path)).filter(
    (name) => name !== basename(path) && name.includes(basename(path)),
  );
  assert.equal(aside.length, 1);
  assert.equal(readFileSync(join(dirname(path), aside[0] ?? ''), 'utf8'), '{"type":"message","id":"01');
  assert.deepEqual(await at.run(['--continue', 'more']), {
    code: 0,
    signal: null,
    stdout: 'Done.\n',
    stderr: '',
  });
});

test('a bad line in the middle stays in the file and is reported', async () => {
  const { at, path } = await withSession();
  await using _ = at;
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.splice(2, 0, 'no entry at all');
  writeFileSync(path, lines.join('\n'));
  const exit = await at.run(['--continue', 'and']);
  assert.deepEqual([exit.code, exit.stdout], [0, 'Second.\n']);
  assert.match(exit.stderr, /^! Line 3 of .* is damaged; left in the file and skipped\.\n$/);
  assert.equal(readFileSync(path, 'utf8').split('\n')[2], 'no entry at all');
});

const HEADER = {
  type: 'session',
  id: '01M806K9VPY10HHR7TZ2R85QZW',
  timestamp: '2026-01-01T00:00:00.000Z',
  cwd: '/',
};

const REFUSED: readonly (readonly [what: string, content: string | Uint8Array, complaint: Complaint])[] = [
  [
    'of a newer version',
    `${JSON.stringify({ ...HEADER, version: 99 })}\n`,
    { code: 'session-newer', says: /99/, fix: /^Update Crab/ },
  ],
  ['that is empty', '', { code: 'session-damaged', says: /it is empty\.$/ }],
  ['that is prose', 'Dear diary,\n', { code: 'session-damaged', says: /is not a session/ }],
  ['that is other JSON', '{"name":"crab"}\n', { code: 'session-damaged', says: /is not a session/ }],
  ['that is binary', new Uint8Array(5000), { code: 'session-damaged', says: /is not a session/ }],
];

test('a file that is no session, or too new, is refused and left byte for byte', async (t) => {
  for (const [what, content, complaint] of REFUSED)
    await t.test(`a file ${what}`, async () => {
      await using at = await setting(undefined, { 's.jsonl': content });
      for (const args of [
        ['--session', 's.jsonl', 'hi'],
        ['--session', './s.jsonl', '--name', 'x', 'hi'],
      ])
        assertComplaint(await at.run(args), complaint);
      assert.deepEqual(readFileSync(at.workspace.file('s.jsonl')), Buffer.from(content));
      assert.deepEqual(
        [readdirSync(at.workspace.path), at.kept(), at.provider.requests],
        [['s.jsonl'], [], []],
      );
    });
});

test('a folder and a device are no sessions', async (t) => {
  for (const path of ['./folder.jsonl', '/dev/zero', '/dev/null'])
    await t.test(path, async () => {
      await using at = await setting();
      mkdirSync(at.workspace.file('folder.jsonl'));
      assertComplaint(await at.run(['--session', path, 'hi']), {
        code: 'session-damaged',
        says: /is not a session: it is no regular file\.$/,
      });
    });
});
