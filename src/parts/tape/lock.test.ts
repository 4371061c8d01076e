import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { acquireLock, isHeld, thisProcess } from './lock.ts';
import { nodeSyncFs } from './sync-fs.ts';
import { tempFolder } from './tape.fixture.ts';

const self = thisProcess();
const hasProc = existsSync('/proc/self/stat');

/** Takes the lock when it is told to, says how it went, and keeps it until it is killed. */
const CHILD = `
  const { acquireLock, thisProcess } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
  const { nodeSyncFs } = await import(${JSON.stringify(new URL('./sync-fs.ts', import.meta.url).href)});
  console.log('ready');
  process.stdin.on('data', () => {
    try { acquireLock(process.argv[1], thisProcess(), nodeSyncFs); console.log('won'); }
    catch (error) { console.log(error.code + ' ' + error.message); }
  });
`;

interface Child {
  readonly process: ChildProcess;
  line(): Promise<string>;
}

function start(path: string): Child {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, line: async () => (await lines.next()).value ?? '' };
}

async function kill({ process: child }: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

test('a lock is held until it is released, by this process too', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  const lock = acquireLock(path, self, nodeSyncFs);
  assert.equal(isHeld(path, self), true);
  assert.throws(() => acquireLock(path, self, nodeSyncFs), {
    code: 'session-held',
    message: `${path} is open in process ${process.pid}.`,
  });
  assert.deepEqual(JSON.parse(readFileSync(`${path}.lock`, 'utf8')), self);
  lock.release();
  lock.release();
  assert.equal(isHeld(path, self), false);
  assert.deepEqual(readdirSync(folder.path), []);
});

test('releasing leaves a lock alone that somebody else holds', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  const lock = acquireLock(path, self, nodeSyncFs);
  writeFileSync(`${path}.lock`, JSON.stringify({ ...self, pid: process.ppid }));
  lock.release();
  assert.equal(existsSync(`${path}.lock`), true);
});

test('the lock of a dead process, and of a pid that is used again, is taken over', {
  skip: !hasProc,
}, async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  for (const dead of [
    { ...self, pid: 2 ** 30 },
    { ...self, start: '1' },
  ]) {
    writeFileSync(`${path}.lock`, JSON.stringify(dead));
    assert.equal(isHeld(path, self), false);
    const lock = acquireLock(path, self, nodeSyncFs);
    assert.deepEqual(JSON.parse(readFileSync(`${path}.lock`, 'utf8')), self);
    lock.release();
    assert.deepEqual(readdirSync(folder.path), []);
  }
});

test('a process that cannot be asked counts as alive', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  writeFileSync(`${path}.lock`, JSON.stringify({ ...self, pid: 2 ** 30, host: 'another-machine' }));
  assert.equal(isHeld(path, self), true);
  assert.throws(() => acquireLock(path, self, nodeSyncFs), {
    code: 'session-held',
    message: `${path} is open in process ${2 ** 30} on another-machine.`,
    hint: /remove .*x\.jsonl\.lock/,
  });
});

test('a lock that nobody can read is one being written, and waited for until it is dead', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  for (const content of ['', '\0'.repeat(40), '{"pid":-1,"start":"","host":""}', 'null']) {
    writeFileSync(`${path}.lock`, content);
    assert.equal(isHeld(path, self), true);
    const nearlyDead = Date.now() / 1000 - 0.9;
    utimesSync(`${path}.lock`, nearlyDead, nearlyDead);
    acquireLock(path, self, nodeSyncFs).release();
    assert.equal(isHeld(path, self), false);
  }
});

test('a takeover that died half-way is taken over as well', { skip: !hasProc }, async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  const dead = JSON.stringify({ ...self, pid: 2 ** 30 });
  writeFileSync(`${path}.lock`, dead);
  const halfWay = { ...nodeSyncFs, rename: () => assert.fail('killed here') };
  assert.throws(() => acquireLock(path, self, halfWay), { code: 'storage-failed' });
  const guards = readdirSync(folder.path).filter((name) => name.endsWith('.new'));
  assert.equal(guards.length, 1);
  const guard = join(folder.path, (guards[0] ?? '').slice(0, -'.new'.length));
  writeFileSync(guard, JSON.stringify({ ...self, pid: 2 ** 30 + 1 }));
  const lock = acquireLock(path, self, nodeSyncFs);
  assert.deepEqual(JSON.parse(readFileSync(`${path}.lock`, 'utf8')), self);
  lock.release();
  assert.deepEqual(readdirSync(folder.path), []);
});

test('of processes that race for a lock, free or dead, one wins and the others learn its pid', async (t) => {
  await using folder = await tempFolder();
  const all: Child[] = [];
  t.after(() => Promise.all(all.map(kill)));
  for (let round = 0; round < 6; round++) {
    const path = join(folder.path, `${round}.jsonl`);
    if (round % 2 === 1) writeFileSync(`${path}.lock`, JSON.stringify({ ...self, pid: 2 ** 30, start: '1' }));
    const children = Array.from({ length: 3 }, () => start(path));
    all.push(...children);
    for (const child of children) assert.equal(await child.line(), 'ready');
    for (const child of children) child.process.stdin?.write('go\n');
    const answers = await Promise.all(children.map((child) => child.line()));
    const winner = children[answers.indexOf('won')];
    const losers = answers.filter((answer) => answer !== 'won');
    assert.equal(losers.length, 2, answers.join('; '));
    const expected = `session-held ${path} is open in process ${winner?.process.pid}.`;
    for (const answer of losers) assert.equal(answer, expected);
    assert.throws(() => acquireLock(path, self, nodeSyncFs), { code: 'session-held' });
    await Promise.all(children.map(kill));
    acquireLock(path, self, nodeSyncFs).release();
    assert.deepEqual(readdirSync(folder.path), []);
  }
});
