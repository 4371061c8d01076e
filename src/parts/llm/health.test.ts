import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { createHealths, Health } from './health.ts';

const PASSING = new CrabError('provider-overloaded', 'x', { status: 529, retryable: true });
const REFUSED = new CrabError('provider-request', 'x', { status: 400 });
const CERTIFICATE = new CrabError('network', 'x');
const INTERRUPTED = new CrabError('interrupted', 'x');

function failing(times: number, at = 0, health = new Health()): Health {
  for (let time = 0; time < times; time++) health.note(at, PASSING);
  return health;
}

test('five failures in a row open it for 30 s', () => {
  assert.equal(failing(4).isOpen(0), false);
  const health = failing(5);
  assert.deepEqual(
    [0, 29_999, 30_000].map((now) => health.isOpen(now)),
    [true, true, false],
  );
});

test('failures while it is open do not keep it open', () => {
  const health = failing(5);
  failing(10, 20_000, health);
  assert.equal(health.isOpen(30_000), false);
});

test('each time that it fails again it stays open twice as long, up to five minutes', () => {
  const health = failing(5);
  let now = 0;
  for (const length of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    assert.deepEqual([health.isOpen(now + length - 1), health.isOpen(now + length)], [true, false]);
    now += length;
    health.note(now, PASSING);
  }
});

test('an answer closes it, and so does a refusal that was thought about', () => {
  for (const end of [undefined, REFUSED]) {
    const health = failing(5);
    health.note(10, end);
    assert.equal(health.isOpen(11), false);
    assert.equal(failing(4, 11, health).isOpen(11), false);
  }
});

test('what says nothing of the provider changes nothing', () => {
  const health = failing(4);
  health.note(0, INTERRUPTED);
  health.note(0, CERTIFICATE);
  assert.equal(failing(1, 0, health).isOpen(0), true);
});

test('all models behind one address share it', () => {
  const of = createHealths();
  const one = of(new URL('https://a.example/v1'));
  assert.equal(of(new URL('https://a.example/v2/')), one);
  assert.notEqual(of(new URL('https://a.example:444/v1')), one);
});
