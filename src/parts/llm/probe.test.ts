import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelInfo } from '../../core/model.ts';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import type { ProbeName, ProviderRow } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import { chunks, type Loopback, OPENAI_HELLO, sendStream, serve, testModels } from './testing.ts';

/** A server that answers prompts, and `said` to whoever asks for more. */
function knowing(path: string, said: object): Promise<Loopback> {
  return serve((response, request) => {
    if (request.method === 'POST') sendStream(response, OPENAI_HELLO);
    else if (request.path === path) response.end(JSON.stringify(said));
    else response.writeHead(404).end();
  });
}

/** What is known of a model before and after its first answer. */
async function learned(
  server: Loopback,
  probe: ProbeName,
  settings: Settings = NO_SETTINGS,
): Promise<{ before: ModelInfo; after: ModelInfo; asked: readonly string[] }> {
  const known = PROVIDERS.find(({ name }) => name === 'litellm') ?? assert.fail();
  const { baseUrlKey: _, modelKey: __, ...plain } = known;
  const auth = { kind: 'key', variables: [{ name: 'ACME_KEY', style: 'bearer' }], style: 'bearer' } as const;
  const row: ProviderRow = { ...plain, name: 'acme', baseUrl: `${server.url}/v1`, auth, probe };
  const models = testModels({ env: { ACME_KEY: 'k' }, providers: [row], settings });
  const model = await models.resolve('acme/org/large');
  const before = { ...model.info };
  for (let turn = 0; turn < 3; turn++) assert.equal((await chunks(model)).at(-1)?.type, 'end');
  const asked = server.received.filter(({ method }) => method === 'GET').map(({ path }) => path);
  return { before, after: { ...model.info }, asked };
}

const ACME = { provider: 'acme', id: 'org/large', api: 'openai-completions', local: true };

test('LiteLLM tells limits, prices and abilities', async () => {
  await using server = await knowing('/model/info', {
    data: [
      { model_name: 'other', model_info: { max_input_tokens: 1 } },
      {
        model_name: 'org/large',
        model_info: {
          max_input_tokens: 200_000,
          max_output_tokens: 64_000,
          input_cost_per_token: 3e-6,
          output_cost_per_token: 1.5e-5,
          cache_read_input_token_cost: 3e-7,
          cache_creation_input_token_cost: null,
          supports_vision: true,
          supports_pdf_input: true,
          supports_reasoning: false,
          supports_response_schema: true,
        },
      },
    ],
  });
  const { before, after, asked } = await learned(server, 'litellm');
  const facts = {
    contextWindow: 200_000,
    maxOutput: 64_000,
    price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 },
    input: ['image', 'pdf'],
    reasoning: false,
    structured: true,
  };
  assert.deepEqual(
    [before, after],
    [
      { ...ACME, ...facts },
      { ...ACME, ...facts },
    ],
  );
  assert.deepEqual(asked, ['/model/info'], 'once a model');
});

test('what the settings say wins over what the server says', async () => {
  await using server = await knowing('/v1/models', {
    data: [{ id: 'org/large', context_length: 1_000_000, max_completion_tokens: 1000 }],
  });
  const settings = { ...NO_SETTINGS, models: { 'org/large': { contextWindow: 50_000 } } };
  const { after } = await learned(server, 'list', settings);
  assert.deepEqual(after, { ...ACME, contextWindow: 50_000, maxOutput: 1000 });
});

for (const [name, said] of [
  ['of another shape', { data: 'nothing' }],
  [
    'with figures that are none',
    { data: [{ id: 'org/large', context_length: -1, pricing: { prompt: 'much' } }] },
  ],
  ['without the model', { data: [{ id: 'org/small', context_length: 5 }] }],
] as const) {
  test(`an answer ${name} teaches nothing, and is asked for only so often`, async () => {
    await using server = await knowing('/v1/models', said);
    const { after, asked } = await learned(server, 'list');
    assert.deepEqual(after, ACME);
    assert.ok(asked.length <= 3, `${asked.length} times`);
  });
}

test('a server that refuses to tell is used all the same', async () => {
  await using server = await knowing('/nowhere', {});
  for (const probe of ['ollama', 'llamacpp', 'lmstudio', 'litellm', 'list'] as const)
    assert.deepEqual((await learned(server, probe)).after, ACME);
});
