import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byAge, byModel, type ScopedHit } from './ranking.ts';

const DAY = 86_400;
const NOW = 1_000 * DAY * 1000;

const hit = (name: string, score: number, days: number): ScopedHit => ({
  scope: 'project',
  score,
  entry: {
    id: 1n,
    name,
    aliases: [],
    content: `about ${name}`,
    kind: 'note',
    createdAt: BigInt((1000 - days) * DAY),
  },
});

const names = (hits: readonly ScopedHit[]) => hits.map(({ entry }) => entry.name);

test('by age a hit counts half for every thirty days', async () => {
  const hits = [hit('old', 8, 60), hit('new', 3, 0), hit('middle', 4, 30)];
  const ranked = await byAge({ query: 'q', hits, now: NOW });
  assert.deepEqual(
    ranked.map(({ entry, score }) => [entry.name, score]),
    [
      ['new', 3],
      ['old', 2],
      ['middle', 2],
    ],
  );
});

test('a model chooses and orders; words that are no choice change nothing', async () => {
  const hits = [hit('a', 3, 0), hit('b', 2, 0), hit('c', 1, 0)];
  const ranked = async (answer: string) =>
    names(await byModel(async () => answer)({ query: 'q', hits, now: NOW }));
  assert.deepEqual(await ranked('3, 1, 3, 9'), ['c', 'a']);
  assert.deepEqual(await ranked('0'), []);
  assert.deepEqual(await ranked('I cannot say.'), ['a', 'b', 'c']);
});
