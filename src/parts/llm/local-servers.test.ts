// Servers on this machine as they really answer: what they list, what they tell of a model, and how they count a prompt.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { Model, ModelChunk } from '../../core/model.ts';
import { endpointOf } from './endpoint.ts';
import type { ModelsOptions } from './models.ts';
import type { ProviderRow } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import {
  assistant,
  chunks,
  type Loopback,
  modelRequest,
  type Received,
  sendStream,
  serve,
  sse,
  testModels,
  user,
} from './testing.ts';

const LOCAL_ROWS = PROVIDERS.filter(({ local }) => local);

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What a server answers, by method and path; a function sees what was asked before. */
type Shape = Readonly<Record<string, object | ((received: readonly Received[]) => object)>>;

const SHAPES: Readonly<Record<string, Shape>> = {
  ollama: {
    'GET /v1/models': {
      object: 'list',
      data: [
        { id: 'nomic-embed-text:latest', object: 'model', created: 1, owned_by: 'library' },
        { id: 'qwen3:4b', object: 'model', created: 1, owned_by: 'library' },
      ],
    },
    // Empty until the first prompt has loaded the model.
    'GET /api/ps': (received) => ({
      models: received.some(({ path }) => path === '/v1/chat/completions')
        ? [{ name: 'qwen3:4b', model: 'qwen3:4b', size: 1, context_length: 4096 }]
        : [],
    }),
    'POST /api/show': {
      parameters: 'temperature                    0.6\nstop                           "<|im_end|>"',
      model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 262144 },
      capabilities: ['completion', 'tools', 'thinking'],
    },
  },
  lmstudio: {
    'GET /v1/models': {
      object: 'list',
      data: [
        { id: 'text-embedding-nomic', object: 'model' },
        { id: 'google/gemma-3-4b', object: 'model' },
      ],
    },
    'GET /api/v0/models': {
      object: 'list',
      data: [
        { id: 'text-embedding-nomic', type: 'embeddings', state: 'not-loaded', max_context_length: 2048 },
        {
          id: 'google/gemma-3-4b',
          type: 'vlm',
          state: 'loaded',
          max_context_length: 131072,
          loaded_context_length: 4096,
        },
      ],
    },
  },
  llamacpp: {
    'GET /v1/models': {
      object: 'list',
      data: [{ id: 'model.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 131072 } }],
    },
    'GET /props?model=model.gguf&autoload=false': {
      default_generation_settings: { n_ctx: 4096, params: {} },
      total_slots: 1,
      modalities: { vision: false, audio: false },
    },
  },
  vllm: {
    'GET /v1/models': {
      object: 'list',
      data: [{ id: 'Qwen/Qwen3-8B', object: 'model', owned_by: 'vllm', max_model_len: 4096 }],
    },
  },
};

interface Running extends AsyncDisposable {
  readonly server: Loopback;
  readonly row: ProviderRow;
  /** Tokens of a prompt that the next answer counts. */
  counts: number;
}

async function run(name: string): Promise<Running> {
  const shape = SHAPES[name] ?? {};
  const running = { counts: 10 };
  const server = await serve((response, { method, path }) => {
    if (method === 'POST' && path === '/v1/chat/completions') {
      sendStream(response, answer(running.counts));
      return;
    }
    const said = shape[`${method} ${path}`];
    if (said === undefined) response.writeHead(404).end('{"error":"not found"}');
    else response.end(JSON.stringify(typeof said === 'function' ? said(server.received) : said));
  });
  const usual = LOCAL_ROWS.find((row) => row.name === name) ?? assert.fail(name);
  const row = { ...usual, baseUrl: `${server.url}/v1` };
  return Object.assign(running, { server, row, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
}

function answer(promptTokens: number): string {
  return sse(
    { id: 'c1', model: 'm', choices: [{ delta: { role: 'assistant', content: 'Hello' } }] },
    { id: 'c1', choices: [{ delta: {}, finish_reason: 'stop' }] },
    { id: 'c1', choices: [], usage: { prompt_tokens: promptTokens, completion_tokens: 3 } },
    '[DONE]',
  );
}

function modelsOf(
  rows: readonly ProviderRow[],
  env: ModelsOptions['env'] = {},
): ReturnType<typeof testModels> {
  return testModels({ env, providers: [...PROVIDERS.filter(({ local }) => !local), ...rows] });
}

function notices(said: readonly ModelChunk[]): readonly string[] {
  return said.flatMap((chunk) => (chunk.type === 'notice' ? [chunk.text] : []));
}

for (const [name, id, facts] of [
  ['ollama', 'qwen3:4b', { input: [], reasoning: true }],
  ['lmstudio', 'google/gemma-3-4b', { contextWindow: 4096, input: ['image'] }],
  ['llamacpp', 'model.gguf', { contextWindow: 4096, input: [] }],
  ['vllm', 'Qwen/Qwen3-8B', { contextWindow: 4096 }],
] as const) {
  test(`${name} is found with nothing set up, with the window that it really has`, async () => {
    await using running = await run(name);
    const model = await modelsOf([running.row]).resolve();
    const info = {
      provider: name,
      id,
      api: 'openai-completions',
      price: FREE,
      structured: true,
      local: true,
    };
    assert.deepEqual({ ...model.info }, { ...info, ...facts });
    assert.equal(model.credential, undefined);
    const said = await chunks(model);
    assert.deepEqual(notices(said), [
      `No key is set, so ${id} is asked, which ${name} serves on this machine.`,
    ]);
    assert.deepEqual(
      said.map(({ type }) => type),
      ['notice', 'messageStart', 'contentDelta', 'contentBlockStop', 'end'],
    );
    assert.equal(model.info.contextWindow, 4096, 'after the first answer, which loads the model');
    assert.deepEqual(notices(await chunks(model)), []);
    assert.ok(running.server.received.every(({ headers }) => headers.authorization === undefined));
  });

  test(`${name}: a prompt that was cut is told of, with figures and a remedy`, async () => {
    await using running = await run(name);
    running.counts = name === 'ollama' ? 2050 : 4090;
    const model = await modelsOf([running.row]).resolve(`${name}/${id}`);
    const request = modelRequest({ system: 'Be brief. '.repeat(4000), messages: [user('Hi')] });
    const counted = name === 'ollama' ? '2,050' : '4,090';
    assert.deepEqual(notices(await chunks(model, request)), [
      `${name} at 127.0.0.1:${running.server.port} read ${counted} tokens of a prompt of at least 5,001, because its ` +
        'context window has 4,096: the beginning, with the instructions, was cut off. To mend it, ' +
        `${running.row.widen}.`,
    ]);
    assert.deepEqual(notices(await chunks(model, request)), [], 'once a conversation');
  });
}

async function vllm(counts: readonly number[], requests: readonly ReturnType<typeof modelRequest>[]) {
  await using running = await run('vllm');
  const model: Model = await modelsOf([running.row]).resolve('vllm/Qwen/Qwen3-8B');
  const told: (readonly string[])[] = [];
  for (const [at, request] of requests.entries()) {
    running.counts = counts[at] ?? 0;
    told.push(notices(await chunks(model, request)).map((text) => text.replace(/^.*? read /, '')));
  }
  return told;
}

test('a conversation whose prompt became shorter while it grew was cut', async () => {
  const first = user('Hello there');
  const more = [first, assistant([{ type: 'text', text: 'Hi' }]), user('And now?'.repeat(50))];
  const told = await vllm(
    [3900, 2200],
    [modelRequest({ messages: [first] }), modelRequest({ messages: more })],
  );
  assert.deepEqual(told, [
    [],
    [
      '2,200 tokens of a prompt of at least 3,900, because its context window has 4,096: the beginning, with the ' +
        'instructions, was cut off. To mend it, start vLLM with a larger --max-model-len.',
    ],
  ]);
});

test('a prompt that became shorter for a good reason was not', async () => {
  const first = user('Hello there');
  const before = modelRequest({ messages: [first, user('long '.repeat(1000))] });
  const compacted = modelRequest({ messages: [first, user('short')] });
  const other = modelRequest({ messages: [user('Hello there'), user('long '.repeat(2000))] });
  const thought = [
    first,
    assistant([{ type: 'thinking', thinking: 'x'.repeat(4000) }]),
    user('a'.repeat(6000)),
  ];
  const forgot = modelRequest({ messages: thought });
  assert.deepEqual(await vllm([4000, 2100], [before, compacted]), [[], []]);
  assert.deepEqual(await vllm([4000, 2100], [before, other]), [[], []]);
  assert.deepEqual(await vllm([4000, 2100], [before, forgot]), [[], []]);
});

test('honest counts are believed, at the edge of the window as well', async () => {
  const prompt = (tokens: number) => modelRequest({ messages: [user('word'.repeat(tokens))] });
  assert.deepEqual(
    await vllm([2050, 4090, 3000, 100], [prompt(2000), prompt(4000), prompt(3100), prompt(90)]),
    [[], [], [], []],
  );
});

test('with a credential, or an address of one’s own, nobody looks', async () => {
  await using running = await run('ollama');
  const models = modelsOf([running.row], { ANTHROPIC_API_KEY: 'sk-1' });
  assert.equal((await models.resolve()).info.provider, 'anthropic');
  assert.equal((await models.resolve('orca')).info.provider, 'anthropic');
  const moved = modelsOf([running.row], { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'm' });
  assert.equal((await moved.resolve()).info.provider, 'openai');
  assert.deepEqual(running.server.received, []);
});

test('the first in the order of the rows is taken, and a bare name finds the server that has it', async () => {
  await using studio = await run('lmstudio');
  await using vllmServer = await run('vllm');
  const models = modelsOf([studio.row, vllmServer.row]);
  assert.equal((await models.resolve()).info.provider, 'lmstudio');
  assert.equal((await models.resolve('Qwen/Qwen3-8B')).info.provider, 'vllm');
});

test('where nobody listens, or what listens has no models, the key is missing as ever', async () => {
  await using page = await serve((response) => response.end('<html>'));
  await using empty = await serve((response) => response.end('{"data":[]}'));
  await using silent = await serve(() => {});
  const at = (url: string): ProviderRow => ({ ...(LOCAL_ROWS[0] as ProviderRow), baseUrl: `${url}/v1` });
  for (const rows of [[], [at(page.url), at(empty.url), at('http://127.0.0.1:1')], [at(silent.url)]]) {
    await assert.rejects(modelsOf(rows).resolve(), (thrown) => {
      assert.ok(thrown instanceof CrabError);
      assert.equal(thrown.code, 'auth-missing');
      return true;
    });
  }
  await assert.rejects(modelsOf([at(empty.url)]).resolve('claude-x'), { code: 'auth-missing' });
});

test('a server that listens on IPv6 alone is found', async (t) => {
  const server = createServer((_, response) => response.end('{"data":[{"id":"m6"}]}'));
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, '::1', () => resolve(true));
  });
  if (!listens) return t.skip('no IPv6 here');
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const usual = LOCAL_ROWS.find(({ name }) => name === 'vllm') ?? assert.fail();
    const row = { ...usual, baseUrl: `http://127.0.0.1:${port}/v1` };
    assert.equal((await modelsOf([row]).resolve()).info.id, 'm6');
    assert.equal((await modelsOf([row]).resolve('vllm/other')).info.id, 'other');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a server at a port of one’s own choice is asked as what usually listens there', async () => {
  await using running = await run('llamacpp');
  const env = { OPENAI_BASE_URL: `${running.server.url}/v1`, OPENAI_API_KEY: 'k' };
  const { info } = await modelsOf([running.row], env).resolve('openai/model.gguf');
  assert.deepEqual(
    { provider: info.provider, contextWindow: info.contextWindow },
    { provider: 'openai', contextWindow: 4096 },
  );
});

const OLLAMA = LOCAL_ROWS.find(({ name }) => name === 'ollama') ?? assert.fail();
for (const [host, url] of [
  [undefined, 'http://127.0.0.1:11434/v1'],
  ['', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0:9999', 'http://127.0.0.1:9999/v1'],
  [':9999', 'http://127.0.0.1:9999/v1'],
  ['[::]:9999', 'http://127.0.0.1:9999/v1'],
  ['box', 'http://box:11434/v1'],
  ['http://box:1234/', 'http://box:1234/v1'],
  ['https://box/ollama/v1', 'https://box/ollama/v1'],
] as const) {
  test(`OLLAMA_HOST=${host} means ${url}`, () => {
    assert.equal(endpointOf(OLLAMA, { OLLAMA_HOST: host }).baseUrl.href, url);
  });
}
