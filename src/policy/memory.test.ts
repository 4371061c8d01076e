import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolidationDue } from './memory.ts';

const HOUR = 3_600_000;
const marks = (count: number) => Array.from({ length: count }, (_, at) => `${at}:1:note`);

test('notes are looked through when five are new, and not twice in a day', () => {
  const now = 100 * HOUR;
  assert.equal(consolidationDue({ marks: marks(4), last: undefined, now }), false);
  assert.equal(consolidationDue({ marks: marks(5), last: undefined, now }), true);
  const last = (hours: number, count: number) => ({ at: now - hours * HOUR, marks: marks(count) });
  assert.equal(consolidationDue({ marks: marks(9), last: last(30, 5), now }), false);
  assert.equal(consolidationDue({ marks: marks(10), last: last(30, 5), now }), true);
  assert.equal(consolidationDue({ marks: marks(10), last: last(19, 5), now }), false);
});

test('a clock that was set back puts nothing off for ever', () => {
  assert.equal(consolidationDue({ marks: marks(5), last: { at: 10, marks: [] }, now: 5 }), true);
});
