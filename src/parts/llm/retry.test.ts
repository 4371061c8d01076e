import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { retriesFrom, retryAfter, retryDelay, shouldRetry } from './retry.ts';

const NOW = Date.UTC(2026, 0, 1);

test('the wait is drawn from a range that doubles up to a minute', () => {
  const longest = [1, 2, 3, 7, 8, 20].map((attempt) => retryDelay(attempt, () => 1));
  assert.deepEqual(longest, [500, 1000, 2000, 32_000, 60_000, 60_000]);
  assert.equal(
    retryDelay(3, () => 0),
    0,
  );
});

test('the wait is never shorter than the provider asks for', () => {
  assert.equal(
    retryDelay(1, () => 1, 90_000),
    90_000,
  );
  assert.equal(
    retryDelay(3, () => 1, 10),
    2000,
  );
});

for (const [headers, expected] of [
  [{}, undefined],
  [{ 'retry-after': '1' }, 1000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '99999' }, 3_600_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Thu, 01 Jan 2015 00:00:30 GMT' }, 0],
  // The other side's clock is five years ahead of ours; the wait is the same.
  [{ 'retry-after': 'Wed, 01 Jan 2031 00:00:30 GMT', date: 'Wed, 01 Jan 2031 00:00:00 GMT' }, 30_000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after-ms': '1234' }, 1234],
  [{ 'retry-after-ms': '10', 'retry-after': '1' }, 10],
  [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1000],
] as const) {
  test(`${JSON.stringify(headers)} asks for ${expected} milliseconds`, () => {
    assert.equal(retryAfter(headers, NOW), expected);
  });
}

test('the number of retries is 4 unless set to a number from 0 to 10', () => {
  assert.deepEqual(
    [undefined, '', '0', '10'].map((setting) => retriesFrom(setting)),
    [4, 4, 0, 10],
  );
  for (const setting of ['11', '-1', '2.5', 'many', '1e1']) {
    assert.throws(
      () => retriesFrom(setting),
      (error) => error instanceof CrabError && error.code === 'usage',
    );
  }
});

test('the settings of a provider name the retries where the environment does not', () => {
  assert.deepEqual(
    [retriesFrom(undefined, 2), retriesFrom('0', 2), retriesFrom('', 99), retriesFrom(undefined, -1)],
    [2, 0, 10, 0],
  );
});

test('x-should-retry is believed when it is one of its two words', () => {
  const said = ['true', 'false', 'yes', ''].map((text) => shouldRetry({ 'x-should-retry': text }));
  assert.deepEqual([...said, shouldRetry({})], [true, false, undefined, undefined, undefined]);
});
