// Programs that want a person fail at once, and the model is told what to do instead.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/host.ts';
import { createExec } from '../process/exec.ts';
import { detachedHint, hintFor } from './hints.ts';
import { createUserShell } from './user-shell.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

const exec = createExec({ env: process.env, clock });
const shell = createUserShell();
const lacks = (program: string) => ({ skip: spawnSync(program, ['--version']).error !== undefined });

async function repository() {
  const path = await mkdtemp(join(tmpdir(), 'crab-unattended-'));
  spawnSync('git', ['init', '-q'], { cwd: path });
  return {
    path,
    run: (command: string) => shell({ command, cwd: path }, exec, new AbortController().signal),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

const AUTHOR = '-c user.name=n -c user.email=e@example.org -c commit.gpgsign=false';

test('git commit without a message does not wait for an editor', lacks('git'), async () => {
  await using here = await repository();
  const result = await here.run(`git ${AUTHOR} commit --allow-empty`);
  assert.deepEqual([result.failed, result.timedOut], [true, false]);
  assert.match(result.text, /Exit code 1\nHint: no editor opens here\./);
});

test('git log needs no pager', lacks('git'), async () => {
  await using here = await repository();
  const result = await here.run(
    `git ${AUTHOR} commit -q --allow-empty -m one; git -p log --format=%s; man git | head -1`,
  );
  assert.match(result.text, /^one/);
  assert.equal(result.timedOut, false);
});

test('git asks nobody for a password', lacks('git'), async () => {
  await using here = await repository();
  const result = await here.run(
    'printf "protocol=https\\nhost=example.invalid\\n\\n" | git -c credential.helper= credential fill',
  );
  assert.deepEqual([result.failed, result.timedOut], [true, false]);
  assert.match(result.text, /terminal prompts disabled[\s\S]*\nHint: nobody can type a password/);
});

test('a pager and an editor that are started anyway end at once', lacks('less'), async () => {
  await using here = await repository();
  assert.equal((await here.run('seq 1 100 | less | tail -1')).text, '100');
  assert.equal((await here.run('$EDITOR file; echo $?')).text, '1');
});

test('a program that reads its input finds the end of it', async () => {
  await using here = await repository();
  const result = await here.run('read -r -p "Continue? [y/N] " answer || echo "no answer"');
  assert.match(result.text, /no answer$/);
});

test('a terminal cannot be opened', async () => {
  await using here = await repository();
  const result = await here.run('echo password > /dev/tty');
  assert.match(result.text, /\/dev\/tty[\s\S]*\n\nExit code 1\nHint: there is no terminal here/);
});

test('hints are given on evidence only', () => {
  const hinted = [
    'sudo: a terminal is required to read the password; either use the -S option',
    'fatal: could not read Username for https://x: terminal prompts disabled',
    'git@example.org: Permission denied (publickey).',
    'Host key verification failed.',
    'error: There was a problem with the editor "false".',
    'the input device is not a TTY',
    'bash: line 1: /dev/stderr: No such device or address',
    'EOFError: EOF when reading a line',
  ];
  assert.deepEqual(
    hinted.filter((output) => hintFor(output) === undefined),
    [],
  );
  const plain = [
    '',
    'Permission denied',
    'bash: x: command not found',
    'the editor is open',
    'sudo: unknown user: x',
  ];
  assert.deepEqual(
    plain.filter((output) => hintFor(output) !== undefined),
    [],
  );
});

test('a typed line is run for thirty seconds at most', async () => {
  const seen: (number | undefined)[] = [];
  const stdout = { text: 'so far\n', bytes: 7, lines: 1, truncated: false };
  const result = await shell(
    { command: 'sleep 60', cwd: '/' },
    async ({ timeoutMs }) => {
      seen.push(timeoutMs);
      return { exitCode: null, signal: 'SIGTERM', timedOut: true, stdout, stderr: stdout, durationMs: 1 };
    },
    new AbortController().signal,
  );
  assert.equal(seen.at(-1), 30_000);
  assert.deepEqual([result.failed, result.timedOut, result.exitCode], [true, true, null]);
  assert.match(result.text, /^so far\n\nTimed out after 30 s;/);
});

test('a program that still waits for an answer when its time is over is named with its question', () => {
  for (const last of ['package name: (p) ', 'Continue? [y/N]', 'Password:', '>>> '])
    assert.ok(hintFor(`Welcome.\n${last}`, true)?.includes(JSON.stringify(last.trim())), last);
  for (const output of ['', 'tick\n', 'Done: 5 files\n', 'downloading 50%', `${'x'.repeat(300)}?`])
    assert.equal(hintFor(output, true), undefined, output);
  assert.equal(hintFor('package name: (p) '), undefined);
});

test('what a command leaves running is spoken of, and nothing else is', () => {
  const leaving = [
    'npm start &',
    'server & sleep 1; curl x',
    'nohup x > log',
    'a &\necho b',
    '(x &)',
    'x > log 2>&1 &',
  ];
  assert.deepEqual(
    leaving.filter((command) => detachedHint(command) === undefined),
    [],
  );
  const plain = [
    'a && b',
    'a 2>&1 | b',
    'a &> log',
    "echo 'x & y'",
    'echo "a & b" > f',
    'a & b & wait',
    'curl "u?a=1&b=2"',
    'a >& log',
    'a |& b',
  ];
  assert.deepEqual(
    plain.filter((command) => detachedHint(command) !== undefined),
    [],
  );
});
