import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { NO_SETTINGS, type ProviderSettings, type Settings } from '../../core/settings.ts';
import type { ModelsOptions } from './models.ts';
import { quirksFor } from './openai-quirks.ts';
import { withOwnProviders } from './own-providers.ts';
import { PROVIDERS } from './providers.ts';
import {
  ANTHROPIC_HELLO,
  chunks,
  helloChunks,
  OPENAI_HELLO,
  type Received,
  sendStream,
  serve,
  testModels,
} from './testing.ts';

function settingsWith(
  providers: Readonly<Record<string, ProviderSettings>>,
  more: Partial<Settings> = {},
): Settings {
  return { ...NO_SETTINGS, ...more, providers };
}

function modelsWith(settings: Settings, env: ModelsOptions['env'] = {}): ReturnType<typeof testModels> {
  return testModels({ env, settings });
}

/** What reached a server of both wires. */
async function speaking() {
  const server = await serve((response, { method, path }) => {
    if (method === 'GET') response.end(JSON.stringify({ data: [{ id: 'listed-1' }] }));
    else sendStream(response, path.endsWith('/messages') ? ANTHROPIC_HELLO : OPENAI_HELLO);
  });
  return server;
}

function sent({ method, path, headers, body }: Received) {
  const { authorization, 'x-api-key': key, 'x-team': team } = headers;
  return { method, path, authorization, key, team, model: JSON.parse(body || '{}').model };
}

test('a new provider is an entry of the settings, and no code', async () => {
  await using server = await speaking();
  const settings = settingsWith({
    acme: {
      baseUrl: `${server.url}/llm/v1/chat/completions`,
      apiKeyEnv: 'ACME_SECRET',
      headers: { 'X-Team': 'shells' },
      models: ['acme-large', 'acme-small'],
    },
  });
  const model = await modelsWith(settings, { ACME_SECRET: 'k', ANTHROPIC_API_KEY: 'sk-1' }).resolve(
    'acme-small',
  );
  assert.deepEqual(model.info, {
    provider: 'acme',
    id: 'acme-small',
    api: 'openai-completions',
    local: true,
  });
  assert.equal(model.credential, 'ACME_SECRET');
  assert.deepEqual(await chunks(model), helloChunks('c1', 'local-test'));
  assert.deepEqual(sent(server.received.find(({ method }) => method === 'POST') ?? assert.fail()), {
    method: 'POST',
    path: '/llm/v1/chat/completions',
    authorization: 'Bearer k',
    key: undefined,
    team: 'shells',
    model: 'test',
  });
});

test('a new provider may speak any wire', async () => {
  await using server = await speaking();
  const acme = { api: 'anthropic-messages', baseUrl: server.url, apiKey: 'literal' };
  const scheme = withOwnProviders(PROVIDERS, settingsWith({ acme }))[0]?.auth;
  assert.deepEqual(scheme, {
    kind: 'key',
    variables: [{ name: 'ACME_API_KEY', style: 'x-api-key' }],
    style: 'x-api-key',
    literal: 'literal',
  });
  const model = await modelsWith(settingsWith({ acme }), { ACME_API_KEY: 'k' }).resolve('acme/any');
  assert.equal((await chunks(model)).at(-1)?.type, 'end');
  const { path, key } = sent(server.received[0] ?? assert.fail());
  assert.deepEqual({ path, key }, { path: '/v1/messages', key: 'k' });
});

test('what an entry says of keys becomes the scheme that credentials are found by', () => {
  const oauth = {
    authorizeUrl: 'https://acme.example/authorize',
    tokenUrl: 'https://acme.example/token',
    clientId: 'crab',
  };
  const entry = { baseUrl: 'https://acme.example', apiKeyHelper: 'pass acme', oauth };
  const [row] = withOwnProviders([...PROVIDERS], settingsWith({ 'my-acme.2': entry }));
  assert.deepEqual(row?.auth, {
    kind: 'key',
    variables: [{ name: 'MY_ACME_2_API_KEY', style: 'bearer' }],
    style: 'bearer',
    helper: 'pass acme',
    oauth: { ...oauth, scopes: [] },
  });
  assert.equal(row?.keyless, false);
});

