// `crab.cjs` under Nodes it may meet. A preloaded file makes this Node say that it is an old one, since what
// is tested is what the launcher does about it; that an old Node can parse it is a check on its own.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { transformSync } from 'rolldown/utils';

const LAUNCHER = new URL('../../src/crab.cjs', import.meta.url);

/** Stands for the bundle: says which Node runs it and what it was told, then does what its first word says. */
const BUNDLE = `
const [order, value] = process.argv.slice(2);
if (order === 'wait') {
  process.on('SIGTERM', () => process.exit(9));
  setTimeout(() => {}, 60_000);
}
console.log(JSON.stringify({ node: process.versions.node, argv: process.argv.slice(2) }));
if (order === 'exit') process.exitCode = Number(value);
if (order === 'die') process.kill(process.pid, value);
`;

interface Start {
  readonly old?: boolean;
  readonly path?: string;
  readonly home?: string;
}

interface Installed extends AsyncDisposable {
  readonly folder: string;
  start(args: readonly string[], options?: Start): ChildProcess;
  run(args: readonly string[], options?: Start): Promise<Ending>;
}

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: unknown;
  readonly error: string;
}

async function install(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'crab-launcher-'));
  await copyFile(LAUNCHER, join(folder, 'crab.cjs'));
  await writeFile(join(folder, 'main.js'), BUNDLE);
  await writeFile(
    join(folder, 'old.cjs'),
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } });",
  );
  const start = (args: readonly string[], options: Start = {}) =>
    spawn(
      process.execPath,
      [...(options.old ? ['-r', join(folder, 'old.cjs')] : []), join(folder, 'crab.cjs'), ...args],
      { env: { PATH: options.path ?? '', HOME: folder, CRAB_HOME: options.home ?? join(folder, 'home') } },
    );
  return {
    folder,
    start,
    run: (args, options) => ending(start(args, options)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

async function ending(child: ChildProcess): Promise<Ending> {
  assert(child.stdout !== null && child.stderr !== null);
  const [out, error, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, signal, out: out === '' ? undefined : JSON.parse(out), error };
}

/** A folder for the PATH in which `node` is this Node under another name. */
async function newerNode(folder: string): Promise<string> {
  await mkdir(join(folder, 'bin'));
  await symlink(process.execPath, join(folder, 'bin/node'));
  return join(folder, 'bin');
}

const SAID = { node: process.versions.node, argv: ['a', '--b'] };

test('a recent Node runs the bundle with the arguments as they were given', async () => {
  await using crab = await install();
  assert.deepEqual(await crab.run(['a', '--b']), { code: 0, signal: null, out: SAID, error: '' });
});

test('an old Node hands over to a newer one on the PATH', async () => {
  await using crab = await install();
  const path = await newerNode(crab.folder);
  assert.deepEqual(await crab.run(['a', '--b'], { old: true, path }), {
    code: 0,
    signal: null,
    out: SAID,
    error: '',
  });
});

test('an old Node hands over to the one that was installed beside Crab', async () => {
  await using crab = await install();
  const brought = join(crab.folder, `node_modules/node-${process.platform}-${process.arch}`);
  await mkdir(join(brought, 'bin'), { recursive: true });
  await writeFile(join(brought, 'package.json'), JSON.stringify({ version: process.versions.node }));
  await symlink(process.execPath, join(brought, 'bin/node'));
  assert.deepEqual(await crab.run(['a', '--b'], { old: true }), {
    code: 0,
    signal: null,
    out: SAID,
    error: '',
  });
});

test('an old Node alone gets one sentence and status 1', async () => {
  await using crab = await install();
  assert.deepEqual(await crab.run([], { old: true }), {
    code: 1,
    signal: null,
    out: undefined,
    error: 'crab: needs Node 22.18 or newer, and this is Node 20.11.1\n',
  });
});

test('the other Node’s status and signal become the launcher’s own', async () => {
  await using crab = await install();
  const path = await newerNode(crab.folder);
  const { code } = await crab.run(['exit', '53'], { old: true, path });
  assert.equal(code, 53);
  const { signal } = await crab.run(['die', 'SIGKILL'], { old: true, path });
  assert.equal(signal, 'SIGKILL');
});

test('a signal to the launcher reaches the other Node', async () => {
  await using crab = await install();
  const child = crab.start(['wait'], { old: true, path: await newerNode(crab.folder) });
  assert(child.stdout !== null);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [9, null]);
});

test('compiled code is kept below a home folder that exists', async () => {
  await using crab = await install();
  const home = join(crab.folder, 'home');
  await crab.run(['a']);
  assert.equal(existsSync(home), false);
  await mkdir(home);
  await crab.run(['--version']);
  await crab.run(['--help']);
  assert.equal(existsSync(join(home, 'cache')), false);
  await crab.run(['a']);
  assert.equal(existsSync(join(home, 'cache/compile')), true);
});

test('compiled code of another user is not loaded', async () => {
  await using crab = await install();
  const home = join(crab.folder, 'home');
  await mkdir(home);
  // Without the right to give a folder away, one that belongs to root serves.
  if (process.getuid?.() === 0) await chown(home, 65534, 65534);
  const { code } = await crab.run(['a'], { home: process.getuid?.() === 0 ? home : '/' });
  assert.equal(code, 0);
  assert.equal(existsSync(join(home, 'cache')), false);
});

test('Node 12 can parse the launcher', async () => {
  const source = await readFile(LAUNCHER, 'utf8');
  const compiledFor = (target: string, code: string) =>
    transformSync('crab.cjs', code, { target, sourceType: 'commonjs' }).code;
  assert.equal(compiledFor('node12', source), compiledFor('esnext', source));
  assert.doesNotMatch(source, /node:/);
  const planted = 'const b = a?.b ?? 1;';
  assert.notEqual(compiledFor('node12', planted), compiledFor('esnext', planted));
});
