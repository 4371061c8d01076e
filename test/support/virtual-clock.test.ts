import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from './virtual-clock.ts';

test('sleeps end in order of their time, also those that begin on the way', async () => {
  const clock = virtualClock(1000);
  const log: string[] = [];
  const worker = async (name: string, ms: number) => {
    for (let time = 0; time < 2; time++) {
      await clock.sleep(ms);
      log.push(`${name} ${clock.now()}`);
    }
  };
  const workers = [worker('slow', 30), worker('fast', 20)];
  await clock.advance(19);
  assert.deepEqual([log, clock.sleeping], [[], 2]);
  await clock.advance(41);
  await Promise.all(workers);
  assert.deepEqual(log, ['fast 1020', 'slow 1030', 'fast 1040', 'slow 1060']);
  assert.deepEqual([clock.monotonic(), clock.sleeping], [60, 0]);
});

test('an aborted sleep rejects with the reason', async () => {
  const clock = virtualClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(10, abort.signal);
  abort.abort('enough');
  await assert.rejects(sleeping, (reason) => reason === 'enough');
  await assert.rejects(clock.sleep(10, abort.signal), (reason) => reason === 'enough');
  assert.equal(clock.sleeping, 0);
});

test('a test can wait until somebody sleeps', async () => {
  const clock = virtualClock();
  const both = clock.untilSleeping(2);
  const sleeps = [clock.sleep(1), clock.sleep(2)];
  await both;
  await clock.advance(2);
  await Promise.all(sleeps);
});
