import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';

import { acquireLock, isHeld, lockWhenFree, thisProcess } from './lock.ts';
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

const CONTENDERS = 50;

/** Adds one to a number in a file for each of its contenders, each with the lock; `kill` never lets go of it. */
const COUNTER = `
  const { lockWhenFree, thisProcess } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
  const { nodeSyncFs: disk } = await import(${JSON.stringify(new URL('./sync-fs.ts', import.meta.url).href)});
  const { readFileSync, writeFileSync } = await import('node:fs');
  const [path, count] = process.argv.slice(1);
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
  const work = async () => {
    const lock = await lockWhenFree(path, { self: thisProcess(), disk, clock, waitMs: 120_000 });
    if (count === 'kill') return console.log('held');
    const before = Number(readFileSync(path, 'utf8'));
    await clock.sleep(1);
    writeFileSync(path, String(before + 1));
    lock.release();
  };
  await Promise.all(Array.from({ length: count === 'kill' ? 1 : Number(count) }, work));
  if (count === 'kill') setInterval(() => {}, 1000);
  else console.log('done');
`;

function contend(path: string, count: string): Child {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', COUNTER, path, count], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, line: async () => (await lines.next()).value ?? '' };
}

test(`${CONTENDERS} contenders in five processes take turns, though the one before them is killed while it holds the lock`, async (t) => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'count');
  writeFileSync(path, '0');
  const holder = contend(path, 'kill');
  const others: Child[] = [];
  t.after(() => Promise.all([holder, ...others].map(kill)));
  assert.equal(await holder.line(), 'held');
  for (let at = 0; at < 5; at++) others.push(contend(path, String(CONTENDERS / 5)));
  await kill(holder);
  assert.deepEqual(await Promise.all(others.map((child) => child.line())), Array(5).fill('done'));
  assert.equal(readFileSync(path, 'utf8'), String(CONTENDERS));
  assert.deepEqual(readdirSync(folder.path), ['count']);
});

test('of one that waits for a lock, too long is an error, and another machine’s is dead after a time where that is said', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x');
  const waiting = { self, disk: nodeSyncFs, clock: realClock, waitMs: 30 };
  const lock = acquireLock(path, self, nodeSyncFs);
  await assert.rejects(lockWhenFree(path, waiting), { code: 'session-held' });
  lock.release();
  writeFileSync(`${path}.lock`, JSON.stringify({ ...self, host: 'another-machine' }));
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(`${path}.lock`, hourAgo, hourAgo);
  await assert.rejects(lockWhenFree(path, waiting), { code: 'session-held' });
  await assert.rejects(lockWhenFree(path, { ...waiting, foreignIsDeadMs: 7_200_000 }), {
    code: 'session-held',
  });
  (await lockWhenFree(path, { ...waiting, foreignIsDeadMs: 60_000 })).release();
  assert.deepEqual(readdirSync(folder.path), []);
});
