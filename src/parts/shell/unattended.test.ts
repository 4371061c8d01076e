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
import { hintFor } from './hints.ts';
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
