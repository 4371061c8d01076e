// The driver is tested on small programs in place of Crab's own, so that its failures are not taken for
// those of the product.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { test } from 'node:test';
import { type CrabOptions, runCrab, spawnCrab } from './crab.ts';
import { tempWorkspace, type Workspace } from './workspace.ts';

async function program(source: string): Promise<{ work: Workspace; options: CrabOptions } & AsyncDisposable> {
  const work = await tempWorkspace({ 'program.cjs': source }, { git: false });
  const options = { args: [], cwd: work.path, home: work.home, bin: work.file('program.cjs') };
  return { work, options, [Symbol.asyncDispose]: () => work[Symbol.asyncDispose]() };
}

test('a run gives arguments and input, and takes code and both outputs', async () => {
  await using made = await program(`
    let input = '';
    process.stdin.on('data', (piece) => { input += piece; }).on('end', () => {
      console.log(JSON.stringify([process.argv.slice(2), input, process.cwd()]));
      console.error('oh');
      process.exitCode = 7;
    });
  `);
  const { work, options } = made;
  assert.deepEqual(await runCrab({ ...options, args: ['-p', 'a b'], stdin: 'héllo' }), {
    code: 7,
    signal: null,
    stdout: `${JSON.stringify([['-p', 'a b'], 'héllo', work.path])}\n`,
    stderr: 'oh\n',
  });
});

test('nothing of this machine is seen in the environment', async () => {
  await using made = await program('console.log(JSON.stringify(process.env))');
  const { work, options } = made;
  process.env['ANTHROPIC_API_KEY'] = 'a real key';
  try {
    const { stdout } = await runCrab({ ...options, env: { EXTRA: 'x', TZ: undefined } });
    const { PATH, TMPDIR, NODE_V8_COVERAGE, NODE_COMPILE_CACHE, ...rest } = JSON.parse(stdout);
    const home = { HOME: work.home, CRAB_HOME: `${work.home}/.crab` };
    assert.deepEqual(rest, { ...home, LANG: 'C.UTF-8', EXTRA: 'x' });
    assert.equal(PATH, process.env['PATH']);
  } finally {
    delete process.env['ANTHROPIC_API_KEY'];
  }
});

test('an executable is run as it is', async () => {
  await using made = await program('');
  const { work, options } = made;
  await work.write('crab', '#!/bin/sh\necho "standalone $1"\n');
  await chmod(work.file('crab'), 0o755);
  const { stdout } = await runCrab({ ...options, bin: work.file('crab'), args: ['x'] });
  assert.equal(stdout, 'standalone x\n');
});

test('a talk goes forth and back, each wait behind the last', async () => {
  await using made = await program(`
    process.stdout.write('> ');
    process.stdin.on('data', (piece) => process.stdout.write('you said ' + piece + '> '));
  `);
  await using crab = spawnCrab(made.options);
  assert.equal(await crab.waitFor('> '), '> ');
  crab.stdin.write('one\n');
  assert.equal(await crab.waitFor(/said \w+\n/), 'you said one\n');
  await crab.waitFor('> ');
  crab.stdin.write('two\n');
  assert.equal(await crab.waitFor('> '), 'you said two\n> ');
  crab.kill('SIGINT');
  assert.deepEqual(await crab.exited, { code: null, signal: 'SIGINT', stdout: crab.stdout, stderr: '' });
});

test('a wait fails when the process ends or the time is over, and says what was seen', async () => {
  await using made = await program(`
    console.log('hello');
    if (process.argv[2] === 'stay') setInterval(() => {}, 1000);
  `);
  await using short = spawnCrab(made.options);
  await assert.rejects(
    short.waitFor('bye'),
    /the process ended \(code 0, .*before bye was seen in: "hello\\n"/,
  );
  await using long = spawnCrab({ ...made.options, args: ['stay'] });
  await long.waitFor('hello');
  await assert.rejects(long.waitFor('bye', { timeoutMs: 1 }), /^Error: 1 ms passed before bye was seen/);
});

test('a program that cannot be started fails the wait and the run', async () => {
  await using made = await program('');
  const options = { ...made.options, bin: made.work.file('missing') };
  await using crab = spawnCrab(options);
  await assert.rejects(crab.waitFor('x'), /ENOENT/);
  await assert.rejects(runCrab(options), /ENOENT/);
});

const WITH_CHILD = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  child.on('spawn', () => console.log('child ' + child.pid));
`;

test('disposing kills the process and its children', async () => {
  await using made = await program(WITH_CHILD);
  const crab = spawnCrab(made.options);
  const child = Number((await crab.waitFor(/child \d+\n/)).split(' ')[1]);
  await crab[Symbol.asyncDispose]();
  await gone(child);
});

test('an aborted run leaves nothing behind', async () => {
  await using made = await program(WITH_CHILD);
  const cancel = new AbortController();
  await using crab = spawnCrab({ ...made.options, signal: cancel.signal });
  const child = Number((await crab.waitFor(/child \d+\n/)).split(' ')[1]);
  cancel.abort();
  assert.equal((await crab.exited).signal, 'SIGKILL');
  await gone(child);
  await assert.rejects(runCrab({ ...made.options, signal: cancel.signal }), { name: 'AbortError' });
});

test('a run without end is an error after its time', async () => {
  await using made = await program('console.log("still here"); setInterval(() => {}, 1000);');
  await assert.rejects(runCrab({ ...made.options, timeoutMs: 300 }), /no end after 300 ms/);
});

/** A zombie counts as gone: its new parent collects it when it likes. */
async function gone(pid: number): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
    if (stdout === '' || stdout.startsWith('Z')) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`process ${pid} is still there`);
}
