import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRenewed } from './renewed.ts';

test('it is fetched once for all who wait, kept, and fetched anew five minutes before it runs out', async () => {
  let now = 0;
  let count = 0;
  const renewed = createRenewed(
    async () => ({ name: ++count, expiresAt: now + 3_600_000 }),
    () => now,
  );
  assert.equal(renewed.last, undefined);
  const [a, b] = await Promise.all([renewed.get(), renewed.get()]);
  assert.equal(a, b);
  assert.equal(renewed.get(), a);
  now = 3_300_000 - 1;
  assert.equal(renewed.get(), a);
  now = 3_300_000;
  assert.deepEqual(await renewed.get(), { name: 2, expiresAt: 6_900_000 });
  assert.equal((await renewed.renew()).name, 3);
});

test('what failed is tried again, and what never runs out is kept', async () => {
  let count = 0;
  const renewed = createRenewed<{ readonly expiresAt?: number }>(
    async () => {
      if (++count === 1) throw new Error('not yet');
      return {};
    },
    () => Number.MAX_SAFE_INTEGER,
  );
  await assert.rejects(async () => renewed.get(), /not yet/);
  const value = await renewed.get();
  assert.equal(renewed.get(), value);
});
