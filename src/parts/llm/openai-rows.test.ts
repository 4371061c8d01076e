// Each provider of Chat Completions over real HTTP: the address, the credential and the whole body of one request that
// has everything in it, for the default model and for those that differ.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { COMPATIBLE_PROVIDERS, OPENAI_CHAT, OPENAI_PROVIDERS } from './openai-providers.ts';
import type { ProviderRow } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import {
  assistant,
  chunks,
  modelRequest,
  OPENAI_HELLO,
  sendStream,
  serve,
  testModels,
  user,
} from './testing.ts';

const LS: ToolSchema = { name: 'ls', description: 'Lists.', input: { type: 'object' } };
const READ: ToolSchema = { name: 'read', description: 'Reads.', input: { type: 'object' } };

function wireTool({ name, description, input }: ToolSchema, more: object = {}): object {
  return { type: 'function', function: { name, description, parameters: input, ...more } };
}

/** A turn in which this very model thought and called a tool. */
function history(provider: string, model: string): readonly Message[] {
  const own = { api: 'openai-completions', provider, model };
  return [
    user('Hi'),
    assistant(
      [
        { type: 'thinking', thinking: 'Hm.', thinkingSignature: '[{"type":"reasoning.text","text":"Hm."}]' },
        { type: 'toolCall', id: 'call_1', name: 'ls', arguments: { path: '.' } },
      ],
      own,
    ),
    {
      role: 'toolResult',
      toolCallId: 'call_1',
      toolName: 'ls',
      content: [{ type: 'text', text: 'a.ts' }],
      isError: false,
      timestamp: 0,
    },
  ];
}

function everything(provider: string, model: string): ModelRequest {
  return modelRequest({
    model,
    system: 'Be good.',
    messages: history(provider, model),
    tools: [LS],
    effort: 'high',
    fast: true,
    conversation: 'c-1',
  });
}

/** What a server that differs in nothing is sent. */
const PLAIN = {
  max_tokens: 1000,
  stream: true,
  stream_options: { include_usage: true },
  reasoning_effort: 'high',
  tools: [wireTool(LS)],
  messages: messages(),
};

function messages({ system = {}, answer = {}, result = {}, id = 'call_1' }: Differences = {}): object[] {
  const call = { id, type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } };
  return [
    { role: 'system', content: 'Be good.', ...system },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call], ...answer },
    { role: 'tool', tool_call_id: id, content: 'a.ts', ...result },
  ];
}

interface Differences {
  readonly system?: object;
  readonly answer?: object;
  readonly result?: object;
  readonly id?: string;
}

interface Expected {
  readonly provider: string;
  /** The default model when absent. */
  readonly model?: string;
  /** `/base/chat/completions` when absent. */
  readonly path?: string;
  /** Headers beside the bearer token. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What differs from a plain body; undefined for what is not there. */
  readonly body?: Readonly<Record<string, unknown>>;
}

const NO_EFFORT = { reasoning_effort: undefined };
const NO_USAGE = { stream_options: undefined };
const COMPLETION_TOKENS = { max_tokens: undefined, max_completion_tokens: 1000 };
const THINKING = { thinking: { type: 'enabled' } };
const TEMPLATE = { chat_template_kwargs: { enable_thinking: true, thinking: true } };
const CONTENT = { messages: messages({ answer: { reasoning_content: 'Hm.' } }) };
const REASONING = { messages: messages({ answer: { reasoning: 'Hm.' } }) };
const DETAILS = { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] };
const MARK = { cache_control: { type: 'ephemeral' } };
const MARKED = [
  { role: 'system', content: [{ type: 'text', text: 'Be good.', ...MARK }] },
  { role: 'user', content: [{ type: 'text', text: 'Hi', ...MARK }] },
  { ...messages()[2] },
  { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'a.ts', ...MARK }] },
];
const SESSION = { 'x-opencode-session': 'c-1' };
/** `call_1` in nine letters and digits. */
const NINE = '2ua7qnopv';

