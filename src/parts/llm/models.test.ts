import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { ModelsOptions } from './models.ts';
import { PROVIDERS } from './providers.ts';
import { chunks, helloChunks, modelRequest, OPENAI_HELLO, sendStream, serve, testModels } from './testing.ts';

const ANTHROPIC = { ANTHROPIC_API_KEY: 'sk-ant-1' };
const OPENAI = { OPENAI_API_KEY: 'sk-2' };

async function named(name: string | undefined, env: ModelsOptions['env']): Promise<string> {
  const { info } = await testModels({ env }).resolve(name);
  return `${info.provider}: ${info.id}`;
}

/** The error without its stack, for comparison as a whole. */
async function refusal(name: string | undefined, env: ModelsOptions['env']): Promise<object> {
  try {
    await testModels({ env }).resolve(name);
  } catch (error) {
    if (error instanceof CrabError) return { code: error.code, message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error('resolved');
}

for (const [name, env, expected] of [
  ['anthropic/claude-x', ANTHROPIC, 'anthropic: claude-x'],
  ['openai/claude-x', OPENAI, 'openai: claude-x'],
  ['openai/meta-llama/Llama-3', OPENAI, 'openai: meta-llama/Llama-3'],
  ['meta-llama/Llama-3', OPENAI, 'openai: meta-llama/Llama-3'],
  ['claude-x', { ...OPENAI, ...ANTHROPIC }, 'anthropic: claude-x'],
  ['gpt-x', { ...OPENAI, ...ANTHROPIC }, 'openai: gpt-x'],
  ['o3', { ...OPENAI, ...ANTHROPIC }, 'openai: o3'],
  ['chatgpt-4o-latest', { ...OPENAI, ...ANTHROPIC }, 'openai: chatgpt-4o-latest'],
  ['orca', { ...OPENAI, ...ANTHROPIC }, 'anthropic: orca'],
  ['orca', OPENAI, 'openai: orca'],
  [undefined, { ...OPENAI, ...ANTHROPIC }, 'anthropic: claude-sonnet-5-5'],
  [' ', OPENAI, 'openai: gpt-6.2-sol'],
  [undefined, { ...ANTHROPIC, ANTHROPIC_MODEL: 'claude-y' }, 'anthropic: claude-y'],
  [undefined, { ...OPENAI, OPENAI_MODEL: 'gpt-y' }, 'openai: gpt-y'],
  [undefined, { OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_MODEL: 'local' }, 'openai: local'],
  [undefined, { ANTHROPIC_API_KEY: '', ...OPENAI }, 'openai: gpt-6.2-sol'],
  [undefined, { ANTHROPIC_AUTH_TOKEN: 'token' }, 'anthropic: claude-sonnet-5-5'],
] as const) {
  test(`${name} with ${Object.keys(env)} is ${expected}`, async () => {
    assert.equal(await named(name, env), expected);
  });
}

test('what is known of a model comes with it, also under a dated name', async () => {
  const { info } = await testModels({ env: ANTHROPIC }).resolve('claude-sonnet-4-5-20250929');
  assert.deepEqual(info, {
    provider: 'anthropic',
    id: 'claude-sonnet-4-5-20250929',
    api: 'anthropic-messages',
    contextWindow: 200_000,
    maxOutput: 64_000,
    price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    input: ['image', 'pdf'],
    reasoning: true,
    structured: true,
  });
  const unknown = await testModels({ env: OPENAI }).resolve('openai/constructor');
  assert.deepEqual(unknown.info, {
    provider: 'openai',
    id: 'constructor',
    api: 'openai-responses',
    structured: true,
  });
});

test('a model that is asked for again is the same, with all that it remembers', async () => {
  const models = testModels({ env: ANTHROPIC });
  assert.equal(await models.resolve('claude-x'), await models.resolve('anthropic/claude-x'));
});

test('without a key the variables are named', async () => {
  assert.deepEqual(await refusal('claude-x', OPENAI), {
    code: 'auth-missing',
    message:
      'There was no API key found for anthropic: none of ANTHROPIC_AUTH_TOKEN, ANTHROPIC_API_KEY is set, and nothing is stored.',
    hint: 'Set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY, or run `crab auth login`.',
  });
  assert.deepEqual(await refusal(undefined, {}), {
    code: 'auth-missing',
    message:
      'There was no API key found for anthropic or openai: none of ANTHROPIC_AUTH_TOKEN, ANTHROPIC_API_KEY, OPENAI_API_KEY is set, and nothing is stored, ' +
      `nor for one of ${PROVIDERS.length - 2} others.`,
    hint:
      'Set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY or OPENAI_API_KEY or OPENAI_BASE_URL for a local server, or run `crab auth login`. ' +
      `\`docs/guide/providers.md\` lists ${PROVIDERS.length - 2} providers more.`,
  });
  assert.deepEqual(await refusal('gpt-x', { OPENAI_API_KEY: ' \n' }), {
    code: 'auth-missing',
    message: 'OPENAI_API_KEY is set, but empty.',
    hint: 'Set OPENAI_API_KEY or OPENAI_BASE_URL for a local server, or run `crab auth login`.',
  });
});

for (const [key, what] of [
  ['sk-1\nsk-2', 'a space or a line break'],
  ['sk 1', 'a space or a line break'],
  ['“sk-1”', 'a character that no key has'],
] as const) {
  test(`the key ${JSON.stringify(key)} is refused without being shown`, async () => {
    assert.deepEqual(await refusal('gpt-x', { OPENAI_API_KEY: key }), {
      code: 'auth-refused',
      message: `The value of OPENAI_API_KEY has ${what} in it.`,
      hint: 'Set OPENAI_API_KEY to the key alone.',
    });
  });
}

for (const [baseUrl, message] of [
  ['localhost:8080', 'OPENAI_BASE_URL is not an http or https URL.'],
  ['ftp://x', 'OPENAI_BASE_URL is not an http or https URL.'],
  ['nonsense', 'OPENAI_BASE_URL is not an http or https URL.'],
  ['http://me:secret@x/', 'OPENAI_BASE_URL must not hold a user name or a password.'],
] as const) {
  test(`the base URL ${baseUrl} is refused`, async () => {
    const { code, message: said } = (await refusal('openai/x', { OPENAI_BASE_URL: baseUrl })) as CrabError;
    assert.deepEqual({ code, said }, { code: 'usage', said: message });
  });
}

test('what cannot be the name of a model is refused', async () => {
  for (const name of ['openai/', 'a b', 'claude-\n']) {
    const env = { ...OPENAI, ...ANTHROPIC };
    if (name.trim() === name) assert.equal(((await refusal(name, env)) as CrabError).code, 'model-unknown');
    else assert.equal(await named(name, env), `anthropic: ${name.trim()}`);
  }
});

test('a setting of retries that is none is refused when a model is asked for', async () => {
  assert.deepEqual(await refusal('gpt-x', { ...OPENAI, CRAB_MAX_RETRIES: 'lots' }), {
    code: 'usage',
    message: 'CRAB_MAX_RETRIES must be a whole number from 0 to 10.',
    hint: 'Unset it to get 4.',
  });
});

for (const [suffix, path] of [
  ['', '/v1/messages'],
  ['/', '/v1/messages'],
  ['/v1', '/v1/messages'],
  ['/v1/messages/', '/v1/messages'],
  ['/proxy/messages', '/proxy/v1/messages'],
  ['/proxy/v1//', '/proxy/v1/messages'],
  ['/proxy?team=1#x', '/proxy/v1/messages?team=1'],
] as const) {
  test(`the anthropic base URL with ${suffix || 'nothing'} behind the host leads to ${path}`, async () => {
    await using server = await serve((response) => response.writeHead(400).end());
    const env = { ...ANTHROPIC, ANTHROPIC_BASE_URL: `${server.url}${suffix}` };
    await chunks(await testModels({ env }).resolve());
    assert.deepEqual(
      server.received.map((request) => request.path),
      [path],
    );
  });
}

for (const [suffix, path] of [
  ['', '/chat/completions'],
  ['/v1/', '/v1/chat/completions'],
  ['/v1/chat/completions', '/v1/chat/completions'],
] as const) {
  test(`the openai base URL with ${suffix || 'nothing'} behind the host leads to ${path}`, async () => {
    await using server = await serve((response) => response.writeHead(400).end());
    const env = { OPENAI_BASE_URL: `${server.url}${suffix}` };
    await chunks(await testModels({ env }).resolve('openai/x'));
    assert.deepEqual(
      server.received.map((request) => request.path),
      [path],
    );
  });
}

test('a server without a model named is asked for its list, once, and without a key', async () => {
  await using server = await serve((response, { method }) => {
    if (method === 'GET') response.end(JSON.stringify({ data: [{ id: 'org/first' }, { id: 'second' }] }));
    else sendStream(response, OPENAI_HELLO);
  });
  const models = testModels({ env: { OPENAI_BASE_URL: `${server.url}/v1` } });
  const model = await models.resolve();
  assert.equal((await models.resolve()).info.id, 'org/first');
  assert.deepEqual(
    await chunks(model, modelRequest({ model: model.info.id })),
    helloChunks('c1', 'local-test'),
  );
  assert.deepEqual(
    server.received.map(({ method, path, headers }) => [method, path, headers.authorization]),
    [
      ['GET', '/v1/models', undefined],
      ['POST', '/v1/chat/completions', undefined],
    ],
  );
});

for (const [name, status, body, expected] of [
  ['no models', 200, '{"data":[]}', { code: 'model-unknown', message: 'HOST has no model to offer.' }],
  [
    'a web page',
    200,
    '<html>\u0007hello</html>',
    {
      code: 'provider-protocol',
      message: 'openai at HOST did not answer with a list of models: <html> hello</html>',
    },
  ],
  [
    'a refusal',
    401,
    'sk-2 is wrong',
    { code: 'auth-refused', message: 'openai answered 401: [key] is wrong' },
  ],
] as const) {
  test(`a list of models that is ${name} says so`, async () => {
    await using server = await serve((response) => response.writeHead(status).end(body));
    const { code, message } = (await refusal(undefined, {
      ...OPENAI,
      OPENAI_BASE_URL: server.url,
    })) as CrabError;
    assert.deepEqual({ code, message: message.replace(/127.0.0.1:\d+/, 'HOST') }, expected);
  });
}

test('a further provider costs a row', async () => {
  await using server = await serve((response) => sendStream(response, OPENAI_HELLO));
  const [, openai] = PROVIDERS;
  assert.ok(openai?.moved);
  const row = {
    ...openai,
    dialect: openai.moved,
    name: 'acme',
    baseUrl: `${server.url}/api/v3`,
    baseUrlKey: 'ACME_BASE_URL',
    auth: { kind: 'key', variables: [{ name: 'ACME_KEY', style: 'bearer' }], style: 'bearer' },
    ids: /^acme-/,
  } as const;
  const models = testModels({ env: { ACME_KEY: 'k' }, providers: [...PROVIDERS, row] });
  const model = await models.resolve('acme-1');
  assert.equal(model.info.provider, 'acme');
  assert.deepEqual(await chunks(model), helloChunks('c1', 'local-test'));
  assert.equal(server.received[0]?.path, '/api/v3/chat/completions');
  assert.equal(server.received[0]?.headers.authorization, 'Bearer k');
});
