// Calls that cannot be carried out. The model is told what is wrong in words that it can act on, nothing is changed,
// and the run goes on; a thing that would never end is refused instead of read.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { open, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { ANSWER, messagesOf, setting } from './bad-setting.ts';

const FILES = { 'a.txt': 'one\ntwo\ntwo\n' };
const ALLOW = ['--dangerously-skip-permissions', '--timeout', '10'];

const call = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({
  calls: [{ name, input }],
});
const edit = (old_string: string, new_string: string): Reply =>
  call('edit', { path: 'a.txt', edits: [{ old_string, new_string }] });

type Row = readonly [what: string, calls: readonly Reply[], told: RegExp];

const READ_IT = call('read', { path: 'a.txt' });

const ROWS: readonly Row[] = [
  ['a tool that does not exist', [call('raed', { path: 'a.txt' })], /raed.*read/is],
  ['a missing field', [call('read', {})], /path/],
  ['a field of another type', [call('read', { path: ['a.txt'] })], /path/],
  ['a field that does not exist', [call('read', { path: 'a.txt', colour: 'red' })], /colour|one/],
  [
    'a tool that was never sent, with a field that it does not have',
    [call('cron_create', { schedule: '0 9 * * *', prompt: 'x', colour: 1 })],
    /colour is not a known property\. It takes: schedule, .*\ncron_create: Schedules.*\n\{"type":"object"/s,
  ],
  ['a name that no provider lets through', [call('fs.read', { path: 'a.tx' })], /does not exist.*a\.txt/],
  ['a name in other letters', [call('READ_FILE', { path: 'a.tx' })], /does not exist.*a\.txt/],
  ['a file that does not exist', [call('read', { path: 'a.tx' })], /does not exist.*a\.txt/],
  ['a folder', [call('read', { path: '.' })], /folder/],
  [
    'text to replace that is not there',
    [READ_IT, edit('three', 'four')],
    /not found|does not occur|no match/i,
  ],
  ['text to replace that is there twice', [READ_IT, edit('two', 'three')], /2|twice/],
  ['a path with a NUL byte', [call('read', { path: 'a\0b' })], /NUL/],
  ['a name of a thousand letters', [call('read', { path: 'x'.repeat(1000) })], /at most 255 bytes/],
];

test('a call that cannot be carried out is told to the model and changes nothing', async (t) => {
  for (const [what, calls, told] of ROWS)
    await t.test(what, async () => {
      await using at = await setting([...calls, ...ANSWER], FILES);
      const exit = await at.run([...ALLOW, 'hi']);
      assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
      const result = messagesOf(at).at(-2) ?? '';
      assert.match(result, /^toolResult/);
      assert.match(result, told);
      assert.equal(await at.workspace.read('a.txt'), FILES['a.txt']);
    });
});

test('an edit of a file that changed after it was read is refused, and the change stays', async () => {
  const scenario = [
    READ_IT,
    call('bash', { command: 'echo mine > a.txt' }),
    edit('one', 'theirs'),
    ...ANSWER,
  ];
  await using at = await setting(scenario, FILES);
  const exit = await at.run([...ALLOW, 'hi']);
  assert.deepEqual([exit.code, exit.stderr], [0, '']);
  assert.match(messagesOf(at).at(-2) ?? '', /^toolResult!: .*(changed|not found|does not occur)/is);
  assert.equal(await at.workspace.read('a.txt'), 'mine\n');
});

const TARGETS = ['fifo', 'socket', '/dev/zero', '/dev/tty', 'loop', 'sparse', '/proc/self/mem'];

test('what has no end, or no beginning, is refused as the target of each tool that reads', async (t) => {
  const targets = TARGETS.flatMap((path): Reply[] => [
    call('read', { path }),
    call('edit', { path, edits: [{ old_string: 'a', new_string: 'b' }] }),
    // A search reads what it is given to the end, within its own limit of a minute.
    ...(path === 'sparse' ? [] : [call('grep', { pattern: 'needle', path })]),
  ]);
  for (const reply of targets) {
    const [{ name, input } = { name: '', input: {} }] = reply.calls ?? [];
    await t.test(`${name} ${input['path']}`, async () => {
      await using at = await setting([reply, ...ANSWER]);
      execFileSync('mkfifo', [at.workspace.file('fifo')]);
      await symlink('loop', at.workspace.file('loop'));
      const sparse = await open(at.workspace.file('sparse'), 'w');
      await sparse.truncate(2 ** 40);
      await sparse.close();
      const server = createServer().listen(at.workspace.file('socket'));
      try {
        // The bound is the assertion: each of these would be read for minutes, or for ever.
        const exit = await at.run([...ALLOW, 'hi'], { timeoutMs: 10_000 });
        assert.deepEqual([exit.code, exit.stdout, exit.stderr], [0, 'Here I am.\n', '']);
        assert.match(messagesOf(at).at(-2) ?? '', /^toolResult/);
      } finally {
        server.close();
      }
    });
  }
});

test('the user’s permissions are the limit of every tool', async (t) => {
  const tries: readonly (readonly [Reply, RegExp])[] = [
    [call('read', { path: 'closed.txt' }), /permission denied/i],
    [call('write', { path: 'closed/new.txt', content: 'x' }), /permission denied|not permit/i],
    [call('ls', { path: 'closed' }), /permission denied/i],
    [call('bash', { command: 'cat closed.txt' }), /Permission denied/],
  ];
  for (const [reply, told] of tries)
    await t.test(reply.calls?.[0]?.name ?? '', async () => {
      await using at = await setting([reply, ...ANSWER], { 'closed.txt': 'secret', 'closed/a.txt': 'a' });
      execFileSync('chmod', ['0', at.workspace.file('closed.txt'), at.workspace.file('closed')]);
      const exit = await at.runAsNobody([...ALLOW, 'hi']);
      execFileSync('chmod', ['700', at.workspace.file('closed')]);
      assert.deepEqual([exit.code, exit.stdout], [0, 'Here I am.\n']);
      assert.match(messagesOf(at).at(-2) ?? '', told);
    });
});

test('a refused call ends with the status of a refusal when nothing else follows, and names the rule', async () => {
  await using at = await setting([call('bash', { command: 'touch b.txt' }), ...ANSWER], FILES);
  const exit = await at.run(['hi']);
  assert.match(exit.stderr, /touch b\.txt/);
  assert.match(exit.stderr, /--allowedTools/);
  assert.equal(exit.code, 7);
  await assert.rejects(at.workspace.read('b.txt'), /ENOENT/);
});
