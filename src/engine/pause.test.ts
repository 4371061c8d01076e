// A request that is held back for a compaction: asked for in time, not at all, or while the run does something else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runQuery, testTool } from '../../test/support/query.ts';
import { scriptedModel } from '../../test/support/scripted-model.ts';
import { virtualClock } from '../../test/support/virtual-clock.ts';
import { userMessage } from '../core/message.ts';
import type { CompactionOffer } from './query.ts';

const full = { input: 900, output: 0 };
const info = { contextWindow: 1000 };
const limits = { context: { pauseAt: { share: 0.8, reserveTokens: 0 } } };

interface Offered {
  readonly offer: CompactionOffer;
  readonly runs: readonly number[];
  ask(): void;
}

/** Answers a wish by counting it. */
function offered(): Offered {
  const runs: number[] = [];
  let wished = false;
  let told = () => {};
  const asked = new Promise<void>((resolve) => {
    told = resolve;
  });
  return {
    runs,
    ask: () => {
      wished = true;
      told();
    },
    offer: {
      isAsked: () => wished,
      asked: () => asked,
      run: async () => {
        wished = false;
        runs.push(runs.length);
      },
    },
  };
}

const calls = [{ name: 'look', input: {} }];

describe('a request of a full context', () => {
  it('waits until a compaction is asked for, has it done, and goes on', async () => {
    const { offer, runs, ask } = offered();
    const model = scriptedModel(
      [
        { calls, usage: full },
        { text: 'Done.', usage: full },
      ],
      { info },
    );
    const { events, end } = await runQuery({
      model,
      tools: [testTool({ name: 'look' })],
      limits,
      compaction: offer,
      onEvent: (event) => {
        if (event.type === 'contextUsage' && event.waiting === true) ask();
      },
    });
    assert.equal(end.outcome, 'done');
    assert.deepEqual(runs, [0]);
    const usages = events.filter(({ type }) => type === 'contextUsage');
    assert.deepEqual(usages, [
      { type: 'contextUsage', tokens: 900, window: 1000 },
      { type: 'contextUsage', tokens: 900, window: 1000, waiting: true },
      { type: 'contextUsage', tokens: 900, window: 1000 },
    ]);
  });

  it('goes on after five seconds when nobody asks, and waits again only some turns later', async () => {
    const { offer, runs } = offered();
    const clock = virtualClock();
    const model = scriptedModel([{ calls, usage: full, repeat: 5 }, { text: 'Done.' }], { info });
    const running = runQuery({
      model,
      clock,
      tools: [testTool({ name: 'look' })],
      limits,
      compaction: offer,
    });
    for (let pause = 0; pause < 2; pause++) {
      await clock.untilSleeping();
      await clock.advance(5000);
    }
    const { events, end } = await running;
    assert.equal(end.outcome, 'done');
    assert.deepEqual(runs, []);
    const waits = events.filter((event) => event.type === 'contextUsage' && event.waiting === true);
    assert.equal(waits.length, 2);
    assert.equal(clock.monotonic(), 10_000);
  });

  it('does not wait below the limit, nor where nobody said when to', async () => {
    for (const [input, context] of [
      [800, limits.context],
      [900, {}],
    ] as const) {
      const { offer } = offered();
      const model = scriptedModel([{ calls, usage: { input, output: 0 } }, { text: 'Done.' }], { info });
      const tools = [testTool({ name: 'look' })];
      const { events } = await runQuery({ model, tools, limits: { context }, compaction: offer });
      assert.ok(!events.some((event) => event.type === 'contextUsage' && event.waiting === true));
    }
  });

  it('has a compaction that was asked for without a pause done before the next request, or at the end', async () => {
    for (const replies of [[{ calls }, { text: 'Done.' }], [{ text: 'Done.' }]]) {
      const { offer, runs, ask } = offered();
      const model = scriptedModel(replies, { info });
      const tools = [testTool({ name: 'look' })];
      const onEvent = (event: { readonly type: string }) => {
        if (event.type === 'messageStart' && runs.length === 0) ask();
      };
      const { end } = await runQuery({ model, tools, compaction: offer, onEvent });
      assert.equal(end.outcome, 'done');
      assert.deepEqual(runs, [0]);
    }
  });

  it('leaves out most of old results in requests, and nothing of what is kept', async () => {
    const long = 'line\n'.repeat(2000);
    const tools = [
      testTool({ name: 'look', run: () => ({ content: [{ type: 'text', text: long }], isError: false }) }),
    ];
    const model = scriptedModel(
      [{ calls, usage: { input: 10, output: 0 } }, { calls, usage: full }, { text: 'Done.' }],
      { info },
    );
    const history = [userMessage('Before.', 0)];
    const { written } = await runQuery({ model, tools, history, limits: { context: { snipAt: 0.7 } } });
    const sizes = model.requests
      .at(-1)
      ?.messages.flatMap(({ role, content }) =>
        role === 'toolResult' ? [JSON.stringify(content).length > 5000] : [],
      );
    assert.deepEqual(sizes, [false, true]);
    for (const message of written)
      if (message.role === 'toolResult') assert.ok(JSON.stringify(message).length > 5000);
  });
});
