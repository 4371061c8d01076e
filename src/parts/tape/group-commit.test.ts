import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GroupCommit } from './group-commit.ts';

/** Syncs that end when the test says so. */
function heldSyncs() {
  const running: PromiseWithResolvers<void>[] = [];
  const commits = new GroupCommit(() => {
    const sync = Promise.withResolvers<void>();
    running.push(sync);
    return sync.promise;
  });
  return { commits, running };
}

test('a sync starts at once, and what arrives while it runs shares the next', async () => {
  const { commits, running } = heldSyncs();
  const order: string[] = [];
  const first = commits.request().then(() => order.push('first'));
  assert.equal(running.length, 1);
  const others = Array.from({ length: 7 }, () => commits.request());
  assert.equal(new Set(others).size, 1);
  const second = others[0]?.then(() => order.push('others'));
  running[0]?.resolve();
  await first;
  assert.equal(running.length, 2);
  assert.deepEqual(order, ['first']);
  running[1]?.resolve();
  await second;
  await commits.settled();
  assert.deepEqual(order, ['first', 'others']);
  assert.equal(running.length, 2);
});

test('a failed sync rejects what waits for it and for the next, and none is tried again', async () => {
  const { commits, running } = heldSyncs();
  const failure = new Error('EIO');
  const first = commits.request();
  const next = commits.request();
  running[0]?.reject(failure);
  await assert.rejects(first, failure);
  await assert.rejects(next, failure);
  await assert.rejects(commits.request(), failure);
  await assert.rejects(commits.settled(), failure);
  assert.equal(running.length, 1);
});

test('with nothing asked for, it is settled', async () => {
  const { commits, running } = heldSyncs();
  await commits.settled();
  assert.deepEqual(running, []);
});
