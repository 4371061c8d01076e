import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '../../core/model.ts';
import { PROVIDERS } from './providers.ts';
import {
  assistant,
  chunks,
  helloChunks,
  instantClock,
  modelRequest,
  OPENAI_HELLO,
  outcome,
  sendStream,
  serve,
  sse,
  testModels,
  user,
} from './testing.ts';

const HELLO = sse(
  { type: 'response.created', response: { id: 'resp_1', model: 'gpt-test' } },
  { type: 'response.output_text.delta', output_index: 0, delta: 'Hello' },
  { type: 'response.completed', response: { usage: { input_tokens: 10, output_tokens: 3 } } },
);

/** A row that speaks this wire wherever it is. */
function azureAt(url: string, slept: number[] = []): Promise<Model> {
  const env = { AZURE_OPENAI_API_KEY: 'azure-secret', AZURE_OPENAI_BASE_URL: url };
  return testModels({ env, clock: instantClock(slept) }).resolve('azure/gpt-test');
}

test('an answer over HTTP', async () => {
  await using server = await serve((response) => sendStream(response, HELLO));
  const model = await azureAt(server.url);
  assert.deepEqual(await chunks(model), helloChunks('resp_1', 'gpt-test'));
  assert.deepEqual(model.info, {
    provider: 'azure',
    id: 'gpt-test',
    api: 'openai-responses',
    structured: true,
    local: true,
  });
  const [request] = server.received;
  assert.equal(request?.path, '/openai/v1/responses');
  assert.equal(request?.headers['api-key'], 'azure-secret');
  assert.equal(JSON.parse(request?.body ?? '').store, false);
});

test('OpenAI is asked over this wire at its own host, and over the older one elsewhere', async () => {
  await using server = await serve((response, { path }) =>
    sendStream(response, path === '/v1/responses' ? HELLO : OPENAI_HELLO),
  );
  const own = PROVIDERS.map((row) => (row.name === 'openai' ? { ...row, baseUrl: `${server.url}/v1` } : row));
  const key = { OPENAI_API_KEY: 'sk-secret' };
  const api = async (env: object, providers = PROVIDERS) => {
    const model = await testModels({ env: { ...key, ...env }, providers }).resolve('openai/gpt-test');
    await chunks(model);
    return `${model.info.api} ${server.received.at(-1)?.path}`;
  };
  assert.equal(await api({}, own), 'openai-responses /v1/responses');
  const url = `${server.url}/v1/responses`;
  assert.equal(await api({ OPENAI_BASE_URL: url }, own), 'openai-responses /v1/responses');
  assert.equal(await api({ OPENAI_BASE_URL: url }), 'openai-completions /v1/chat/completions');
});

test('the address of Azure is understood with and without what stands below it', async () => {
  await using server = await serve((response) => sendStream(response, HELLO));
  for (const below of ['', '/', '/openai', '/openai/v1/', '/openai/v1/responses']) {
    await chunks(await azureAt(`${server.url}${below}`));
  }
  const paths = new Set(server.received.map(({ path }) => path));
  assert.deepEqual([...paths], ['/openai/v1/responses']);
});

test('the name of an Azure resource is enough, and without one there is no address', async () => {
  const resolve = async (env: object) => {
    const models = testModels({ env: { AZURE_OPENAI_API_KEY: 'k', ...env } });
    return (await models.resolve('azure/mine')).info.api;
  };
  assert.equal(await resolve({ AZURE_OPENAI_RESOURCE_NAME: 'crab-1' }), 'openai-responses');
  const hint =
    'Set AZURE_OPENAI_RESOURCE_NAME or AZURE_RESOURCE_NAME, or resource in [providers.azure] of the settings file.';
  await assert.rejects(resolve({}), {
    code: 'usage',
    message:
      'No resource is known for azure: none of AZURE_OPENAI_RESOURCE_NAME, AZURE_RESOURCE_NAME is set.',
    hint,
  });
  await assert.rejects(resolve({ AZURE_OPENAI_RESOURCE_NAME: 'evil.example/' }), {
    code: 'usage',
    message: 'AZURE_OPENAI_RESOURCE_NAME is not the name of a resource: "evil.example/".',
    hint,
  });
});

for (const [status, error, code, tries, leastWait] of [
  [400, { code: 'context_length_exceeded', message: 'Too long' }, 'context-overflow', 1, 0],
  [401, { code: 'invalid_api_key', message: 'No' }, 'auth-refused', 1, 0],
  [429, { code: 'insufficient_quota', message: 'Pay' }, 'quota-exhausted', 1, 0],
  [429, { type: 'usage_limit_reached', message: 'The limit' }, 'quota-exhausted', 1, 0],
  [429, { code: 'rate_limit_exceeded', message: 'Please try again in 20s.' }, 'rate-limited', 5, 20_000],
  [503, { code: 'server_is_overloaded', message: 'Later' }, 'provider-overloaded', 5, 0],
] as const) {
  test(`${status} ${JSON.stringify(error)} is ${code} after ${tries} tries`, async () => {
    await using server = await serve((response) => response.writeHead(status).end(JSON.stringify({ error })));
    const slept: number[] = [];
    const last = (await chunks(await azureAt(server.url, slept))).at(-1);
    assert.equal(last?.type === 'failure' && last.error.code, code);
    assert.equal(server.received.length, tries);
    assert.deepEqual([slept.length, slept.filter((wait) => wait < leastWait)], [tries - 1, []]);
  });
}

test('a response that fails before its first content is asked for again', async () => {
  const failed = { type: 'response.failed', response: { error: { code: 'server_error', message: 'Oops' } } };
  await using server = await serve((response, _, turn) =>
    sendStream(response, turn === 0 ? sse(failed) : HELLO),
  );
  const [retry, ...rest] = await chunks(await azureAt(server.url));
  assert.equal(retry?.type === 'retry' && retry.reason, 'azure reported server_error: Oops');
  assert.deepEqual(rest, helloChunks('resp_1', 'gpt-test'));
});

test('an answer that ends before it is said to be complete is cut', async () => {
  await using server = await serve((response) =>
    sendStream(response, HELLO.slice(0, HELLO.lastIndexOf('event:'))),
  );
  const last = (await chunks(await azureAt(server.url))).at(-1);
  assert.deepEqual(outcome(last), {
    code: 'stream-cut',
    message: 'azure ended its answer in the middle.',
    retryable: true,
  });
});

test('what a turn brought goes back with the next', async () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' };
  await using server = await serve((response) => sendStream(response, HELLO));
  const model = await azureAt(server.url);
  const { api, provider, id } = model.info;
  const messages = [
    user('Hi'),
    assistant(
      [
        { type: 'thinking', thinking: '', thinkingSignature: JSON.stringify(item) },
        { type: 'text', text: 'Hello' },
      ],
      { api, provider, model: id },
    ),
    user('Again'),
  ];
  await chunks(model, modelRequest({ model: id, messages }));
  assert.deepEqual(JSON.parse(server.received[0]?.body ?? '').input[1], item);
});
