import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '../../core/model.ts';
import { explain } from './gemini-errors.ts';
import { chunks, helloChunks, instantClock, outcome, sendStream, serve, sse, testModels } from './testing.ts';

const HELLO = sse(
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }],
    ...{ responseId: 'r1', modelVersion: 'gemini-test' },
  },
  {
    candidates: [{ finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3 },
  },
);

function geminiAt(url: string, slept: number[] = []): Promise<Model> {
  const env = { GEMINI_API_KEY: 'g-secret', GOOGLE_GEMINI_BASE_URL: `${url}/v1beta` };
  return testModels({ env, clock: instantClock(slept) }).resolve('gemini-3.8-flash');
}

test('an answer over HTTP', async () => {
  await using server = await serve((response) => sendStream(response, HELLO));
  const model = await geminiAt(server.url);
  assert.deepEqual(await chunks(model), helloChunks('r1', 'gemini-test'));
  const { api, provider, structured } = model.info;
  assert.deepEqual(
    { api, provider, structured },
    {
      api: 'google-generative-ai',
      provider: 'google',
      structured: true,
    },
  );
  const [request] = server.received;
  assert.equal(request?.path, '/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
  assert.equal(request?.headers['x-goog-api-key'], 'g-secret');
});

test('the other name of the key is known too, and the first one wins', async () => {
  await using server = await serve((response) => sendStream(response, HELLO));
  const keyOf = async (env: object) => {
    const models = testModels({ env: { GOOGLE_GEMINI_BASE_URL: server.url, ...env } });
    await chunks(await models.resolve('gemini-x'));
    return server.received.at(-1)?.headers['x-goog-api-key'];
  };
  assert.equal(await keyOf({ GOOGLE_API_KEY: 'b' }), 'b');
  assert.equal(await keyOf({ GOOGLE_API_KEY: 'b', GEMINI_API_KEY: 'a' }), 'a');
});

test('an answer that said why it stopped is whole even if the connection breaks then', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-length': HELLO.length + 10 });
    response.write(HELLO, () => response.destroy());
  });
  assert.deepEqual(await chunks(await geminiAt(server.url)), helloChunks('r1', 'gemini-test'));
});

test('a limit is waited for as long as its details say', async () => {
  const error = {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota, please check your plan and billing details.',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }],
  };
  await using server = await serve((response, _, turn) =>
    turn === 0 ? response.writeHead(429).end(JSON.stringify([{ error }])) : sendStream(response, HELLO),
  );
  const slept: number[] = [];
  const [retry, ...rest] = await chunks(await geminiAt(server.url, slept));
  assert.equal(retry?.type, 'retry');
  assert.ok(slept.length === 1 && (slept[0] ?? 0) >= 34_500, String(slept));
  assert.deepEqual(rest, helloChunks('r1', 'gemini-test'));
});

test('a call that the model got wrong is asked for again', async () => {
  const malformed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
  await using server = await serve((response, _, turn) =>
    sendStream(response, turn === 0 ? sse(malformed) : HELLO),
  );
  const [retry, ...rest] = await chunks(await geminiAt(server.url));
  const reason = 'google reported MALFORMED_FUNCTION_CALL: The model broke off its answer.';
  assert.equal(retry?.type === 'retry' && retry.reason, reason);
  assert.deepEqual(rest, helloChunks('r1', 'gemini-test'));
});

test('an answer that breaks off before it says why it stopped is cut', async () => {
  await using server = await serve((response) =>
    sendStream(response, HELLO.slice(0, HELLO.lastIndexOf('data:'))),
  );
  const last = (await chunks(await geminiAt(server.url))).at(-1);
  assert.deepEqual(outcome(last), {
    code: 'stream-cut',
    message: 'google ended its answer in the middle.',
    retryable: true,
  });
});

const PER_DAY = { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] };

for (const [error, expected] of [
  [
    { code: 400, status: 'INVALID_ARGUMENT', message: 'No', details: [{ reason: 'API_KEY_INVALID' }] },
    { type: 'INVALID_ARGUMENT', message: 'No', code: 'auth-refused', status: 400 },
  ],
  [
    {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
    },
    {
      type: 'INVALID_ARGUMENT',
      message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      code: 'context-overflow',
      status: 400,
    },
  ],
  [
    {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'Enough',
      details: [null, PER_DAY, { retryDelay: '9s' }],
    },
    { type: 'RESOURCE_EXHAUSTED', message: 'Enough', code: 'quota-exhausted', status: 429 },
  ],
  [
    { code: 403, status: 'PERMISSION_DENIED', message: 'No' },
    { type: 'PERMISSION_DENIED', message: 'No', code: 'auth-refused', status: 403 },
  ],
  [
    { code: 500, status: 'NEVER_SEEN', message: null, details: {} },
    { type: 'NEVER_SEEN', message: '', status: 500 },
  ],
] as const) {
  test(`${JSON.stringify(error)} means ${'code' in expected ? expected.code : 'what its status says'}`, () => {
    assert.deepEqual(explain({ error }), expected);
  });
}

test('a body that is no error is not explained', () => {
  for (const body of [null, 3, [], {}, { error: 'x' }, { message: 'x' }]) {
    assert.equal(explain(body), undefined);
  }
});