test('a provider that names no key needs none, and its first model is its default', async () => {
  await using server = await speaking();
  const acme = { baseUrl: `${server.url}/v1`, models: ['first', 'second'] };
  const models = modelsWith(settingsWith({ acme }), { ANTHROPIC_API_KEY: 'sk-1' });
  assert.deepEqual(
    [(await models.resolve()).info.provider, (await models.resolve()).info.id],
    ['acme', 'first'],
  );
  const lister = modelsWith(settingsWith({ acme: { baseUrl: `${server.url}/v1` } }));
  assert.equal((await lister.resolve()).info.id, 'listed-1');
  const named = modelsWith(settingsWith({ acme: { ...acme, defaultModel: 'chosen' } }));
  assert.equal((await named.resolve()).info.id, 'chosen');
});

test('an entry of a built-in name changes what it names, and what is spoken at the new address', () => {
  const openai = { baseUrl: 'http://127.0.0.1:9/v1/', defaultModel: 'own', headers: { 'X-Team': 't' } };
  const rows = withOwnProviders(PROVIDERS, settingsWith({ openai }));
  const { moved, ...before } = PROVIDERS.find(({ name }) => name === 'openai') ?? assert.fail();
  assert.deepEqual(
    rows.find(({ name }) => name === 'openai'),
    {
      ...before,
      dialect: moved,
      baseUrl: 'http://127.0.0.1:9/v1',
      ownUrl: true,
      defaultModel: 'own',
      headers: { 'x-team': 't' },
    },
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    PROVIDERS.map(({ name }) => name),
  );
});

test('quirks reach the request, and win over those of the row', async () => {
  await using server = await speaking();
  const quirks = { maxTokensField: 'max_completion_tokens', thinkTags: false, streamUsage: false };
  const providers = { openai: { baseUrl: `${server.url}/v1`, quirks } };
  const [, row] = withOwnProviders(PROVIDERS, settingsWith(providers));
  assert.equal(
    row?.dialect.wire,
    'openai-completions',
    'which most servers speak, though OpenAI speaks another',
  );
  const held = quirksFor(row.dialect, 'any', new URL(row.baseUrl));
  assert.deepEqual([held.thinkTags, held.textCalls], [false, true], 'the latter is what a server here gets');
  await chunks(await modelsWith(settingsWith(providers)).resolve('openai/any'));
  const body = JSON.parse(server.received.find(({ method }) => method === 'POST')?.body ?? '{}');
  assert.deepEqual(
    [body.max_completion_tokens, body.max_tokens, body.stream_options],
    [1000, undefined, undefined],
  );
});

test('a command’s environment wins over the file', async () => {
  await using server = await speaking();
  const settings = settingsWith({ openai: { baseUrl: 'http://127.0.0.1:9/v1', defaultModel: 'own' } });
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_MODEL: 'theirs' };
  const model = await modelsWith(settings, env).resolve();
  assert.equal(model.info.id, 'theirs');
  assert.equal((await chunks(model)).at(-1)?.type, 'end');
});

test('the model of the settings is asked when none is named', async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-1', OPENAI_API_KEY: 'sk-2' };
  const models = modelsWith({ ...NO_SETTINGS, model: 'openai/gpt-5.2' }, env);
  assert.equal((await models.resolve()).info.id, 'gpt-5.2');
  assert.equal((await models.resolve('claude-x')).info.id, 'claude-x');
});

