import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdBack, rateLimitOf } from './rate-limit.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1000;

for (const [vendor, headers, expected] of [
  ['nobody', { 'content-type': 'text/event-stream' }, undefined],
  [
    'Anthropic',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:01Z',
      'anthropic-ratelimit-input-tokens-remaining': '30000',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:30Z',
      'anthropic-ratelimit-output-tokens-remaining': '0',
      'anthropic-ratelimit-output-tokens-reset': '2026-01-01T00:00:20Z',
      'anthropic-ratelimit-tokens-remaining': '38000',
      'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:40Z',
    },
    { remainingRequests: 49, remainingTokens: 0, resetAt: NOW + 20 * SECOND },
  ],
  [
    'OpenAI',
    {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    { remainingRequests: 0, remainingTokens: 149_984, resetAt: NOW + SECOND },
  ],
  [
    'Groq',
    { 'x-ratelimit-remaining-requests': '14370', 'x-ratelimit-reset-requests': '1m30.5s' },
    { remainingRequests: 14_370, resetAt: NOW + 90_500 },
  ],
  [
    'Azure',
    {
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-remaining-tokens': '8',
      'x-ratelimit-reset-tokens': '57',
    },
    { remainingRequests: 9, remainingTokens: 8, resetAt: NOW + 57 * SECOND },
  ],
  [
    'OpenRouter',
    { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 5000) },
    { remainingRequests: 0, resetAt: NOW + 5000 },
  ],
  [
    'one that counts seconds since the epoch',
    { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': String(NOW / 1000 + 5) },
    { remainingRequests: 1, resetAt: NOW + 5000 },
  ],
  [
    'the draft',
    { 'ratelimit-remaining': '3', 'ratelimit-reset': '50' },
    { remainingRequests: 3, resetAt: NOW + 50_000 },
  ],
  ['its newer form', { ratelimit: '"default";r=0;t=30' }, { remainingRequests: 0, resetAt: NOW + 30_000 }],
  [
    'a clock that is years ahead of ours',
    {
      date: 'Wed, 01 Jan 2031 00:00:00 GMT',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2031-01-01T00:00:07Z',
    },
    { remainingRequests: 0, resetAt: NOW + 7000 },
  ],
  [
    'milliseconds and days',
    { 'x-ratelimit-reset-requests': '20ms', 'x-ratelimit-reset-tokens': '1d2h3m4s' },
    { resetAt: NOW + 20 },
  ],
] as const) {
  test(`the limits of ${vendor}`, () => {
    assert.deepEqual(rateLimitOf(headers, NOW), expected);
  });
}

test('nonsense counts as not said', () => {
  for (const remaining of ['-1', '1.5', 'many', '', '9'.repeat(20), 'NaN'])
    assert.equal(rateLimitOf({ 'x-ratelimit-remaining-requests': remaining }, NOW), undefined, remaining);
  for (const reset of [
    '-5',
    's',
    '',
    'soon',
    '0',
    '1s2m',
    '9'.repeat(30),
    '2020-01-01T00:00:00Z',
    '400d',
    '1e3',
  ])
    assert.equal(rateLimitOf({ 'x-ratelimit-reset-requests': reset }, NOW), undefined, reset);
});

test('a request is held back only for a limit that is lifted within a minute', () => {
  const wait = (remainingRequests: number | undefined, inMs: number) =>
    holdBack({ ...(remainingRequests !== undefined && { remainingRequests }), resetAt: NOW + inMs }, NOW);
  assert.deepEqual(
    [wait(0, 1), wait(0, 60_000), wait(0, 60_001), wait(0, 0), wait(0, -5), wait(1, 5), wait(undefined, 5)],
    [1, 60_000, undefined, undefined, undefined, undefined, undefined],
  );
  assert.deepEqual(
    [holdBack(undefined, NOW), holdBack({ remainingRequests: 0 }, NOW)],
    [undefined, undefined],
  );
});
