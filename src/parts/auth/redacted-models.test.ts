import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { ModelChunk, ModelRequest } from '../../core/model.ts';
import { createSecrets } from '../../core/redact.ts';
import { NO_TOKENS } from '../../core/usage.ts';
import { redactedError, redactedModels, redactedStream } from './redacted-models.ts';

const SECRET = 'zz-top-SECRET-0123456789';
const REQUEST: ModelRequest = { model: 'm', system: '', messages: [], tools: [], maxTokens: 1 };
const END: ModelChunk = { type: 'end', stopReason: 'stop', tokens: NO_TOKENS };

function knowing() {
  const secrets = createSecrets();
  secrets.add([SECRET]);
  return secrets;
}

async function heard(batches: readonly (readonly ModelChunk[])[]): Promise<readonly ModelChunk[][]> {
  async function* stream() {
    yield* batches;
  }
  const all: ModelChunk[][] = [];
  for await (const batch of redactedStream(stream, knowing())(REQUEST, new AbortController().signal))
    all.push([...batch]);
  return all;
}

test('a secret in the pieces of a text, of thinking and of a call is never heard', async () => {
  const half = SECRET.length / 2;
  const [head, tail] = [SECRET.slice(0, half), SECRET.slice(half)];
  const said = await heard([
    [{ type: 'contentDelta', index: 0, delta: `key: ${head}` }],
    [
      { type: 'contentDelta', index: 0, delta: `${tail}!` },
      { type: 'contentBlockStop', index: 0 },
    ],
    [{ type: 'thinkingDelta', index: 1, delta: head }],
    [
      { type: 'thinkingDelta', index: 1, delta: tail },
      { type: 'contentBlockStop', index: 1 },
    ],
    [{ type: 'toolUseStart', index: 2, id: 'c', name: `a_${SECRET}` }],
    [{ type: 'toolUseDelta', id: 'c', delta: `{"command":"echo ${head}` }],
    [
      { type: 'toolUseDelta', id: 'c', delta: `${tail}"}` },
      { type: 'contentBlockStop', index: 2 },
    ],
    [END],
  ]);
  assert.deepEqual(said, [
    [{ type: 'contentDelta', index: 0, delta: 'key: ' }],
    [
      { type: 'contentDelta', index: 0, delta: '[redacted]!' },
      { type: 'contentBlockStop', index: 0 },
    ],
    [
      { type: 'thinkingDelta', index: 1, delta: '[redacted]' },
      { type: 'contentBlockStop', index: 1 },
    ],
    [{ type: 'toolUseStart', index: 2, id: 'c', name: 'a_redacted' }],
    [{ type: 'toolUseDelta', id: 'c', delta: '{"command":"echo ' }],
    [
      { type: 'toolUseDelta', id: 'c', delta: '[redacted]"}' },
      { type: 'contentBlockStop', index: 2 },
    ],
    [END],
  ]);
});

test('the proof of thinking that was changed is dropped, since the provider would refuse it with other words', async () => {
  const proof = (index: number): ModelChunk => ({ type: 'thinkingSignature', index, signature: 's' });
  const said = await heard([
    [{ type: 'thinkingDelta', index: 0, delta: `so ${SECRET}` }, proof(0)],
    [{ type: 'thinkingDelta', index: 1, delta: 'zz' }, proof(1), { type: 'contentBlockStop', index: 1 }],
  ]);
  assert.deepEqual(said, [
    [{ type: 'thinkingDelta', index: 0, delta: 'so [redacted]' }],
    [proof(1), { type: 'thinkingDelta', index: 1, delta: 'zz' }, { type: 'contentBlockStop', index: 1 }],
  ]);
});

test('what only begins like a secret is said at the latest when its block ends', async () => {
  const said = await heard([
    [{ type: 'contentDelta', index: 0, delta: 'see zz-' }],
    [{ type: 'contentBlockStop', index: 0 }],
    [{ type: 'contentDelta', index: 1, delta: 'and zz' }],
    [END],
  ]);
  assert.deepEqual(said, [
    [{ type: 'contentDelta', index: 0, delta: 'see ' }],
    [
      { type: 'contentDelta', index: 0, delta: 'zz-' },
      { type: 'contentBlockStop', index: 0 },
    ],
    [{ type: 'contentDelta', index: 1, delta: 'and ' }],
    [{ type: 'contentDelta', index: 1, delta: 'zz' }, END],
  ]);
});

test('chunks without a secret are passed on as the objects that they were', async () => {
  const chunks: readonly ModelChunk[] = [
    { type: 'messageStart', id: '1', model: 'm' },
    { type: 'contentDelta', index: 0, delta: 'hello ' },
    { type: 'textSignature', index: 0, signature: SECRET },
    { type: 'citation', index: 0, citation: { url: 'https://example.com' } },
    END,
  ];
  const [said = []] = await heard([chunks]);
  assert.equal(said.length, chunks.length);
  for (const [at, chunk] of chunks.entries()) assert.equal(said[at], chunk);
});

test('a failure and a retry are told without known secrets and without what looks like one', async () => {
  const other = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  const error = new CrabError('auth-refused', `bad key ${SECRET} or ${other}`, {
    hint: `not ${SECRET}`,
    status: 401,
    retryAfterMs: 7,
    retryable: true,
    cause: new Error(SECRET),
  });
  const [batch = []] = await heard([
    [
      { type: 'retry', attempt: 1, maxAttempts: 2, delayMs: 0, reason: `bad ${SECRET} ${other}` },
      { type: 'contentDelta', index: 0, delta: 'z' },
      { type: 'failure', error },
    ],
  ]);
  const [retry, rest, failure] = batch;
  assert.deepEqual(retry, {
    type: 'retry',
    attempt: 1,
    maxAttempts: 2,
    delayMs: 0,
    reason: 'bad [redacted] [redacted]',
  });
  assert.deepEqual(rest, { type: 'contentDelta', index: 0, delta: 'z' });
  assert.ok(failure?.type === 'failure');
  const { code, message, hint, status, retryAfterMs, retryable, cause } = failure.error;
  assert.deepEqual(
    { code, message, hint, status, retryAfterMs, retryable, cause },
    {
      code: 'auth-refused',
      message: 'bad key [redacted] or [redacted]',
      hint: 'not [redacted]',
      status: 401,
      retryAfterMs: 7,
      retryable: true,
      cause: undefined,
    },
  );
});

test('an error that holds no secret stays the same object', async () => {
  const error = new CrabError('network', 'x could not be reached');
  assert.equal(await redactedError(error, knowing()), error);
});

test('a model that is found twice is the same model, and one that is not found says so without a secret', async () => {
  const model = { info: { provider: 'p', id: 'm', api: 'a' }, stream: async function* () {} };
  const models = redactedModels(
    {
      resolve: async (name) => {
        if (name === undefined) return model;
        throw new CrabError('model-unknown', `no ${name}`);
      },
      list: async () => [],
    },
    knowing(),
  );
  assert.equal(await models.resolve(), await models.resolve());
  await assert.rejects(models.resolve(SECRET), { code: 'model-unknown', message: 'no [redacted]' });
});
