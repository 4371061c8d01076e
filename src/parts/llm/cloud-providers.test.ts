import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { CrabError } from '../../core/errors.ts';
import type { Model, ModelChunk } from '../../core/model.ts';
import { NO_SETTINGS } from '../../core/settings.ts';
import {
  ANTHROPIC_HELLO,
  batches,
  chunks,
  helloChunks,
  modelRequest,
  outcome,
  serve,
  testModels,
} from './testing.ts';

const ID = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'very-secret',
  AWS_REGION: 'us-east-1',
};
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
);

function bedrockAt(url: string, env: Readonly<Record<string, string>> = {}): Promise<Model> {
  const own = { ...KEYS, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url, ...env };
  return testModels({ env: own }).resolve(`bedrock/${ID}`);
}

function frame(headers: Readonly<Record<string, string>>, body: object): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }] as const);
  const payload = Buffer.from(JSON.stringify(body));
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: payload }));
}

function chunkFrame(event: string): Buffer {
  const headers = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' };
  return frame(headers, { bytes: Buffer.from(event).toString('base64'), p: 'abcdef' });
}

function exceptionFrame(name: string, message: string): Buffer {
  return frame({ ':message-type': 'exception', ':exception-type': name }, { message });
}

/** The events of an answer, without what frames them on Anthropic's own wire. */
const EVENTS = ANTHROPIC_HELLO.split('\n').flatMap((line) =>
  line.startsWith('data: ') ? [line.slice(6)] : [],
);
const FRAMES = EVENTS.map(chunkFrame);
const STREAM_TYPE = { 'content-type': 'application/vnd.amazon.eventstream' };
const HELLO = helloChunks('msg_1', 'claude-test');

test('bedrock: the model stands in the address, the version and the betas in the body, and the request is signed', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, STREAM_TYPE).end(Buffer.concat(FRAMES));
  });
  const model = await bedrockAt(server.url);
  assert.deepEqual(await chunks(model, modelRequest({ model: ID })), HELLO);
  const [asked] = server.received;
  assert.equal(asked?.path, `/model/${encodeURIComponent(ID)}/invoke-with-response-stream`);
  assert.deepEqual(JSON.parse(asked?.body ?? ''), {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 1000,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
    ],
  });
  assert.match(
    asked?.headers.authorization ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20\d{6}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
  );
  const { info, credential } = model;
  assert.deepEqual([info.contextWindow, info.structured, credential], [200_000, true, 'AWS_ACCESS_KEY_ID']);
  const bound = 'global.anthropic.claude-opus-5-5';
  const other = await testModels({ env: { ...KEYS, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url } }).resolve(
    bound,
  );
  assert.equal(other.info.provider, 'bedrock');
  await chunks(other, modelRequest({ model: bound, fast: true }));
  const sent = JSON.parse(server.received.at(-1)?.body ?? '');
  assert.deepEqual(
    [sent.anthropic_beta, sent.speed, server.received.at(-1)?.headers['anthropic-beta']],
    [['thinking-binding-controls-2026-08-01'], undefined, undefined],
  );
});

test('bedrock: an exception is what its name says, before the answer and in it', async (t) => {
  for (const [name, expected] of [
    ['throttlingException', { code: 'rate-limited', status: 429, retryable: true }],
    ['modelStreamErrorException', { code: 'provider-failed', status: 424, retryable: true }],
    ['serviceUnavailableException', { code: 'provider-overloaded', status: 503, retryable: true }],
    ['validationException', { code: 'provider-request', status: 400, retryable: false }],
    ['somethingNewException', { code: 'provider-failed', retryable: true }],
  ] as const)
    await t.test(name, async () => {
      await using server = await serve((response) => {
        response
          .writeHead(200, STREAM_TYPE)
          .end(Buffer.concat([...FRAMES.slice(0, 3), exceptionFrame(name, 'No.')]));
      });
      const got = await chunks(await bedrockAt(server.url), modelRequest({ model: ID }));
      assert.deepEqual(got.slice(0, -1), HELLO.slice(0, 2));
      assert.deepEqual(outcome(got.at(-1)), { ...expected, message: `bedrock reported ${name}: No.` });
    });
  await using server = await serve((response, _, turn) => {
    const answer =
      turn === 0 ? [FRAMES[0] ?? Buffer.of(), exceptionFrame('throttlingException', 'No.')] : FRAMES;
    response.writeHead(200, STREAM_TYPE).end(Buffer.concat(answer));
  });
  const got = await chunks(await bedrockAt(server.url), modelRequest({ model: ID }));
  assert.deepEqual([got[0]?.type, ...got.slice(1)], ['retry', ...HELLO]);
});