test('what the settings say of a model wins, and the provider’s own name before the bare one', async () => {
  const settings: Settings = {
    ...NO_SETTINGS,
    models: {
      'claude-sonnet-4-5': { maxOutput: 1000, price: { input: 1, output: 2, cacheRead: 0.5 } },
      'anthropic/claude-sonnet-4-5': { contextWindow: 5000, input: [] },
      'openai/claude-sonnet-4-5': { contextWindow: 1 },
    },
  };
  const { info } = await modelsWith(settings, { ANTHROPIC_API_KEY: 'sk-1' }).resolve('claude-sonnet-4-5');
  assert.deepEqual(info, {
    provider: 'anthropic',
    id: 'claude-sonnet-4-5',
    api: 'anthropic-messages',
    contextWindow: 5000,
    maxOutput: 1000,
    price: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 1 },
    input: [],
    reasoning: true,
    structured: true,
  });
});

const HERE = 'https://acme.example/v1';
for (const [name, providers, message] of [
  ['no address', { acme: {} }, 'providers.acme.base_url is missing, and there is no built-in provider acme.'],
  [
    'a wire that nobody speaks',
    { acme: { baseUrl: HERE, api: 'telepathy' } },
    'providers.acme.api "telepathy" is not known: there are anthropic-messages, openai-responses, google-generative-ai, openai-completions.',
  ],
  [
    'an address that is none',
    { acme: { baseUrl: 'acme' } },
    'providers.acme.base_url is not an http or https URL.',
  ],
  [
    'a password in the address',
    { acme: { baseUrl: 'https://me:secret@acme.example' } },
    'providers.acme.base_url must not hold a user name or a password.',
  ],
  [
    'a name that would be read as a model',
    { 'a/b': { baseUrl: HERE } },
    'providers."a/b" is no name of a provider: letters, digits, dots and dashes are.',
  ],
  [
    'the same model twice',
    { acme: { baseUrl: HERE, models: ['m'] }, zeta: { baseUrl: HERE, models: ['n', 'm'] } },
    'providers.zeta.models has "m", which is a model of acme already.',
  ],
  [
    'a model that no name means',
    { acme: { baseUrl: HERE, models: ['a b'] } },
    'providers.acme.models "a b" is not the name of a model.',
  ],
  [
    'a variable that is none',
    { acme: { baseUrl: HERE, apiKeyEnv: 'sk-1234' } },
    'providers.acme.api_key_env is not the name of an environment variable.',
  ],
  [
    'a header that would be two',
    { acme: { baseUrl: HERE, headers: { 'X-A': 'b\r\nX-C: d' } } },
    'providers.acme.headers has "X-A", which no request can carry.',
  ],
  [
    'a region where there is none',
    { openai: { region: 'eu-west-1' } },
    'providers.openai.region means nothing to openai, which takes a key.',
  ],
  [
    'a login over plain http',
    {
      acme: {
        baseUrl: HERE,
        oauth: { authorizeUrl: 'http://acme.example/a', tokenUrl: HERE, clientId: 'crab' },
      },
    },
    'providers.acme.oauth.authorize_url is not an https URL.',
  ],
  [
    'a quirk that its wire does not have',
    { anthropic: { quirks: { unheard_of: true } } },
    'providers.anthropic.quirks.unheard_of is no quirk of the Messages API.',
  ],
  [
    'a quirk that nobody has',
    { openai: { quirks: { unheardOf: true } } },
    'providers.openai.quirks.unheardOf is no quirk of Chat Completions.',
  ],
  [
    'a quirk that cannot be so',
    { openai: { quirks: { callIds: 'ten' } } },
    'providers.openai.quirks.callIds is "ten", which it cannot be.',
  ],
] as const) {
  test(`settings with ${name} are refused by the name of the key`, () => {
    assert.throws(
      () => withOwnProviders(PROVIDERS, settingsWith(providers)),
      (thrown) => {
        assert.ok(thrown instanceof CrabError);
        assert.deepEqual(
          { code: thrown.code, message: thrown.message },
          { code: 'settings-invalid', message },
        );
        return true;
      },
    );
  });
}
