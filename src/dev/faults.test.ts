// Faults of bytes, on every wire: what a client meets on the line.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { authority } from '../../test/support/authority.ts';
import { ask, modelOf, post, WIRE_NAMES } from '../../test/support/wire-client.ts';
import { type FakeProvider, type FakeProviderOptions, startFakeProvider } from './fake-provider.ts';
import type { Reply } from './scenario.ts';

const HELLO = [{ role: 'user', content: 'hello' }];

async function opening(
  reply: Reply,
  options: Partial<FakeProviderOptions> = {},
): Promise<FakeProvider & AsyncDisposable> {
  const provider = await startFakeProvider({ scenario: { replies: [reply] }, ...options });
  return { ...provider, [Symbol.asyncDispose]: () => provider.close() };
}

async function bytesOf(response: Response): Promise<{ readonly bytes: Buffer; readonly broken: boolean }> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), broken: false };
  } catch {
    return { bytes: Buffer.concat(chunks), broken: true };
  }
}

const REPLY: Reply = { text: 'größer 🦀 als sonst', calls: [{ name: 'ls', input: { path: 'a.txt' } }] };

for (const wire of WIRE_NAMES) {
  test(`${wire}: drips add up to the same stream`, async () => {
    await using whole = await opening(REPLY);
    await using drips = await opening({ ...REPLY, drip: 7 });
    const got = await bytesOf(await post(drips.url, wire, HELLO));
    assert.deepEqual(got, await bytesOf(await post(whole.url, wire, HELLO)));
  });

  for (const cutAfter of ['event', 'character', 'end'] as const) {
    test(`${wire}: cut: ${cutAfter}`, async () => {
      await using provider = await opening({ ...REPLY, fault: { cutAfter }, times: 1 });
      const cut = await bytesOf(await post(provider.url, wire, HELLO));
      const { bytes } = await bytesOf(await post(provider.url, wire, HELLO));
      assert.ok(cut.broken && cut.bytes.length > 0 && cut.bytes.length < bytes.length);
      assert.deepEqual(cut.bytes, bytes.subarray(0, cut.bytes.length));
      if (cutAfter === 'character' && wire !== 'bedrock') {
        assert.ok((cut.bytes.at(-1) ?? 0) >= 0xc2, 'the last byte begins a character');
      }
    });
  }

  test(`${wire}: duplicates, unknown events and nulls stand between the events of the answer`, async () => {
    const sizes: number[] = [];
    for (const garble of [undefined, 'duplicates', 'unknownEvents', 'nulls'] as const) {
      await using provider = await opening({ ...REPLY, ...(garble && { fault: { garble } }) });
      sizes.push((await bytesOf(await post(provider.url, wire, HELLO))).bytes.length);
    }
    const [plain = 0, twice, ...longer] = sizes;
    assert.equal(twice, 2 * plain);
    for (const size of longer) assert.ok(size > plain);
  });

  test(`${wire}: text that is no UTF-8`, async () => {
    await using provider = await opening({ text: 'abcd', fault: { garble: 'badUtf8' } });
    const { bytes } = await bytesOf(await post(provider.url, wire, HELLO));
    const inner = /"bytes":"([^"]*)"/g;
    const text =
      wire === 'bedrock'
        ? Buffer.concat(
            [...bytes.toString().matchAll(inner)].map(([, data = '']) => Buffer.from(data, 'base64')),
          )
        : bytes;
    assert.ok(text.includes(Buffer.from([0x61, 0x62, 0xff, 0x80, 0xe2, 0x63, 0x64])));
  });

  test(`${wire}: nothing but keep-alives until the client leaves`, async () => {
    await using provider = await opening({ ...REPLY, fault: { pingEveryMs: 1 } });
    const leave = new AbortController();
    const response = await post(provider.url, wire, HELLO);
    const reader = response.body?.getReader();
    for (let time = 0; time < 3; time++) assert.ok(((await reader?.read())?.value?.length ?? 0) > 0);
    leave.abort();
    await reader?.cancel();
  });

  test(`${wire}: a flood comes before the answer`, async () => {
    await using provider = await opening({ ...REPLY, fault: { flood: 300_000 } });
    const { bytes } = await bytesOf(await post(provider.url, wire, HELLO));
    assert.ok(bytes.length > 300_000);
  });

  test(`${wire}: a small body that is large when it is unpacked`, async () => {
    await using provider = await opening({ ...REPLY, fault: { gzipBomb: 4 * 1024 * 1024 } });
    const { bytes } = await bytesOf(await post(provider.url, wire, HELLO));
    assert.equal(bytes.length, 4 * 1024 * 1024);
  });

  test(`${wire}: the bill says what each answer cost, in the classes of the wire`, async () => {
    const usage = { input: 7, output: 5, cacheRead: 3, cacheWrite: 2 };
    await using provider = await opening({ text: 'hi', usage });
    await ask(provider.url, wire, HELLO);
    const path = new URL((await post(provider.url, wire, [])).url).pathname;
    const bill = await (await fetch(`${provider.url}/__fake/requests`)).json();
    const written = ['anthropic', 'bedrock', 'vertex'].includes(wire);
    const [first, second, ...more] = (bill as { requests: Record<string, unknown>[] }).requests;
    const about = { method: 'POST', path, wire, model: modelOf(wire), turn: 1, whole: true };
    assert.deepEqual(first, {
      ...about,
      request: 0,
      status: 200,
      charged: written ? usage : { ...usage, input: 9, cacheWrite: 0 },
      findings: [],
    });
    assert.deepEqual([second?.['status'], second?.['charged'], more], [400, undefined, []]);
  });
}

