import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model, ModelChunk, ModelFacts } from '../../core/model.ts';
import { NO_TOKENS } from '../../core/usage.ts';
import { type OwnServer, onOwnServer } from './own-server.ts';
import { modelRequest } from './testing.ts';

const START: ModelChunk = { type: 'messageStart', id: 'c1', model: 'm' };
const END: ModelChunk = { type: 'end', stopReason: 'stop', tokens: { ...NO_TOKENS, input: 10 } };

const MODEL: Model = {
  info: { provider: 'acme', id: 'm', api: 'openai-completions' },
  credential: 'ACME_KEY',
  rateLimit: () => ({ remainingTokens: 7 }),
  stream: async function* () {
    yield [START];
    yield [END];
  },
};

function remote(probe: OwnServer['probe'], fixed: ModelFacts = {}): OwnServer {
  return { name: 'acme', local: false, probe, fixed, widen: undefined, introduction: undefined };
}

const NEVER = new AbortController().signal;

test('a far server is asked beside the first request, not before it, and known when the answer ends', async () => {
  let tell = (_: ModelFacts) => {};
  let asked = 0;
  const model = onOwnServer(
    MODEL,
    remote(() => {
      asked++;
      return new Promise((resolve) => {
        tell = resolve;
      });
    }),
  );
  assert.equal(asked, 0);
  const answer = model.stream(modelRequest(), NEVER)[Symbol.asyncIterator]();
  assert.deepEqual(await answer.next(), { done: false, value: [START] });
  assert.deepEqual([asked, model.info.contextWindow], [1, undefined]);
  const last = answer.next();
  tell({ contextWindow: 5000 });
  assert.deepEqual(await last, { done: false, value: [END] });
  assert.equal(model.info.contextWindow, 5000);
  for await (const _ of model.stream(modelRequest(), NEVER));
  assert.equal(asked, 1, 'and not again, though its price stays unknown');
});

test('a probe ends with the answer that it was begun beside', async () => {
  let signal: AbortSignal | undefined;
  const model = onOwnServer(
    MODEL,
    remote((given) => {
      signal = given;
      return new Promise(() => {});
    }),
  );
  for await (const batch of model.stream(modelRequest(), NEVER)) {
    assert.deepEqual(batch, [START]);
    assert.equal(signal?.aborted, false);
    break;
  }
  assert.equal(signal?.aborted, true);
});

test('nobody is asked for what is known, and nothing else of the model changes', async () => {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  const known = { ...MODEL, info: { ...MODEL.info, contextWindow: 9, price } };
  const model = onOwnServer(
    known,
    remote(() => assert.fail('asked')),
  );
  for await (const _ of model.stream(modelRequest(), NEVER));
  assert.deepEqual({ ...model.info }, known.info);
  assert.deepEqual([model.credential, model.rateLimit?.()], ['ACME_KEY', { remainingTokens: 7 }]);
});
