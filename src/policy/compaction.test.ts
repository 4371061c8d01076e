import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import { contextLimits, watchContext } from './compaction.ts';

const usage = (tokens: number, more: object = {}): Event => ({
  type: 'contextUsage',
  tokens,
  window: 1000,
  ...more,
});

describe('the limits of a context', () => {
  it('pause before a request unless nothing is to be compacted by itself', () => {
    const rest = { snipAt: 0.7, keepRecentTokens: 20_000 };
    assert.deepEqual(contextLimits({}), { ...rest, pauseAt: { share: 0.8, reserveTokens: 16_384 } });
    assert.deepEqual(contextLimits({ autoCompact: false }), rest);
    assert.deepEqual(
      contextLimits({ compactAt: 0.5, compactReserveTokens: 0, compactKeepRecentTokens: 0, snipAt: 1 }),
      { snipAt: 1, keepRecentTokens: 0, pauseAt: { share: 0.5, reserveTokens: 0 } },
    );
  });
});

describe('whoever watches a context', () => {
  it('asks for a compaction when a request waits for one, and never otherwise', async () => {
    const asked: Control[] = [];
    const watch = watchContext(async (control) => {
      asked.push(control);
    });
    assert.deepEqual(await watch.see([usage(799)]), []);
    await watch.see([usage(990)]);
    assert.deepEqual(asked, []);
    assert.deepEqual(await watch.see([usage(990, { waiting: true })]), []);
    assert.deepEqual(asked, [{ kind: 'compact' }]);
  });

  it('warns at 80 and at 90 %, once until there is room again', async () => {
    const watch = watchContext(async () => {});
    const told: string[] = [];
    for (const tokens of [799, 800, 850, 900, 999, 100, 950]) {
      for (const event of await watch.see([usage(tokens)]))
        told.push(event.type === 'notice' ? event.text : event.type);
    }
    assert.deepEqual(told, [
      'The context is 80 % full: 800 of 1000 tokens.',
      'The context is 90 % full: 900 of 1000 tokens.',
      'The context is 95 % full: 950 of 1000 tokens.',
    ]);
  });

  it('says nothing of a window that nobody knows', async () => {
    const watch = watchContext(async () => {});
    assert.deepEqual(await watch.see([{ type: 'contextUsage', tokens: 1e9 }]), []);
  });
});