test('a header that is larger than clients take', async () => {
  await using provider = await opening({ ...REPLY, fault: { hugeHeader: 1024 * 1024 } });
  await assert.rejects(post(provider.url, 'anthropic', HELLO), { message: 'fetch failed' });
});

test('a reset in the middle of a stream', async () => {
  await using provider = await opening({ ...REPLY, fault: { resetAfter: 50 } });
  const body = JSON.stringify({ model: 'm', max_tokens: 1, stream: true, messages: HELLO });
  const head = `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
  const socket = connect(provider.port, '127.0.0.1');
  const ended = new Promise((resolve) => socket.on('error', resolve).on('end', resolve));
  socket.resume().write(head + body);
  assert.equal(((await ended) as NodeJS.ErrnoException | undefined)?.code, 'ECONNRESET');
});

test('a page comes with the status that is asked for', async () => {
  await using provider = await opening({ fault: { html: 502 } });
  const response = await post(provider.url, 'gemini', HELLO);
  assert.deepEqual([response.status, response.headers.get('content-type')], [502, 'text/html']);
});

test('a date in a header is that of the moment', async () => {
  await using provider = await opening({ fault: { status: 429, headers: { 'retry-after': '{{date+60}}' } } });
  const response = await post(provider.url, 'openai', HELLO);
  const ahead = Date.parse(response.headers.get('retry-after') ?? '') - Date.now();
  assert.ok(ahead > 50_000 && ahead <= 60_000, `${ahead} ms ahead`);
});

test('headers of a stream, padding and depth of arguments, and arguments that are sent as they are', async () => {
  const reply: Reply = {
    headers: { 'x-ratelimit-remaining-requests': '3' },
    calls: [
      { name: 'a', input: { at: 1 }, padding: 3, depth: 2 },
      { name: 'b', input: {}, raw: '[1' },
    ],
  };
  await using provider = await opening(reply);
  const response = await post(provider.url, 'anthropic', HELLO);
  assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '3');
  await response.text();
  const { calls } = await ask(provider.url, 'anthropic', HELLO);
  assert.deepEqual(
    calls.map(({ json }) => json),
    ['{"at":1,"padding":"xxx","deep":[[]]}', '[1'],
  );
});

test('over TLS the certificate is the one that was given, and nobody trusts it', async () => {
  using issuer = authority();
  const tls = issuer.issue({ selfSigned: true });
  await using provider = await opening(REPLY, { tls });
  assert.match(provider.url, /^https:/);
  await assert.rejects(post(provider.url, 'anthropic', HELLO), (error: Error) => {
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    return true;
  });
});

const models = [{ id: 'tiny', contextWindow: 8192, maxOutput: 100 }];
const LISTS: readonly (readonly [string, Partial<FakeProviderOptions>, RequestInit, unknown])[] = [
  [
    '/v1/models',
    { scenario: { replies: [], models } },
    { headers: { 'anthropic-version': '2023-06-01' } },
    {
      data: [
        {
          type: 'model',
          id: 'tiny',
          display_name: 'tiny',
          created_at: '2025-01-01T00:00:00Z',
          max_input_tokens: 8192,
          max_tokens: 100,
        },
      ],
      has_more: false,
      first_id: 'tiny',
      last_id: 'tiny',
    },
  ],
  [
    '/v1beta/models',
    { scenario: { replies: [], models } },
    {},
    {
      models: [
        {
          name: 'models/tiny',
          displayName: 'tiny',
          supportedGenerationMethods: ['generateContent', 'countTokens'],
          inputTokenLimit: 8192,
          outputTokenLimit: 100,
        },
      ],
    },
  ],
  [
    '/api/show',
    { scenario: { replies: [], models, server: 'ollama' } },
    { method: 'POST', body: '{"model":"tiny"}' },
    {
      details: { format: 'gguf', family: 'fake', parameter_size: '1B', quantization_level: 'Q4_K_M' },
      model_info: { 'general.architecture': 'fake', 'fake.context_length': 8192 },
      capabilities: ['completion', 'tools'],
    },
  ],
  [
    '/api/show',
    { scenario: { replies: [], models, server: 'ollama' } },
    { method: 'POST', body: '{"model":"other"}' },
    { error: "model 'other' not found" },
  ],
  [
    '/props',
    { scenario: { replies: [], models, server: 'llama.cpp' } },
    {},
    {
      default_generation_settings: { n_ctx: 8192 },
      total_slots: 1,
      model_path: '/models/tiny.gguf',
      model_alias: 'tiny',
    },
  ],
];

for (const [path, options, init, expected] of LISTS) {
  test(`${init.method ?? 'GET'} ${path} ${init.body ?? ''}`, async () => {
    await using provider = await opening({}, options);
    assert.deepEqual(await (await fetch(provider.url + path, init)).json(), expected);
  });
}

test('a server that is of no kind answers no question of a local one', async () => {
  await using provider = await opening({});
  for (const path of ['/api/tags', '/props']) assert.equal((await fetch(provider.url + path)).status, 404);
});
