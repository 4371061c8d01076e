// Crab in the clouds: the built program against loopback servers that answer like Bedrock, Vertex and the token services
// of both, and what it loads for each.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { chunkName } from '../support/chunks.ts';
import { needs, runCrab } from '../support/crab.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

interface Asked {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Buffer;
}

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

/** `turn` counts from 1. */
async function serve(answer: (asked: Asked, turn: number) => Answer): Promise<Server> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const one = { path: request.url ?? '', authorization: request.headers.authorization ?? '', body };
    asked.push(one);
    const { status = 200, type = 'application/json', body: content } = answer(one, asked.length);
    response.writeHead(status, { 'content-type': type }).end(content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
);

/** The events of an answer that says `text`, or that calls `ls`. */
function events(text?: string): readonly object[] {
  const block =
    text === undefined
      ? { start: { type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }, delta: [] }
      : { start: { type: 'text', text: '' }, delta: [{ type: 'text_delta', text }] };
  return [
    { type: 'message_start', message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 10 } } },
    { type: 'content_block_start', index: 0, content_block: block.start },
    ...block.delta.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: text === undefined ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
}

function frames(said: readonly object[]): Answer {
  const body = said.map((event) => {
    const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
    const headers = {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: 'chunk' },
    } as const;
    return codec.encode({ headers, body: Buffer.from(JSON.stringify({ bytes })) });
  });
  return { type: 'application/vnd.amazon.eventstream', body: Buffer.concat(body) };
}

function lines(said: readonly object[]): Answer {
  return {
    type: 'text/event-stream',
    body: said.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  };
}

const BEDROCK = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const AWS = { AWS_REGION: 'eu-central-1', AWS_EC2_METADATA_DISABLED: 'true', CRAB_MAX_RETRIES: '0' };
const STATIC = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'aws-very-secret' };

function run(
  work: Workspace,
  model: string,
  env: Readonly<Record<string, string>>,
  more: readonly string[] = [],
) {
  const args = ['-p', '--no-session', '--model', model, ...more, 'hi'];
  return runCrab({ args, cwd: work.path, home: work.home, env });
}

test('Bedrock with keys of the environment answers, calls a tool and goes on', async () => {
  await using work = await tempWorkspace({ 'a.txt': 'a' }, { git: false });
  await using bedrock = await serve((_, turn) => frames(turn === 1 ? events() : events('One file.')));
  const env = { ...AWS, ...STATIC, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url };
  assert.deepEqual(await run(work, BEDROCK, env), {
    code: 0,
    signal: null,
    stdout: 'One file.\n',
    stderr: '',
  });
  const [first, second] = bedrock.asked;
  assert.equal(
    first?.path,
    '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream',
  );
  assert.match(
    first?.authorization ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/eu-central-1\/bedrock\//,
  );
  const { messages } = JSON.parse(second?.body ?? '');
  assert.deepEqual(
    messages.map((turn: { content: { type: string }[] }) => turn.content.map(({ type }) => type)),
    [['text'], ['tool_use'], ['tool_result']],
  );
});

function role(turn: number): Answer {
  return {
    type: 'text/xml',
    body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA${turn}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
  };
}

async function inPod(work: Workspace, sts: Server): Promise<Readonly<Record<string, string>>> {
  await work.write('pod-token', 'the-pod-token');
  return {
    ...AWS,
    AWS_ENDPOINT_URL_STS: sts.url,
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
    AWS_WEB_IDENTITY_TOKEN_FILE: work.file('pod-token'),
  };
}

test('Bedrock from a pod exchanges its identity for keys, and once more when they have run out', async () => {
  await using work = await tempWorkspace({}, { git: false });
  await using sts = await serve((_, turn) => role(turn));
  await using bedrock = await serve(({ authorization }) =>
    authorization.includes('Credential=ASIA2/')
      ? frames(events('Hello from the pod.'))
      : { status: 403, body: '{"message":"The security token included in the request is expired"}' },
  );
  const env = { ...(await inPod(work, sts)), AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url };
  assert.deepEqual(await run(work, BEDROCK, env), {
    code: 0,
    signal: null,
    stdout: 'Hello from the pod.\n',
    stderr: '',
  });
  assert.deepEqual([sts.asked.length, bedrock.asked.length], [2, 2]);
  assert.equal(new URLSearchParams(sts.asked[0]?.body).get('WebIdentityToken'), 'the-pod-token');
});

async function account(work: Workspace, tokens: Server): Promise<Readonly<Record<string, string>>> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = {
    type: 'service_account',
    project_id: 'of-the-key',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'crab@of-the-key.iam.gserviceaccount.com',
    token_uri: `${tokens.url}/token`,
  };
  await work.write('key.json', JSON.stringify(key));
  return { GOOGLE_APPLICATION_CREDENTIALS: work.file('key.json') };
}

