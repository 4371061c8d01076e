import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageOf } from '../../core/usage.ts';
import { CATALOGUE } from './catalogue.ts';
import { factsOf, namesOf } from './facts.ts';

const SONNET = {
  contextWindow: 200_000,
  maxOutput: 64_000,
  input: ['image', 'pdf'],
  reasoning: true,
  structured: true,
  price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};
const ABROAD = { ...SONNET, price: { input: 3.3, output: 16.5, cacheRead: 0.33, cacheWrite: 4.125 } };

for (const [id, facts] of [
  ['claude-sonnet-4-5', SONNET],
  ['claude-sonnet-4-5-20250929', SONNET],
  ['claude-sonnet-4-5@20250929', SONNET],
  ['claude-sonnet-4-5@default', SONNET],
  ['anthropic/claude-sonnet-4.5', SONNET],
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', SONNET],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', SONNET],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', ABROAD],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', ABROAD],
  [
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    ABROAD,
  ],
] as const) {
  test(`${id} is Claude Sonnet 4.5`, () => assert.deepEqual(factsOf(id), facts));
}

test('names that only look alike mean nothing', () => {
  for (const id of [
    'claude-sonnet-4-55',
    'constructor',
    'anthropic.claude-',
    'us.anthropic.',
    '',
    '/',
    ':free/',
  ])
    assert.deepEqual(factsOf(id), {}, id);
});

test('models older than the surcharge cost the same in every region', () => {
  assert.equal(factsOf('us.anthropic.claude-opus-4-1-20250805-v1:0').price?.input, 15);
  assert.equal(factsOf('eu.anthropic.claude-sonnet-4-20250514-v1:0').price?.input, 3);
  assert.equal(factsOf('us.anthropic.claude-haiku-5-5').price?.above?.price.output, 2.75);
});

test('an open model has the price of whoever sells it, and none elsewhere', () => {
  const known = factsOf('kimi-k3', 'moonshot');
  assert.deepEqual(known.price, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 });
  const { price: _, ...unpriced } = known;
  assert.deepEqual(factsOf('moonshotai/kimi-k3', 'openrouter'), unpriced);
  assert.equal(factsOf('openai/gpt-oss-120b', 'groq').price?.output, 0.6);
  assert.equal(factsOf('gpt-oss-120b', 'cerebras').price?.output, 0.75);
  assert.equal(factsOf('openai/gpt-oss-120b', 'openrouter').price, undefined);
});

test('a variant has no price of the model, but for the free one', () => {
  assert.equal(factsOf('openai/gpt-5.1:nitro').price, undefined);
  assert.equal(factsOf('openai/gpt-5.1:nitro').contextWindow, 400_000);
  const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  assert.deepEqual(factsOf('vendor/unheard-of:free'), { price: nothing });
});

test('a prompt beyond the bound costs the higher price, all of it', () => {
  const { price } = factsOf('gemini-2.5-pro');
  const short = { input: 100_000, output: 1000, cacheRead: 100_000, cacheWrite: 0 };
  const { total, ...cost } = usageOf(short, price).cost;
  assert.deepEqual(cost, { input: 0.125, output: 0.01, cacheRead: 0.0125, cacheWrite: 0 });
  assert.equal(total, 0.125 + 0.01 + 0.0125);
  const { total: _, ...dearer } = usageOf({ ...short, input: 100_001 }, price).cost;
  assert.deepEqual(dearer, { input: 0.2500025, output: 0.015, cacheRead: 0.025, cacheWrite: 0 });
});

test('several bounds are climbed one after the other', () => {
  const flat = { output: 0, cacheRead: 0, cacheWrite: 0 };
  const top = { ...flat, input: 9 };
  const price = {
    ...flat,
    input: 1,
    above: { tokens: 10, price: { ...flat, input: 3, above: { tokens: 20, price: top } } },
  };
  const costs = [10, 11, 20, 21].map((input) => {
    const tokens = { input: input, output: 0, cacheRead: 0, cacheWrite: 0 };
    return usageOf(tokens, price).cost.input * 1e6;
  });
  assert.deepEqual(costs.map(Math.round), [10, 33, 60, 189]);
});

test('every figure of the catalogue is possible', () => {
  let seen = 0;
  for (const [seller, { models }] of Object.entries(CATALOGUE)) {
    assert.deepEqual(namesOf(seller), Object.keys(models));
    for (const [id, { contextWindow = 0, maxOutput = 0, price }] of Object.entries(models)) {
      seen++;
      assert.ok(contextWindow >= 100_000 && contextWindow <= 10_000_000, `${id}: ${contextWindow}`);
      assert.ok(maxOutput > 0 && maxOutput <= contextWindow, `${id}: ${maxOutput}`);
      if (price === undefined) continue;
      const { input, output, cacheRead, cacheWrite, above } = price;
      assert.ok(input > 0 && output >= input && output <= 700, id);
      assert.ok(cacheRead <= input && cacheWrite >= input, id);
      if (above !== undefined) assert.ok(above.price.input > input && above.tokens < contextWindow, id);
    }
  }
  assert.ok(seen > 100, `${seen} models`);
  assert.deepEqual(namesOf('nobody'), []);
});