const EXPECTED: readonly Expected[] = [
  {
    provider: 'azure-chat',
    model: 'my-gpt',
    path: '/base/openai/v1/chat/completions',
    headers: { 'api-key': 'k', authorization: '' },
    body: { ...COMPLETION_TOKENS, prompt_cache_key: 'c-1' },
  },
  { provider: 'deepseek', body: { ...THINKING, ...CONTENT } },
  {
    provider: 'mistral',
    model: 'devstral-2512',
    headers: { 'x-affinity': 'c-1' },
    body: { ...NO_USAGE, ...NO_EFFORT, messages: messages({ id: NINE, result: { name: 'ls' } }) },
  },
  {
    provider: 'mistral',
    headers: { 'x-affinity': 'c-1' },
    body: {
      ...NO_USAGE,
      messages: messages({
        id: NINE,
        answer: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] },
        result: { name: 'ls' },
      }),
    },
  },
  { provider: 'xai', headers: { 'x-grok-conv-id': 'c-1' }, body: COMPLETION_TOKENS },
  {
    provider: 'xai',
    model: 'grok-code-fast-1',
    headers: { 'x-grok-conv-id': 'c-1' },
    body: { ...COMPLETION_TOKENS, ...NO_EFFORT },
  },
  { provider: 'moonshot', body: { ...NO_EFFORT, ...CONTENT, prompt_cache_key: 'c-1' } },
  {
    provider: 'moonshot',
    model: 'kimi-k2.6',
    body: { ...NO_EFFORT, ...THINKING, ...CONTENT, prompt_cache_key: 'c-1' },
  },
  { provider: 'zai', body: { ...THINKING, ...CONTENT } },
  { provider: 'zai', model: 'glm-4.7', body: { ...THINKING, ...NO_EFFORT, ...CONTENT } },
  { provider: 'dashscope', body: { ...NO_EFFORT, enable_thinking: true } },
  {
    provider: 'minimax',
    body: { ...NO_EFFORT, messages: messages({ answer: { content: '<think>\nHm.\n</think>\n\n' } }) },
  },
  { provider: 'xiaomi', body: { ...COMPLETION_TOKENS, ...NO_EFFORT, ...THINKING, ...CONTENT } },
  { provider: 'cohere' },
  {
    provider: 'perplexity',
    body: {
      ...NO_USAGE,
      ...NO_EFFORT,
      tools: undefined,
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'The result of ls:\na.ts' },
      ],
    },
  },
  { provider: 'opencode', headers: SESSION, body: CONTENT },
  { provider: 'opencode', model: 'kimi-k2.7-code', headers: SESSION, body: { ...NO_EFFORT, ...CONTENT } },
  { provider: 'opencode-zen', headers: SESSION, body: CONTENT },
  {
    provider: 'openrouter',
    headers: { 'x-title': 'Crab' },
    body: {
      ...NO_USAGE,
      ...NO_EFFORT,
      reasoning: { effort: 'high' },
      messages: MARKED.map((message) => ('tool_calls' in message ? { ...message, ...DETAILS } : message)),
    },
  },
  {
    provider: 'openrouter',
    model: 'openai/gpt-5.5',
    headers: { 'x-title': 'Crab' },
    body: {
      ...NO_USAGE,
      ...NO_EFFORT,
      reasoning: { effort: 'high' },
      messages: messages({ answer: DETAILS }),
    },
  },
  {
    provider: 'vercel',
    model: 'zai/glm-5.2',
    body: { ...NO_EFFORT, reasoning: { effort: 'high' }, messages: messages({ answer: DETAILS }) },
  },
  { provider: 'groq', body: COMPLETION_TOKENS },
  { provider: 'groq', model: 'qwen/qwen3-32b', body: { ...COMPLETION_TOKENS, reasoning_effort: 'default' } },
  { provider: 'groq', model: 'llama-3.3-70b-versatile', body: { ...COMPLETION_TOKENS, ...NO_EFFORT } },
  { provider: 'together', body: TEMPLATE },
  { provider: 'together', model: 'openai/gpt-oss-120b' },
  {
    provider: 'fireworks',
    headers: { 'x-session-affinity': 'c-1' },
    body: { ...CONTENT, service_tier: 'priority' },
  },
  { provider: 'cerebras', body: COMPLETION_TOKENS },
  { provider: 'cerebras', model: 'zai-glm-4.7', body: { ...COMPLETION_TOKENS, ...NO_EFFORT } },
  { provider: 'nvidia', body: { ...NO_EFFORT, ...TEMPLATE, ...CONTENT } },
  { provider: 'deepinfra', body: CONTENT },
  { provider: 'nebius' },
  { provider: 'baseten', body: NO_EFFORT },
  { provider: 'novita', body: { ...NO_EFFORT, enable_thinking: true } },
  { provider: 'siliconflow', body: { ...NO_EFFORT, enable_thinking: true } },
  { provider: 'ollama-cloud', body: REASONING },
  { provider: 'huggingface' },
  { provider: 'github-models', body: NO_EFFORT },
  { provider: 'ollama', model: 'qwen3', headers: { authorization: '' }, body: REASONING },
  { provider: 'lmstudio', model: 'qwen3' },
  { provider: 'llamacpp', model: 'qwen3', body: { ...TEMPLATE, ...CONTENT, parallel_tool_calls: true } },
  { provider: 'vllm', model: 'qwen3', body: { ...TEMPLATE, ...REASONING, max_tokens: undefined } },
  { provider: 'litellm', model: 'gpt' },
  { provider: 'litellm', model: 'claude-sonnet-5', body: { messages: MARKED } },
];