test('Vertex with a service account gets a token, and a new one when it is refused', async () => {
  await using work = await tempWorkspace({}, { git: false });
  await using tokens = await serve((_, turn) => ({
    body: JSON.stringify({ access_token: `token-${turn}`, expires_in: 3600 }),
  }));
  await using vertex = await serve(({ authorization }) =>
    authorization === 'Bearer token-2'
      ? lines(events('Hello from the cloud.'))
      : {
          status: 401,
          body: '[{"error":{"code":401,"message":"Token expired","status":"UNAUTHENTICATED"}}]',
        },
  );
  const env = { ...(await account(work, tokens)), ANTHROPIC_VERTEX_BASE_URL: `${vertex.url}/v1` };
  assert.deepEqual(await run(work, 'vertex/claude-sonnet-4-5@20250929', env), {
    code: 0,
    signal: null,
    stdout: 'Hello from the cloud.\n',
    stderr: '',
  });
  assert.deepEqual(
    vertex.asked.map(({ path }) => path),
    Array(2).fill(
      '/v1/projects/of-the-key/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    ),
  );
});

test('what a cloud lacks is said before anything is asked', async (t) => {
  await using work = await tempWorkspace({}, { git: false });
  for (const [what, model, env, says] of [
    ['no keys', BEDROCK, AWS, /There are no credentials for bedrock/],
    [
      'no region',
      BEDROCK,
      STATIC,
      /No region is known for bedrock: none of AWS_REGION, AWS_DEFAULT_REGION is set/,
    ],
    [
      'no key file',
      'vertex/claude-sonnet-4-6',
      { GOOGLE_APPLICATION_CREDENTIALS: '/nonexistent/key.json' },
      /\/nonexistent\/key\.json cannot be read/,
    ],
  ] as const)
    await t.test(what, async () => {
      const exit = await run(work, model, env);
      assert.notEqual(exit.code, 0);
      assert.match(exit.stderr, says);
      assert.doesNotMatch(exit.stderr, /aws-very-secret/);
    });
});

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const HOOK = `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')));`;

/** The files of the build that hold a library, by words that only it has. */
function chunksWith(words: string): readonly string[] {
  return readdirSync(DIST)
    .filter((file) => file.endsWith('.js') && readFileSync(DIST + file, 'utf8').includes(words))
    .map(chunkName);
}

test('the libraries of clouds are loaded by those who need them alone', {
  skip: needs('NODE_OPTIONS'),
}, async (t) => {
  const libraries = {
    aws: chunksWith('AssumeRoleWithWebIdentity'),
    google: chunksWith('external_account_authorized_user'),
  };
  assert.deepEqual([libraries.aws.length > 0, libraries.google.length > 0], [true, true]);
  await using work = await tempWorkspace({ 'hook.cjs': HOOK }, { git: false });
  await using provider = await fakeProvider(Array(2).fill({ text: 'Hello.' }));
  await using sts = await serve((_, turn) => role(turn));
  await using bedrock = await serve(() => frames(events('Hello.')));
  await using tokens = await serve(() => ({ body: '{"access_token":"t","expires_in":3600}' }));
  await using vertex = await serve(() => lines(events('Hello.')));
  const atBedrock = { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url };
  const atVertex = { ANTHROPIC_VERTEX_BASE_URL: `${vertex.url}/v1`, GOOGLE_CLOUD_PROJECT: 'p' };
  const external = {
    type: 'external_account',
    audience: '//iam.googleapis.com/a',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: tokens.url,
    credential_source: { file: work.file('pod-token') },
  };
  await work.write('external.json', JSON.stringify(external));
  const pod = await inPod(work, sts);
  for (const [name, model, env, expected] of [
    ['Anthropic', 'anthropic/claude-sonnet-4-5', provider.env('anthropic'), {}],
    ['OpenAI', 'openai/gpt-5.1', provider.env('openai'), {}],
    ['Bedrock with keys of the environment', BEDROCK, { ...AWS, ...STATIC, ...atBedrock }, {}],
    ['Bedrock from a pod', BEDROCK, { ...pod, ...atBedrock }, { aws: true }],
    ['Vertex with a key file', 'vertex/claude-a', { ...(await account(work, tokens)), ...atVertex }, {}],
    [
      'Vertex with a workload’s identity',
      'vertex/claude-a',
      { GOOGLE_APPLICATION_CREDENTIALS: work.file('external.json'), ...atVertex },
      { google: true },
    ],
  ] as const)
    await t.test(name, async () => {
      const loaded = work.file('loaded');
      const exit = await run(work, model, {
        ...env,
        LOADED: loaded,
        NODE_OPTIONS: `--require ${work.file('hook.cjs')}`,
      });
      assert.deepEqual([exit.code, exit.stdout], [0, 'Hello.\n'], exit.stderr);
      const files = new Set((await work.read('loaded')).split('\n').map(chunkName));
      assert.ok(files.has('models.js'), [...files].join());
      const holds = (chunks: readonly string[]) => chunks.some((file) => files.has(file));
      assert.deepEqual(
        { aws: holds(libraries.aws), google: holds(libraries.google) },
        { aws: false, google: false, ...expected },
      );
    });
});
