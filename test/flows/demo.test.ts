// `crab demo`: a stranger's first minute. It must work with nothing set up, touch nothing but its own folder, speak to
// nobody but itself, and be true: the test that is red before is green after.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type CrabExit, needs, runCrab } from '../support/crab.ts';
import { filesBelow, readSession } from '../support/session-files.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

/** Writes down every address that is connected to, and lets nobody out of this machine. */
const WATCH = `
const net = require('node:net');
const { appendFileSync } = require('node:fs');
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = options.path ?? options.host ?? 'localhost';
  appendFileSync(process.env.WATCH_LOG, host + '\\n');
  if (!['127.0.0.1', '::1', 'localhost'].includes(host)) throw new Error('connected to ' + host);
  return connect.apply(this, args);
};
`;

interface Shown extends AsyncDisposable {
  readonly exit: CrabExit;
  readonly work: Workspace;
  /** The only thing in the temporary folder. */
  readonly root: string;
}

async function show(env: Readonly<Record<string, string | undefined>> = {}): Promise<Shown> {
  const work = await tempWorkspace({ 'watch.cjs': WATCH, 'here/mine.txt': 'mine\n' }, { git: false });
  const tmp = work.file('tmp');
  await mkdir(tmp);
  const exit = await runCrab({
    args: ['demo'],
    cwd: work.file('here'),
    home: work.home,
    env: { TMPDIR: tmp, ...env },
  });
  const made = await readdir(tmp);
  assert.deepEqual(made.length, 1, `in the temporary folder: ${made.join(', ')}`);
  return {
    exit,
    work,
    root: join(tmp, made[0] ?? ''),
    [Symbol.asyncDispose]: () => work[Symbol.asyncDispose](),
  };
}

test('it ends with a green test, and says what it did', async () => {
  await using shown = await show();
  const { exit, root } = shown;
  assert.equal(exit.code, 0, exit.stderr);
  assert.notEqual(exit.stdout.trim(), '', 'the answer is on standard output');
  const said = ['FAILED', '● edit', 'All tests pass.', 'Green: the bug is mended.', `in ${root};`];
  const places = said.map((text) => exit.stderr.indexOf(text));
  assert.equal(places.includes(-1), false, exit.stderr);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

test('the test was red, is green, and nobody touched it', async () => {
  await using shown = await show();
  const project = join(shown.root, 'slug');
  const { stdout } = await promisify(execFile)(process.execPath, ['test.mjs'], { cwd: project });
  assert.match(stdout, /All tests pass\.\n$/);
  const [session] = (await filesBelow(join(shown.root, 'home'))).filter((path) => path.endsWith('.jsonl'));
  const { spoken } = await readSession(session ?? '');
  const results = spoken.flatMap((said) => (said.role === 'result' ? [said.text] : []));
  assert.ok(
    results.some((text) => /of 4 tests fail\./.test(text)),
    'the model saw it red',
  );
  assert.ok(
    results.some((text) => /All tests pass\./.test(text)),
    'and green',
  );
  const edits = spoken.flatMap((said) => (said.role === 'assistant' ? said.calls : []));
  const paths = edits
    .filter(({ name }) => name === 'edit' || name === 'write')
    .map(({ input }) => input['path']);
  assert.deepEqual(new Set(paths), new Set(['slug.mjs']));
});

test('nothing outside its own folder is written', async () => {
  await using shown = await show();
  assert.deepEqual(await filesBelow(shown.work.home), []);
  assert.deepEqual(await filesBelow(shown.work.file('here')), [shown.work.file('here/mine.txt')]);
});

test('it speaks to this machine alone, whatever keys are set', { skip: needs('NODE_OPTIONS') }, async () => {
  await using work = await tempWorkspace({ 'watch.cjs': WATCH }, { git: false });
  const env = {
    NODE_OPTIONS: `--require=${work.file('watch.cjs')}`,
    WATCH_LOG: work.file('log'),
    ANTHROPIC_API_KEY: 'a-real-key',
    ANTHROPIC_BASE_URL: 'http://203.0.113.1:9',
    ANTHROPIC_MODEL: 'claude-opus-4-5',
    OPENAI_API_KEY: 'another-real-key',
    HTTPS_PROXY: 'http://203.0.113.1:9',
  };
  await using shown = await show(env);
  assert.equal(shown.exit.code, 0, shown.exit.stderr);
  const hosts = new Set((await readFile(work.file('log'), 'utf8')).trim().split('\n'));
  assert.ok(hosts.has('127.0.0.1'), 'and the watch saw it');
  assert.equal(`${shown.exit.stdout}${shown.exit.stderr}`.includes('real-key'), false);
});

test('a home that cannot be written, or is not there, is no obstacle', async () => {
  await using shown = await show({ HOME: '/dev/null/nowhere', CRAB_HOME: undefined });
  assert.equal(shown.exit.code, 0, shown.exit.stderr);
  await using unset = await show({ HOME: undefined, CRAB_HOME: '/proc/nowhere' });
  assert.equal(unset.exit.code, 0, unset.exit.stderr);
});

test('a home that is read-only stays as it is', async () => {
  await using work = await tempWorkspace({}, { git: false });
  await chmod(work.home, 0o555);
  const before = await stat(work.home);
  await using shown = await show({ HOME: work.home, CRAB_HOME: join(work.home, '.crab') });
  assert.equal(shown.exit.code, 0, shown.exit.stderr);
  assert.deepEqual([(await stat(work.home)).mtimeMs, await readdir(work.home)], [before.mtimeMs, []]);
});

test('it takes no prompt, and its help starts nothing', async () => {
  await using work = await tempWorkspace({}, { git: false });
  const options = { cwd: work.path, home: work.home, env: { TMPDIR: work.path } };
  const wrong = await runCrab({ ...options, args: ['demo', 'hello'] });
  assert.deepEqual({ code: wrong.code, stdout: wrong.stdout }, { code: 2, stdout: '' });
  const help = await runCrab({ ...options, args: ['demo', '--help'] });
  assert.deepEqual({ code: help.code, stderr: help.stderr }, { code: 0, stderr: '' });
  assert.match(help.stdout, /^Usage: crab demo\n/);
  assert.deepEqual(await readdir(work.path), []);
});