test('bedrock: a prompt that is too long is known by AWS’s words', async () => {
  await using server = await serve((response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"message":"Input is too long for requested model."}');
  });
  const got = await chunks(await bedrockAt(server.url), modelRequest({ model: ID }));
  assert.deepEqual(outcome(got[0]), {
    code: 'context-overflow',
    message: 'bedrock answered 400: Input is too long for requested model.',
    status: 400,
    retryable: false,
  });
});

test('bedrock: an answer that breaks off at any byte loses nothing that was whole, and ends in one failure', async () => {
  const bytes = Buffer.concat(FRAMES);
  let cut = 0;
  await using server = await serve((response) => {
    response.writeHead(200, STREAM_TYPE).end(bytes.subarray(0, cut));
  });
  const model = await bedrockAt(server.url, { CRAB_MAX_RETRIES: '0' });
  const ends = FRAMES.map((_, at) => Buffer.concat(FRAMES.slice(0, at + 1)).length);
  // What each event adds, by the frames that were whole: none, text begins, delta, stop, usage, the end.
  const told = [0, 0, 0, 2, 3, 3, 4];
  for (cut = 0; cut <= bytes.length; cut++) {
    const got = await chunks(model, modelRequest({ model: ID }));
    const whole = ends.filter((end) => end <= cut).length;
    const last = got.at(-1);
    if (whole === FRAMES.length) {
      assert.deepEqual(got, HELLO);
      continue;
    }
    assert.deepEqual(got.slice(0, -1), HELLO.slice(0, told[whole]), `cut at ${cut}`);
    const code = last?.type === 'failure' ? last.error.code : last?.type;
    assert.equal(code, cut > 0 && cut < 12 ? 'provider-protocol' : 'stream-cut', `cut at ${cut}`);
  }
});

test('bedrock: a page of a proxy is quoted', async () => {
  await using server = await serve((response) => response.end('<html>Please log in</html>'));
  const got = await chunks(await bedrockAt(server.url), modelRequest({ model: ID }));
  assert.match(JSON.stringify(outcome(got[0])), /provider-protocol.*Please log in/);
});

test('the address is made of the account’s region and project', async () => {
  const asked: string[] = [];
  const refuse = {
    send: async (request: { readonly url: URL }) => {
      asked.push(request.url.href);
      throw new CrabError('network', 'There is no network here.');
    },
  };
  const reach = async (name: string, env: Readonly<Record<string, string>>, settings = NO_SETTINGS) => {
    const credentials = {
      has: () => true,
      find: async () => ({
        source: 'a test',
        headers: () => ({}),
        secrets: () => [],
        refused: async () => false,
        place: { project: 'of-the-key' },
      }),
    };
    await batches(await testModels({ env, credentials, settings, http: () => refuse }).resolve(name));
    return asked.at(-1);
  };
  const providers = { vertex: { project: 'set', region: 'europe-west1' }, bedrock: { region: 'us-west-2' } };
  const set = { ...NO_SETTINGS, providers };
  const claude = (base: string, id = 'claude-sonnet-4-6') =>
    `${base}/publishers/anthropic/models/${id}:streamRawPredict`;
  for (const [name, env, expected, settings] of [
    [
      'bedrock/claude-a',
      { AWS_REGION: 'eu-west-1' },
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/claude-a/invoke-with-response-stream',
    ],
    [
      'bedrock/claude-a',
      { AWS_REGION: 'cn-north-1' },
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/claude-a/invoke-with-response-stream',
    ],
    [
      'bedrock/claude-a',
      { AWS_REGION: 'eu-west-1' },
      'https://bedrock-runtime.us-west-2.amazonaws.com/model/claude-a/invoke-with-response-stream',
      set,
    ],
    [
      'vertex/gemini-3-flash',
      { ANTHROPIC_VERTEX_PROJECT_ID: 'p' },
      'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-3-flash:streamGenerateContent?alt=sse',
    ],
    [
      'vertex/claude-sonnet-4-6',
      {},
      claude('https://aiplatform.googleapis.com/v1/projects/of-the-key/locations/global'),
    ],
    [
      'vertex/claude-sonnet-4-6',
      { CLOUD_ML_REGION: 'eu' },
      claude('https://aiplatform.eu.rep.googleapis.com/v1/projects/of-the-key/locations/eu'),
    ],
    [
      'vertex/claude-opus-4-5@20251101',
      { GOOGLE_CLOUD_PROJECT: 'example.com:p', GOOGLE_CLOUD_LOCATION: 'us-east5' },
      claude(
        'https://us-east5-aiplatform.googleapis.com/v1/projects/example.com:p/locations/us-east5',
        'claude-opus-4-5@20251101',
      ),
    ],
    [
      'vertex/claude-sonnet-4-6',
      { GOOGLE_CLOUD_PROJECT: 'p' },
      claude('https://europe-west1-aiplatform.googleapis.com/v1/projects/set/locations/europe-west1'),
      set,
    ],
    [
      'vertex/claude-sonnet-4-6',
      { ANTHROPIC_VERTEX_BASE_URL: 'http://127.0.0.1:9/v1/', ANTHROPIC_VERTEX_PROJECT_ID: 'p' },
      claude('http://127.0.0.1:9/v1/projects/p/locations/global'),
    ],
  ] as const)
    assert.equal(await reach(name, env, settings), expected);
});

