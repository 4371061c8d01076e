import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import { CATALOGUE } from './catalogue.ts';
import { PROVIDERS } from './providers.ts';
import { type Received, serve, testModels } from './testing.ts';

const LOCAL_ROWS = PROVIDERS.filter(({ local }) => local);
/** Two are enough to see how many are listed. */
const PAIR = PROVIDERS.slice(0, 2);

/** Lists of servers, by path. */
function lists(shapes: Readonly<Record<string, unknown>>) {
  return serve((response, { path }: Received) => {
    const said = shapes[path];
    if (said === undefined) response.writeHead(500).end('out of order');
    else response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
}

test('every provider is listed with what is known of its models, and what is missing', async () => {
  const listings = await testModels({ env: { ANTHROPIC_API_KEY: 'sk-1' }, providers: PAIR }).list();
  assert.deepEqual(
    listings.map(({ models, ...rest }) => ({ ...rest, models: models.length })),
    [
      {
        provider: 'anthropic',
        api: 'anthropic-messages',
        baseUrl: 'https://api.anthropic.com',
        local: false,
        models: Object.keys(CATALOGUE['anthropic']?.models ?? {}).length,
      },
      {
        provider: 'openai',
        api: 'openai-responses',
        baseUrl: 'https://api.openai.com/v1',
        local: false,
        missing:
          'There was no API key found for openai: none of OPENAI_API_KEY is set, and nothing is stored.',
        models: Object.keys(CATALOGUE['openai']?.models ?? {}).length,
      },
    ],
  );
  const chosen = listings.flatMap(({ provider, models }) =>
    models.filter(({ isDefault }) => isDefault).map(({ id }) => `${provider}/${id}`),
  );
  assert.deepEqual(chosen, ['anthropic/claude-sonnet-5-5']);
  assert.deepEqual(
    listings[0]?.models.find(({ id }) => id === 'claude-haiku-4-5'),
    {
      id: 'claude-haiku-4-5',
      source: 'catalogue',
      isDefault: false,
      contextWindow: 200_000,
      maxOutput: 64_000,
      input: ['image', 'pdf'],
      reasoning: true,
      structured: true,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
    },
  );
});

test('a server’s own list, with its own figures, and what the settings say of it', async () => {
  await using server = await lists({
    '/v1/models': {
      data: [
        {
          id: 'moonshotai/kimi-k3',
          context_length: 131072,
          pricing: { prompt: '0.0000006', completion: '0.0000025', input_cache_read: '0.00000015' },
          top_provider: { max_completion_tokens: 16384 },
          architecture: { input_modalities: ['text', 'image', 'file'] },
          supported_parameters: ['tools', 'reasoning'],
        },
        { id: 'tiny', context_window: 8192, max_completion_tokens: 2048 },
        { id: 'auto', pricing: { prompt: '-1', completion: '-1' } },
        { id: 'text-embedding-3-small' },
        { id: 'tiny-20250101' },
      ],
    },
  });
  const settings: Settings = {
    ...NO_SETTINGS,
    providers: { acme: { baseUrl: `${server.url}/v1`, apiKeyEnv: 'ACME_KEY', models: ['hidden'] } },
    models: { 'acme/tiny': { contextWindow: 4096 }, 'acme/further': {}, 'other/x': {} },
    model: 'acme/tiny',
  };
  const models = testModels({ env: { ACME_KEY: 'k' }, settings, providers: PAIR });
  assert.deepEqual(await models.list('acme'), [
    {
      provider: 'acme',
      api: 'openai-completions',
      baseUrl: `${server.url}/v1`,
      local: true,
      models: [
        {
          id: 'moonshotai/kimi-k3',
          source: 'server',
          isDefault: false,
          contextWindow: 131_072,
          maxOutput: 16_384,
          price: { input: 0.6, output: 2.5, cacheRead: 0.15, cacheWrite: 0.6 },
          input: ['image', 'pdf'],
          reasoning: true,
          structured: false,
        },
        { id: 'tiny', source: 'server', isDefault: true, contextWindow: 4096, maxOutput: 2048 },
        { id: 'auto', source: 'server', isDefault: false },
        { id: 'hidden', source: 'settings', isDefault: false },
        { id: 'further', source: 'settings', isDefault: false },
      ],
    },
  ]);
  assert.deepEqual(
    server.received.map(({ path, headers }) => [path, headers.authorization]),
    [['/v1/models', 'Bearer k']],
  );
});

test('one that fails says why, and hides nobody', async () => {
  await using broken = await lists({});
  await using good = await lists({ '/v1/models': { data: [{ id: 'm' }] } });
  const settings: Settings = {
    ...NO_SETTINGS,
    providers: { bad: { baseUrl: `${broken.url}/v1` }, good: { baseUrl: `${good.url}/v1` } },
  };
  const listings = await testModels({ settings, providers: PAIR }).list();
  const seen = listings.map(({ provider, failure, models }) => [
    provider,
    failure?.code,
    models.filter(({ source }) => source === 'server').map(({ id }) => id),
  ]);
  assert.deepEqual(seen, [
    ['bad', 'provider-failed', []],
    ['good', undefined, ['m']],
    ['anthropic', undefined, []],
    ['openai', undefined, []],
  ]);
});

test('a server of this machine is listed when it runs, also beside a key, and costs nothing', async () => {
  await using server = await lists({
    '/v1/models': { data: [{ id: 'qwen3:4b' }] },
  });
  const rows = LOCAL_ROWS.map((row) => ({
    ...row,
    baseUrl: row.name === 'vllm' ? `${server.url}/v1` : 'http://127.0.0.1:1/v1',
  }));
  const models = testModels({ env: { ANTHROPIC_API_KEY: 'sk-1' }, providers: [...PAIR, ...rows] });
  const listings = await models.list();
  assert.deepEqual(
    listings.filter(({ local }) => local),
    [
      {
        provider: 'vllm',
        api: 'openai-completions',
        baseUrl: `${server.url}/v1`,
        local: true,
        models: [
          {
            id: 'qwen3:4b',
            source: 'server',
            isDefault: false,
            price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          },
        ],
      },
    ],
  );
  assert.deepEqual(await models.list('ollama'), [
    {
      provider: 'ollama',
      api: 'openai-completions',
      baseUrl: 'http://127.0.0.1:1/v1',
      local: true,
      missing: 'Nobody answers at 127.0.0.1:1.',
      models: [],
    },
  ]);
});

test('Google’s way to list is understood', async () => {
  await using server = await lists({
    '/v1/models': {
      models: [{ name: 'models/gemini-9', inputTokenLimit: 1_000_000, outputTokenLimit: 65_536 }],
    },
  });
  const settings: Settings = { ...NO_SETTINGS, providers: { acme: { baseUrl: `${server.url}/v1` } } };
  const [listing] = await testModels({ settings, providers: PAIR }).list('acme');
  assert.deepEqual(listing?.models, [
    {
      id: 'gemini-9',
      source: 'server',
      isDefault: true,
      price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 1_000_000,
      maxOutput: 65_536,
    },
  ]);
});

test('a provider that nobody has is refused', async () => {
  await assert.rejects(testModels({ providers: PAIR }).list('acme'), {
    code: 'usage',
    message: 'There is no provider "acme".',
    hint: 'There are anthropic, openai.',
  });
});