function rowOf(name: string): ProviderRow {
  return COMPATIBLE_PROVIDERS.find((row) => row.name === name) ?? assert.fail(`there is no row ${name}`);
}

/** The variables that a person sets: the address, and a key. */
function environment({ auth, baseUrlKey = '' }: ProviderRow, url: string): Record<string, string> {
  const key = auth.kind === 'key' ? auth.variables[0]?.name : undefined;
  return { [baseUrlKey]: url, ...(key !== undefined && { [key]: 'k' }) };
}

async function received(row: ProviderRow, options: { base?: string; request: ModelRequest }) {
  await using server = await serve((response) => sendStream(response, OPENAI_HELLO));
  const env = environment(row, `${server.url}${options.base ?? '/base'}`);
  const model = await testModels({ env, providers: [row] }).resolve(`${row.name}/${options.request.model}`);
  assert.equal((await chunks(model, options.request)).at(-1)?.type, 'end');
  // Beside it, some servers are asked what they know of the model.
  const first = server.received.find(({ path }) => path.includes('/chat/completions'));
  assert.ok(first);
  return { ...first, body: JSON.parse(first.body) };
}

suite('a provider of Chat Completions', () => {
  for (const { provider, model, path = '/base/chat/completions', headers = {}, body = {} } of EXPECTED) {
    const row = rowOf(provider);
    const id = model ?? row.defaultModel ?? assert.fail(`${provider} has no default model`);
    test(`${provider} is asked for ${id} in its own way`, async () => {
      const got = await received(row, { request: everything(provider, id) });
      const expected = Object.entries({ model: id, ...PLAIN, ...body }).filter(
        ([, value]) => value !== undefined,
      );
      assert.deepEqual(got.body, Object.fromEntries(expected));
      assert.equal(got.path, path);
      for (const [name, value] of Object.entries({ authorization: 'Bearer k', ...headers }))
        assert.equal(got.headers[name] ?? '', value, name);
    });
  }

  test('has a test here, each of them', () => {
    const tested = new Set(EXPECTED.map(({ provider }) => provider));
    assert.deepEqual([...tested].sort(), COMPATIBLE_PROVIDERS.map(({ name }) => name).sort());
  });
});

for (const [base, path] of [
  ['', '/openai/v1/chat/completions'],
  ['/openai/v1/', '/openai/v1/chat/completions'],
  ['/openai/v1/?api-version=preview', '/openai/v1/chat/completions?api-version=preview'],
  ['/?api-version=2024-10-21', '/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21'],
  [
    '/openai/deployments/other/chat/completions?api-version=2024-10-21',
    '/openai/deployments/other/chat/completions?api-version=2024-10-21',
  ],
] as const) {
  test(`an address at Azure with ${base || 'nothing'} behind the host leads to ${path}`, async () => {
    assert.equal(
      (await received(rowOf('azure-chat'), { base, request: modelRequest({ model: 'my-gpt' }) })).path,
      path,
    );
  });
}