test('a region or a project that is missing, or none, is named', async () => {
  const refused = async (name: string, env: Readonly<Record<string, string>>) => {
    const credentials = {
      has: () => true,
      find: async () => ({
        source: 'a test',
        headers: () => ({}),
        secrets: () => [],
        refused: async () => false,
      }),
    };
    const thrown = await testModels({ env, credentials })
      .resolve(name)
      .then(
        () => assert.fail('it was found'),
        (error: unknown) => error,
      );
    assert.ok(thrown instanceof CrabError);
    return [thrown.code, thrown.message];
  };
  assert.deepEqual(await refused('bedrock/claude-a', {}), [
    'usage',
    'No region is known for bedrock: none of AWS_REGION, AWS_DEFAULT_REGION is set.',
  ]);
  assert.deepEqual(await refused('bedrock/claude-a', { AWS_REGION: 'evil.example/x' }), [
    'usage',
    'AWS_REGION is not the name of a region: "evil.example/x".',
  ]);
  assert.deepEqual(await refused('vertex/a', { GOOGLE_CLOUD_PROJECT: 'a/../b' }), [
    'usage',
    'GOOGLE_CLOUD_PROJECT is not the name of a project: "a/../b".',
  ]);
  const none = testModels({ env: {} }).resolve('bedrock/claude-a');
  await assert.rejects(none, /There are no credentials for bedrock\./);
});

test('a session that has run out is renewed once when the provider says 403', async () => {
  await using server = await serve((response, { headers }) => {
    if (headers.authorization === 'session 2')
      response.writeHead(200, STREAM_TYPE).end(Buffer.concat(FRAMES));
    else response.writeHead(403).end('{"message":"The security token included in the request is expired"}');
  });
  const asked: number[] = [];
  let session = 1;
  const credentials = {
    has: () => true,
    find: async () => ({
      source: 'a test',
      headers: () => ({ authorization: `session ${session}` }),
      secrets: () => [],
      place: { region: 'us-east-1' },
      async refused(status: number) {
        asked.push(status);
        session++;
        return true;
      },
    }),
  };
  const env = { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url };
  const model = await testModels({ env, credentials }).resolve(`bedrock/${ID}`);
  assert.deepEqual(await chunks(model, modelRequest({ model: ID })), HELLO);
  assert.deepEqual([asked, server.received.length], [[403], 2]);
  session = 5;
  const got: ModelChunk[] = await chunks(model, modelRequest({ model: ID }));
  assert.deepEqual(outcome(got[0]), {
    code: 'auth-refused',
    message: 'bedrock answered 403: The security token included in the request is expired',
    status: 403,
    retryable: false,
  });
  assert.equal(server.received.length, 4);
});

test('vertex: the version stands in the body and the betas in a header', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANTHROPIC_HELLO);
  });
  const credentials = {
    has: () => true,
    find: async () => ({
      source: 'a test',
      headers: () => ({}),
      secrets: () => [],
      refused: async () => false,
    }),
  };
  const env = { ANTHROPIC_VERTEX_BASE_URL: `${server.url}/v1`, GOOGLE_CLOUD_PROJECT: 'p' };
  const model = await testModels({ env, credentials }).resolve('vertex/claude-opus-5@20260723');
  assert.deepEqual(await chunks(model, modelRequest({ fast: true })), HELLO);
  const [asked] = server.received;
  const { messages: _, ...head } = JSON.parse(asked?.body ?? '');
  assert.deepEqual(head, {
    anthropic_version: 'vertex-2023-10-16',
    max_tokens: 1000,
    stream: true,
    thinking: { type: 'adaptive', display: 'summarized' },
    speed: 'fast',
  });
  assert.equal(asked?.headers['anthropic-beta'], 'fast-mode-2026-02-01');
});

test('a cloud is taken without being named only where something says that it is meant', async () => {
  const nobody = testModels({ env: KEYS }).resolve();
  await assert.rejects(nobody, (thrown) => thrown instanceof CrabError && thrown.code === 'auth-missing');
  const { info } = await testModels({ env: { ...KEYS, BEDROCK_MODEL: ID } }).resolve();
  assert.deepEqual([info.provider, info.id], ['bedrock', ID]);
  const keyed = { ...KEYS, BEDROCK_MODEL: ID, ANTHROPIC_API_KEY: 'sk-ant' };
  assert.equal((await testModels({ env: keyed }).resolve()).info.provider, 'anthropic');
});
