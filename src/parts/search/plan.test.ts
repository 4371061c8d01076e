import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMON, NEWEST, planQuery } from './plan.ts';

const COUNTS: Readonly<Record<string, number>> = {
  rare: 3,
  seldom: 500,
  often: COMMON,
  frequent: COMMON - 1,
  the: 900_000,
  of: 800_000,
  and: 150_000,
  to: 160_000,
};

function plan(query: string) {
  return planQuery(query.split(' '), (word, most) => Math.min(most, COUNTS[word] ?? 0));
}

for (const [query, expected] of [
  ['seldom rare', { words: ['rare', 'seldom'], ignored: [] }],
  ['rare rare', { words: ['rare'], ignored: [] }],
  ['the rare missing', { words: ['rare'], ignored: ['the'] }],
  ['often frequent rare', { words: ['rare', 'frequent'], ignored: ['often'] }],
  ['often', { words: ['often'], ignored: [] }],
  ['missing', { words: [], ignored: [] }],
  ['the', { words: ['the'], ignored: [], newest: NEWEST }],
  ['the of to and', { words: ['and', 'to'], ignored: ['the', 'of'], newest: NEWEST }],
] as const)
  test(`the plan of “${query}”`, () => assert.deepEqual(plan(query), expected));

test('a query has an end', () => {
  const many = Array.from({ length: 1000 }, (_, at) => `word${at}`);
  let counted = 0;
  const { words, ignored } = planQuery(many, () => {
    counted++;
    return 1;
  });
  assert.deepEqual([words.length, ignored.length, counted], [24, 976, 24]);
});