test('the address at Azure may be that of a resource by its name, and the key is that of the newer API', async () => {
  const env = { AZURE_OPENAI_API_KEY: 'k' };
  await assert.rejects(testModels({ env }).resolve('azure-chat/x'), {
    code: 'usage',
    message:
      'No resource is known for azure-chat: none of AZURE_OPENAI_RESOURCE_NAME, AZURE_RESOURCE_NAME is set.',
  });
  const models = testModels({
    env: { ...env, AZURE_OPENAI_RESOURCE_NAME: 'mine', AZURE_OPENAI_DEPLOYMENT: 'd' },
  });
  assert.equal((await models.resolve('azure-chat/x')).info.api, 'openai-completions');
  assert.equal((await models.resolve()).info.provider, 'azure');
});

test('Chat Completions at an OPENAI_BASE_URL of one’s own are those of a local server', async () => {
  const [row] = OPENAI_PROVIDERS;
  assert.ok(row);
  assert.equal(row.moved, OPENAI_CHAT);
  const { body, path, headers } = await received(row, { request: everything('openai', 'qwen3') });
  assert.deepEqual(body, { model: 'qwen3', ...PLAIN });
  assert.deepEqual([path, headers.authorization], ['/base/chat/completions', 'Bearer k']);
});

suite('a tool is demanded', () => {
  for (const [provider, model, expected] of [
    [
      'openrouter',
      'm',
      { tool_choice: { type: 'function', function: { name: 'ls' } }, tools: ['read', 'ls'] },
    ],
    ['llamacpp', 'm', { tool_choice: 'required', tools: ['ls'] }],
    ['ollama', 'm', { tools: ['ls'] }],
    [
      'deepseek',
      'deepseek-v4-pro',
      {
        tool_choice: { type: 'function', function: { name: 'ls' } },
        tools: ['read', 'ls'],
        thinking: { type: 'disabled' },
      },
    ],
    ['perplexity', 'sonar', {}],
  ] as const) {
    test(`of ${provider} as it understands it`, async () => {
      const request = modelRequest({ model, tools: [READ, LS], toolChoice: 'ls' });
      const { body } = await received(rowOf(provider), { request });
      const { tool_choice, tools, thinking } = body;
      const names = tools?.map((tool: { function: { name: string } }) => tool.function.name);
      assert.deepEqual(JSON.parse(JSON.stringify({ tool_choice, tools: names, thinking })), expected);
    });
  }
});

