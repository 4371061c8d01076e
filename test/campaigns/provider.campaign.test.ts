// The campaign against faulty providers, as many turns as `CRAB_CAMPAIGN` says, must find nothing. Then Crab is broken on
// purpose, in ways that somebody might break it, and the same campaign must find each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolCalls } from '../../src/core/message.ts';
import type { Model, ModelChunk, Models } from '../../src/core/model.ts';
import type { Tapes } from '../../src/core/tape.ts';
import { runCampaign } from './provider-campaign.ts';
import type { Plant } from './provider-host.ts';

const TURNS = Number(process.env['CRAB_CAMPAIGN'] ?? 2000);
const SEED = 20_260_101;

test(`${TURNS} faulty turns: nothing is lost, run twice, left over or refused`, async () => {
  const { problems, turns, conversations, kept } = await runCampaign({ turns: TURNS, seed: SEED });
  assert.deepEqual(problems, [], `npm run campaign:provider -- --seed ${SEED} --turn N runs one again`);
  assert.equal(turns.length, 2 * TURNS, 'as many turns were run as were asked for, and as many plain ones');
  assert.ok(kept > conversations / 4 && kept < conversations, 'some conversations were kept in files');
});

type Chunks = AsyncIterable<readonly ModelChunk[]>;

/** Every model as it is, but for its answers. */
function answering(
  change: (stream: Model['stream'], ...asked: Parameters<Model['stream']>) => Chunks,
): Plant {
  return {
    models: (models: Models) => ({
      ...models,
      async resolve(name) {
        const model = await models.resolve(name);
        return { ...model, stream: (request, signal) => change(model.stream, request, signal) };
      },
    }),
  };
}

const isFailure = (chunk: ModelChunk) => chunk.type === 'failure';

/** An answer that broke off counts as complete, and a call's input is closed as well as can be. */
async function* believing(chunks: Chunks): Chunks {
  let input = '';
  let call: { readonly id: string; readonly index: number } | undefined;
  for await (const batch of chunks) {
    for (const chunk of batch) {
      if (chunk.type === 'toolUseStart') {
        input = '';
        call = chunk;
      } else if (chunk.type === 'toolUseDelta') input += chunk.delta;
      else if (chunk.type === 'contentBlockStop' && chunk.index === call?.index) call = undefined;
    }
    const failed = batch.find(isFailure);
    if (failed === undefined) {
      yield batch;
      continue;
    }
    const rest: ModelChunk[] = batch.filter((chunk) => !isFailure(chunk));
    if (call !== undefined) {
      const quotes = input.split('"').length - 1;
      rest.push({ type: 'toolUseDelta', id: call.id, delta: quotes % 2 === 1 ? '"}' : '}' });
      rest.push({ type: 'contentBlockStop', index: call.index });
    }
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    yield [...rest, { type: 'end', stopReason: 'toolUse', tokens }];
  }
}

/** A failed answer is asked for again behind what has arrived of it. */
async function* stubborn(stream: Model['stream'], ...asked: Parameters<Model['stream']>): Chunks {
  let heard = false;
  for (let tries = 0; tries < 2; tries++) {
    let failed = false;
    for await (const batch of stream(...asked)) {
      const kept: ModelChunk[] = [];
      for (const chunk of batch) {
        if (chunk.type === 'contentDelta') heard = true;
        if (isFailure(chunk) && heard && tries === 0) failed = true;
        else kept.push(chunk);
      }
      if (kept.length > 0) yield kept;
    }
    if (!failed) return;
  }
}

/** Prompts are accepted and not written. */
const forgetful: Plant = {
  tapes: (tapes: Tapes) => ({
    ...tapes,
    async create(request) {
      const tape = await tapes.create(request);
      const append: typeof tape.append = (bodies) =>
        tape.append(bodies.filter((body) => body.type !== 'message' || body.message.role !== 'user'));
      return new Proxy(tape, {
        get(target, name) {
          if (name === 'append') return append;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  }),
};

const PLANTS: Readonly<Record<string, readonly [plant: Plant, found: RegExp]>> = {
  'an incomplete call is passed on': [
    answering((stream, ...asked) => believing(stream(...asked))),
    /ran, and was never whole/,
  ],
  'an answer is asked for again after its words': [answering(stubborn), /is there twice/],
  'a prompt is accepted and dropped': [forgetful, /the accepted prompt is not on the tape/],
  'results are left out of a history': [
    answering((stream, request, signal) => {
      const messages = request.messages.filter(({ role }) => role !== 'toolResult');
      return stream({ ...request, messages }, signal);
    }),
    /a history was refused/,
  ],
  'a call runs twice': [
    {
      tools: (tools) =>
        tools.map((tool) => ({
          ...tool,
          run: async (input, context) => {
            await tool.run(input, context);
            return tool.run(input, context);
          },
        })),
    },
    /ran 2 times/,
  ],
  'cancelling is not heard': [
    answering((stream, request) => stream(request, AbortSignal.timeout(15_000))),
    /ms after it was cancelled/,
  ],
  'a timer is left over': [
    answering((stream, ...asked) => {
      setTimeout(() => {}, 20_000);
      return stream(...asked);
    }),
    /Timeout are left over/,
  ],
  'an error is thrown where none may be': [
    answering((stream, request, signal) => {
      if (request.messages.some((message) => message.role === 'assistant' && toolCalls(message).length > 2))
        throw new Error('planted');
      return stream(request, signal);
    }),
    /it crashed: planted/,
  ],
  'what an answer cost is counted twice': [
    answering(async function* (stream, ...asked) {
      for await (const batch of stream(...asked))
        yield batch.map((chunk) => {
          if (chunk.type !== 'end') return chunk;
          return { ...chunk, tokens: { ...chunk.tokens, output: 2 * chunk.tokens.output } };
        });
    }),
    /14 tokens of output behind it, where 7 were charged/,
  ],
};

for (const [name, [plant, found]] of Object.entries(PLANTS)) {
  test(`planted: ${name}`, async () => {
    const { problems } = await runCampaign({
      turns: 400,
      seed: 7,
      plant,
      until: found,
      turnLimitMs: 10_000,
    });
    const said = problems.map(({ says }) => says);
    assert.ok(
      said.some((says) => found.test(says)),
      `it went unseen; found were ${JSON.stringify(said)}`,
    );
  });
}
