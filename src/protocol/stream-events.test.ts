import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../core/event.ts';
import { addUsage, NO_USAGE, usageOf } from '../core/usage.ts';
import { StreamMapping } from './stream-events.ts';

const request = (usage: typeof NO_USAGE): Event => ({
  type: 'requestEnd',
  ...{ provider: 'p', model: 'm', cause: 'turn', outcome: 'done', usage, priced: 'unknown', durationMs: 1 },
});

test('each request tells its tokens once, with what came from a cache and what was thought', () => {
  const mapping = new StreamMapping();
  const usage = usageOf({ input: 7, output: 42, cacheRead: 100, cacheWrite: 2, reasoning: 30 });
  const counts = { promptTokens: 109, completionTokens: 42, totalTokens: 151 };
  const cached = { cacheHitTokens: 100, cacheMissTokens: 9 };
  assert.deepEqual(mapping.of(request(usage)), [
    { case: 'contextUsage', value: { usage: { ...counts, ...cached, reasoningTokens: 30 } } },
  ]);
  assert.deepEqual(mapping.of(request(NO_USAGE)), [], 'nothing was counted');
  const plain = usageOf({ input: 1, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
  assert.deepEqual(mapping.of(request(plain)), [
    {
      case: 'contextUsage',
      value: { usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
    },
  ]);
  assert.equal(addUsage(addUsage(usage, plain), usage).reasoning, 60);
});