suite('an effort', () => {
  for (const [provider, model, effort, expected] of [
    ['deepseek', 'deepseek-v4-pro', 'off', { thinking: { type: 'disabled' } }],
    ['deepseek', 'deepseek-v4-pro', 'max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    ['openrouter', 'm', 'off', { reasoning: { effort: 'none' } }],
    ['openrouter', 'm', 'max', { reasoning: { effort: 'xhigh' } }],
    ['cerebras', 'zai-glm-4.7', 'off', { reasoning_effort: 'none' }],
    ['xai', 'grok-4.3', 'off', { reasoning_effort: 'none' }],
    ['dashscope', 'qwen3.7-plus', 'off', { enable_thinking: false }],
    ['vllm', 'm', 'off', { chat_template_kwargs: { enable_thinking: false, thinking: false } }],
    ['github-models', 'openai/gpt-4.1', 'max', {}],
  ] as const) {
    test(`of ${effort} for ${model} at ${provider}`, async () => {
      const { body } = await received(rowOf(provider), { request: modelRequest({ model, effort }) });
      const { reasoning_effort, reasoning, thinking, enable_thinking, chat_template_kwargs } = body;
      const said = { reasoning_effort, reasoning, thinking, enable_thinking, chat_template_kwargs };
      assert.deepEqual(JSON.parse(JSON.stringify(said)), expected);
    });
  }
});

suite('a bare id', () => {
  const IDS = [
    ...PROVIDERS.flatMap(({ defaultModel }) => defaultModel ?? []),
    'claude-opus-5',
    'gpt-5.5',
    'gpt-oss-120b',
    'o3',
    'chatgpt-4o-latest',
    'deepseek-v4-pro',
    'deepseek-chat',
    'deepseek-r1',
    'mistral-large-latest',
    'magistral-medium-latest',
    'devstral-2512',
    'mistral',
    'devstral',
    'mistral-small:24b',
    'grok-4.3',
    'kimi-k2.6',
    'kimi-k2:1t',
    'glm-4.7',
    'glm-4.7-flash',
    'glm-4.7-flash:q8',
    'qwen3-coder',
    'qwen3-coder-plus',
    'qwen3:8b',
    'qwen3-max',
    'qwen-plus-latest',
    'MiniMax-M3',
    'mimo-v2.5',
    'sonar',
    'command-a-03-2025',
    'llama3.3',
    'gemma4',
  ];

  test('means one provider at most', () => {
    const claims = IDS.map(
      (id) => [id, PROVIDERS.filter(({ ids }) => ids?.test(id)).map(({ name }) => name)] as const,
    );
    assert.deepEqual(
      claims.filter(([, names]) => names.length > 1),
      [],
    );
    const local = [
      'deepseek-r1',
      'mistral',
      'devstral',
      'mistral-small:24b',
      'kimi-k2:1t',
      'glm-4.7-flash:q8',
      'qwen3-coder',
      'qwen3:8b',
      'llama3.3',
      'gemma4',
    ];
    const free = claims.filter(([, names]) => names.length === 0).map(([id]) => id);
    assert.deepEqual(
      local.filter((id) => !free.includes(id)),
      [],
    );
  });

  test('of a default model means its own provider, where any', () => {
    const wrong = PROVIDERS.flatMap(({ name, defaultModel = '', ids }) =>
      ids !== undefined && !ids.test(defaultModel) ? [name] : [],
    );
    assert.deepEqual(wrong, []);
  });
});

test('rows have names, addresses and variables of their own', () => {
  const names = PROVIDERS.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at || !/^[a-z][a-z0-9-]*$/.test(name)),
    [],
  );
  const keys = PROVIDERS.flatMap(({ baseUrlKey, modelKey }) => [baseUrlKey, modelKey]).filter(
    (key) => key !== undefined,
  );
  assert.deepEqual(
    keys.filter((key, at) => keys.indexOf(key) !== at || !/^[A-Z][A-Z0-9_]*$/.test(key)),
    [],
  );
  for (const { baseUrl, local = false } of PROVIDERS)
    assert.equal(/^https:/.test(baseUrl) || local || baseUrl.includes('127.0.0.1'), true, baseUrl);
});

suite('a provider that nobody named', () => {
  for (const [env, expected] of [
    [{ GITHUB_TOKEN: 'k', HF_TOKEN: 'k', DEEPSEEK_API_KEY: 'k' }, 'deepseek'],
    [{ GROQ_API_KEY: 'k', OLLAMA_API_KEY: 'k' }, 'groq'],
    [{ GITHUB_TOKEN: 'k', GITHUB_MODELS_MODEL: 'openai/gpt-4.1' }, 'github-models'],
    [{ OPENCODE_API_KEY: 'k' }, 'opencode'],
    [{ OLLAMA_BASE_URL: 'http://127.0.0.1:1/v1', OLLAMA_MODEL: 'm' }, 'ollama'],
    [{ VLLM_API_KEY: 'k', VLLM_MODEL: 'm' }, 'vllm'],
  ] as const) {
    test(`is ${expected} with ${Object.keys(env)}`, async () => {
      assert.equal((await testModels({ env }).resolve()).info.provider, expected);
    });
  }

  test('is never one whose variable is set for other things', async () => {
    await assert.rejects(testModels({ env: { GITHUB_TOKEN: 'k', HF_TOKEN: 'k' } }).resolve(), {
      code: 'auth-missing',
    });
    const { info } = await testModels({ env: { GITHUB_TOKEN: 'k' } }).resolve('github-models/openai/gpt-4.1');
    assert.deepEqual([info.provider, info.id], ['github-models', 'openai/gpt-4.1']);
  });

  test('is never a local server at its usual address, which needs no key when it is named', async () => {
    await assert.rejects(testModels({ env: {} }).resolve(), { code: 'auth-missing' });
    assert.equal((await testModels({ env: {} }).resolve('ollama/qwen3')).info.provider, 'ollama');
  });
});
