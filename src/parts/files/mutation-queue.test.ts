import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMutationQueue } from './mutation-queue.ts';

test('operations on one key run one after the other, in order, and failures do not stop the next', async () => {
  const queue = createMutationQueue();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const operations = [
    queue.run('a', async () => {
      log.push('1 begins');
      await first.promise;
      log.push('1 ends');
    }),
    queue.run('a', async () => {
      log.push('2 fails');
      throw new Error('no');
    }),
    queue.run('a', async () => void log.push('3')),
  ];
  await queue.run('b', async () => void log.push('other'));
  assert.equal(queue.size, 1);
  first.resolve();
  const results = await Promise.allSettled(operations);
  assert.deepEqual(log, ['1 begins', 'other', '1 ends', '2 fails', '3']);
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(queue.size, 0);
});
