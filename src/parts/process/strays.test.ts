import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endStraysOf } from './strays.ts';

/** Larger than any that the system gives out. */
const GONE = 4_194_400;

test('what a process left behind that is gone is ended, and what another one started is not', async () => {
  const started = ['', '9;'].map((before) =>
    spawn('sleep', ['30'], { env: { ...process.env, CRAB_CALL: `${before}${GONE}.a.1;` } }),
  );
  const other = spawn('sleep', ['30'], { env: { ...process.env, CRAB_CALL: `1${GONE}.a.1;` } });
  const ends = started.map((child) => once(child, 'exit'));
  await Promise.all([...started, other].map((child) => once(child, 'spawn')));
  assert.equal(endStraysOf(GONE), 2);
  assert.deepEqual(await Promise.all(ends), [
    [null, 'SIGKILL'],
    [null, 'SIGKILL'],
  ]);
  assert.equal(other.signalCode, null);
  other.kill();
});

test('while it lives, nothing that a process started is touched', () => {
  assert.equal(endStraysOf(process.pid), 0);
});
