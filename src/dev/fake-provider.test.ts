import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ask, converse, modelOf, post, WIRE_NAMES } from '../../test/support/wire-client.ts';
import { CrabError } from '../core/errors.ts';
import { type FakeProvider, type FakeProviderOptions, startFakeProvider } from './fake-provider.ts';
import { callSignature } from './gemini-wire.ts';
import type { Reply } from './scenario.ts';
import { signatureOf } from './signature.ts';
import type { WireName } from './wire.ts';

const HELLO = [{ role: 'user', content: 'hello' }];

async function open(options: FakeProviderOptions): Promise<FakeProvider & AsyncDisposable> {
  const provider = await startFakeProvider(options);
  return { ...provider, [Symbol.asyncDispose]: () => provider.close() };
}

function opening(...replies: readonly Reply[]): Promise<FakeProvider & AsyncDisposable> {
  return open({ scenario: { replies } });
}

interface Received {
  readonly bytes: Buffer;
  readonly text: string;
  readonly broken: boolean;
}

/** What arrives before the connection breaks. */
async function received(response: Response): Promise<Received> {
  const chunks: Uint8Array[] = [];
  const so = (broken: boolean) => {
    const bytes = Buffer.concat(chunks);
    return { bytes, text: unpacked(bytes.toString()), broken };
  };
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    return so(false);
  } catch {
    return so(true);
  }
}

/** With what Bedrock puts into its frames in plain sight. */
function unpacked(text: string): string {
  return text.replace(/"bytes":"([^"]*)/g, (_, data: string) => `\n\ndata: ${Buffer.from(data, 'base64')}`);
}

/** Where the messages are. */
const MESSAGES: Partial<Record<WireName, string>> = { responses: 'input', gemini: 'contents' };

/** A field of the body that anything can be written in. */
const FREE_FIELDS: Partial<Record<WireName, string>> = { gemini: 'labels' };

const ANTHROPIC_STOPS = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolUse: 'tool_use',
  refusal: 'refusal',
};

const ANTHROPIC_USAGE = {
  input_tokens: 7,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 3,
  output_tokens: 5,
};

const STOPS: Record<WireName, Record<string, string>> = {
  anthropic: ANTHROPIC_STOPS,
  openai: { stop: 'stop', length: 'length', toolUse: 'tool_calls', refusal: 'content_filter' },
  responses: { stop: 'completed', length: 'incomplete', toolUse: 'completed', refusal: 'refusal' },
  gemini: { stop: 'STOP', length: 'MAX_TOKENS', toolUse: 'STOP', refusal: 'SAFETY' },
  bedrock: ANTHROPIC_STOPS,
  vertex: ANTHROPIC_STOPS,
};

/** Of 7 tokens of input, 5 of output, 3 read from the cache and 2 written to it, of an answer with thinking. */
const USAGES: Record<WireName, unknown> = {
  anthropic: ANTHROPIC_USAGE,
  openai: {
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
    prompt_tokens_details: { cached_tokens: 3 },
  },
  responses: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 17,
  },
  gemini: {
    promptTokenCount: 12,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 3,
    totalTokenCount: 17,
  },
  bedrock: ANTHROPIC_USAGE,
  vertex: ANTHROPIC_USAGE,
};

const OPENAI_LIMIT = {
  error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' },
};
const GOOGLE_LIMIT = { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } };

const RATE_LIMITS: Record<WireName, unknown> = {
  anthropic: { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } },
  openai: OPENAI_LIMIT,
  responses: OPENAI_LIMIT,
  gemini: GOOGLE_LIMIT,
  bedrock: { message: 'slow down' },
  vertex: GOOGLE_LIMIT,
};

/** What the wire signs of an answer that thinks and calls `read`. */
const SIGNATURES: Record<WireName, string> = {
  anthropic: signatureOf('Hm. Let me see.'),
  openai: '',
  responses: signatureOf('Hm. Let me see.'),
  gemini: callSignature('read'),
  bedrock: signatureOf('Hm. Let me see.'),
  vertex: signatureOf('Hm. Let me see.'),
};

for (const wire of WIRE_NAMES) {
  test(`${wire}: an answer has thinking, text in deltas, calls and usage`, async () => {
    await using provider = await opening({
      thinking: 'Hm. Let me see.',
      text: ['Grüße ', 'aus ', '🦀'],
      calls: [
        { name: 'read', input: { path: 'a.txt' } },
        { name: 'bash', input: {}, id: 'mine' },
      ],
      usage: { input: 7, output: 5, cacheRead: 3, cacheWrite: 2 },
      chunk: 4,
    });
    const heard = await ask(provider.url, wire, HELLO);
    assert.deepEqual(heard, {
      model: modelOf(wire),
      thinking: 'Hm. Let me see.',
      signature: SIGNATURES[wire],
      text: 'Grüße aus 🦀',
      deltas: 3,
      calls: [
        { id: 'call_1_1', name: 'read', json: '{"path":"a.txt"}' },
        { id: 'mine', name: 'bash', json: '{}' },
      ],
      stop: STOPS[wire]['toolUse'],
      usage: USAGES[wire],
    });
  });

  test(`${wire}: a conversation walks the script, quotes results and ends with the default reply`, async () => {
    await using provider = await open({
      scenario: {
        replies: [
          {
            calls: [{ name: 'bash', input: { command: 'ls {{cwd}}', deep: [{ turn: '{{n}}' }] } }],
            repeat: 2,
          },
          { text: 'turn {{n}}: {{result}} {{unknown}}', calls: [{ name: 'ls', input: {} }] },
        ],
      },
      vars: { cwd: '/somewhere' },
    });
    const inputs: unknown[] = [];
    const answers = await converse(provider.url, wire, 'go', (name, input) => {
      inputs.push(input);
      return `result of ${name}`;
    });
    assert.deepEqual(
      answers.map(({ text, stop, calls }) => ({ text, stop, ids: calls.map((call) => call.id) })),
      [
        { text: '', stop: STOPS[wire]['toolUse'], ids: ['call_1_1'] },
        { text: '', stop: STOPS[wire]['toolUse'], ids: ['call_2_1'] },
        { text: 'turn 3: result of bash {{unknown}}', stop: STOPS[wire]['toolUse'], ids: ['call_3_1'] },
        { text: 'Done.', stop: STOPS[wire]['stop'], ids: [] },
      ],
    );
    assert.deepEqual(inputs, [
      { command: 'ls /somewhere', deep: [{ turn: '1' }] },
      { command: 'ls /somewhere', deep: [{ turn: '2' }] },
      {},
    ]);
    assert.deepEqual(provider.violations, []);
  });

  test(`${wire}: the first user message chooses the script`, async () => {
    await using provider = await open({
      scenario: {
        scripts: [
          { when: 'bug', replies: [{ text: 'fixed' }] },
          { when: { pattern: '^add \\w+$' }, replies: [], otherwise: { text: 'added' } },
        ],
        otherwise: { text: 'pardon?' },
      },
    });
    const said = async (prompt: string) => (await converse(provider.url, wire, prompt))[0]?.text;
    assert.equal(await said('there is a bug here'), 'fixed');
    assert.equal(await said('add tests'), 'added');
    assert.equal(await said('add many tests'), 'pardon?');
  });

  test(`${wire}: generated text arrives in as many deltas as asked for`, async () => {
    await using provider = await opening({ generate: { deltas: 20_000, text: 'lorem ipsum dolor ' } });
    for (let time = 0; time < 2; time++) {
      const { deltas, text } = await ask(provider.url, wire, HELLO);
      assert.equal(deltas, 20_000);
      assert.equal(text.length, 20_000 * 18);
    }
  });

  test(`${wire}: delayed deltas arrive one by one and add up to the same stream`, async () => {
    const reply: Reply = { text: 'one two three', chunk: 4, calls: [{ name: 'ls', input: {} }] };
    await using fast = await opening(reply);
    await using slow = await opening({ ...reply, delayMs: 1 });
    const bytes = async (url: string) => (await post(url, wire, HELLO)).text();
    assert.equal(await bytes(slow.url), await bytes(fast.url));
  });

  test(`${wire}: an error answer has the wire's own shape unless the scenario says otherwise`, async () => {
    const fault = { status: 429, headers: { 'retry-after': '2' }, message: 'slow down' };
    await using provider = await opening({ text: 'better', fault, times: 1 });
    const response = await post(provider.url, wire, HELLO);
    assert.equal(response.status, 429);
    assert.equal(response.headers.get('retry-after'), '2');
    assert.deepEqual(await response.json(), RATE_LIMITS[wire]);
    assert.equal((await ask(provider.url, wire, HELLO)).text, 'better', 'the fault struck once only');
    await using own = await opening({ fault: { status: 502, body: 'Bad Gateway' } });
    const bad = await post(own.url, wire, HELLO);
    assert.deepEqual([bad.status, await bad.text()], [502, 'Bad Gateway']);
  });

  test(`${wire}: an overflow is told in the provider's words`, async () => {
    await using provider = await opening({ fault: { overflow: true } });
    const response = await post(provider.url, wire, HELLO);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /is too long|context_length_exceeded|exceeds the maximum/);
  });

  test(`${wire}: a web page comes with status 200`, async () => {
    await using provider = await opening({ fault: { html: true } });
    const response = await post(provider.url, wire, HELLO);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/html']);
    assert.match(await response.text(), /^<!doctype html>/);
  });

  test(`${wire}: a stream is cut after exactly as many bytes as asked for`, async () => {
    await using provider = await opening({ text: 'hello', fault: { cutAfter: 100 }, times: 1 });
    const cut = await received(await post(provider.url, wire, HELLO));
    const whole = await received(await post(provider.url, wire, HELLO));
    assert.deepEqual([cut.bytes, cut.broken], [whole.bytes.subarray(0, 100), true]);
    await using empty = await opening({ text: 'hello', fault: { cutAfter: 0 } });
    const nothing = await received(await post(empty.url, wire, HELLO));
    assert.deepEqual([nothing.text, nothing.broken], ['', true]);
  });

  test(`${wire}: a stream is cut in the middle of a call's arguments`, async () => {
    const call = { name: 'write', input: { path: 'a.txt', content: 'some text' } };
    await using provider = await opening({ calls: [call], fault: { cutAfter: 'call' } });
    const { text, broken } = await received(await post(provider.url, wire, HELLO));
    assert.ok(broken);
    assert.match(text, /"name":"write"/);
    assert.match(text, /a\.txt/);
    assert.doesNotMatch(text, /some text/);
  });

  test(`${wire}: a stalled stream stays open and says no more`, async () => {
    await using provider = await opening({ text: 'hello', fault: { stallAfter: 40 } });
    const response = await post(provider.url, wire, HELLO);
    const reader = response.body?.getReader();
    assert.equal((await reader?.read())?.value?.length, 40);
    const more = reader?.read().catch(() => 'broken');
    assert.equal(await Promise.race([more, new Promise((resolve) => setImmediate(resolve, 'open'))]), 'open');
    await provider.close();
    assert.equal(await more, 'broken');
  });

  test(`${wire}: an error in the stream comes after the text`, async () => {
    const errorEvent = { type: 'overloaded_error', message: 'too busy' };
    await using provider = await opening({ text: 'so far', fault: { errorEvent } });
    const { text, broken } = await received(await post(provider.url, wire, HELLO));
    assert.equal(broken, false);
    assert.match(text, /so far[\s\S]*"message":"too busy"[^\n]*(?:\r?\n\r?\n)?$/);
    assert.doesNotMatch(text, /"(?:finish_reason|finishReason|stop_reason)":"|response\.completed/);
  });

  test(`${wire}: broken call arguments lack their last character`, async () => {
    await using provider = await opening({
      calls: [{ name: 'ls', input: { path: '.' } }],
      fault: { badJson: true },
    });
    if (wire === 'gemini') {
      // Arguments are JSON within JSON here, so the event itself is broken.
      const { text } = await received(await post(provider.url, wire, HELLO));
      assert.match(text, /"args":\{"path":"\."\}/);
      return;
    }
    const { calls } = await ask(provider.url, wire, HELLO);
    assert.deepEqual(calls, [{ id: 'call_1_1', name: 'ls', json: '{"path":"."' }]);
  });

  test(`${wire}: a reset comes before any header`, async () => {
    await using provider = await opening({ fault: { reset: true } });
    await assert.rejects(post(provider.url, wire, HELLO), { name: 'TypeError', message: 'fetch failed' });
    assert.deepEqual(
      provider.requests.map(({ status, finishedMs }) => ({ status, finishedMs })),
      [{ status: undefined, finishedMs: undefined }],
    );
  });

  test(`${wire}: a stream without an end stops in good order after its content`, async () => {
    await using provider = await opening({ text: 'all of it', fault: { noStop: true } });
    const { text, broken } = await received(await post(provider.url, wire, HELLO));
    assert.equal(broken, false);
    assert.match(text, /all of it/);
    assert.doesNotMatch(text, /message_delta|message_stop|"finish_reason":"|\[DONE\]/);
  });

  test(`${wire}: a refusal has its own stop reason`, async () => {
    await using provider = await opening({ text: 'I would rather not.', fault: { refuse: true } });
    const { text, stop } = await ask(provider.url, wire, HELLO);
    assert.deepEqual([text, stop], ['I would rather not.', STOPS[wire]['refusal']]);
  });

  test(`${wire}: a breach of a law is recorded and answered with 400`, async () => {
    await using provider = await opening({ text: 'never said' });
    const response = await post(provider.url, wire, [{ role: 'assistant', content: 'me first' }]);
    assert.equal(response.status, 400);
    const at = `${MESSAGES[wire] ?? 'messages'}[0]`;
    assert.ok((await response.text()).includes(`law 1 violated at ${at}: the first message is not from`));
    assert.deepEqual(provider.violations, [
      { law: 1, at, message: 'the first message is not from the user', wire, request: 0 },
    ]);
  });

  test(`${wire}: each request is on record, with times in order`, async () => {
    const seen: string[] = [];
    await using provider = await open({
      scenario: { replies: [{ text: 'hi' }] },
      onRequest: ({ method, path, status }) => seen.push(`${method} ${path} ${status}`),
    });
    const field = FREE_FIELDS[wire] ?? 'metadata';
    await ask(provider.url, wire, HELLO, { [field]: { user: 'x' } });
    const [record] = provider.requests;
    assert.ok(record?.body && record.finishedMs !== undefined);
    assert.ok(record.arrivedMs < record.finishedMs);
    assert.equal(record.bodyBytes, Buffer.byteLength(JSON.stringify(record.body)));
    assert.deepEqual(
      [record.wire, record.model, record.turn, record.body[field], record.status],
      [wire, modelOf(wire), 1, { user: 'x' }, 200],
    );
    assert.deepEqual(seen, [`POST ${record.path} 200`]);
  });

  test(`${wire}: a body of many megabytes is read, and not kept where nobody wants it`, async () => {
    await using provider = await open({ scenario: { replies: [] }, keepBodies: false });
    const long = 'x'.repeat(20 * 1024 * 1024);
    assert.equal((await ask(provider.url, wire, [{ role: 'user', content: long }])).text, 'Done.');
    const [record] = provider.requests;
    assert.ok(record && record.bodyBytes > long.length);
    assert.equal(record.body, undefined);
  });

  test(`${wire}: a body beyond the cap is refused after it was read`, async () => {
    await using provider = await opening({ text: 'never said' });
    const response = await post(provider.url, wire, [
      { role: 'user', content: 'x'.repeat(64 * 1024 * 1024) },
    ]);
    assert.equal(response.status, 413);
    assert.match(await response.text(), /too large/);
  });
}

for (const wire of ['anthropic', 'openai', 'responses', 'vertex'] as const) {
  test(`${wire}: a request that does not stream is told to`, async () => {
    await using provider = await opening({ text: 'never said' });
    const response = await post(provider.url, wire, HELLO, { stream: false });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /send \\"stream\\": true/);
    assert.deepEqual(provider.violations, []);
  });
}

for (const [path, told] of [
  [
    '/v1beta/models/gemini-3-pro:streamGenerateContent',
    /only streams: ask :streamGenerateContent with \?alt=sse/,
  ],
  ['/v1beta/models/gemini-3-pro:generateContent?alt=sse', /only streams: ask the streaming path/],
] as const) {
  test(`gemini: ${path} is told how to stream`, async () => {
    await using provider = await opening({ text: 'never said' });
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] });
    const response = await fetch(provider.url + path, { method: 'POST', body });
    assert.equal(response.status, 400);
    assert.match(await response.text(), told);
  });
}

test('a client that goes away, while it sends or while it is sent to, harms nobody', async () => {
  await using provider = await opening({ text: 'abc', chunk: 1, delayMs: 60_000 }, { text: 'well' });
  const leave = new AbortController();
  const body = JSON.stringify({ model: 'm', max_tokens: 1, stream: true, messages: HELLO });
  const { signal } = leave;
  const response = await fetch(`${provider.url}/v1/messages`, { method: 'POST', body, signal });
  leave.abort();
  assert.equal((await received(response)).broken, true);

  const socket = connect(provider.port, '127.0.0.1');
  await new Promise<void>((resolve) => {
    socket.write('POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 9999\r\n\r\n{', () => resolve());
  });
  socket.destroy();

  const second = [...HELLO, { role: 'assistant', content: 'abc' }, ...HELLO];
  assert.equal((await ask(provider.url, 'anthropic', second)).text, 'well');
  assert.deepEqual(
    provider.requests.map(({ finishedMs }) => finishedMs !== undefined),
    [false, true],
  );
});

test('usage is left out on the OpenAI wire unless it is asked for', async () => {
  await using provider = await opening({ text: 'hi' });
  const { usage } = await ask(provider.url, 'openai', HELLO, { stream_options: undefined });
  assert.equal(usage, undefined);
});

test('one connection carries many requests', async () => {
  await using provider = await opening({ text: 'hi' });
  const body = JSON.stringify({ model: 'm', max_tokens: 1, stream: true, messages: HELLO });
  const request = `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(provider.port, '127.0.0.1').setEncoding('utf8');
  let heard = '';
  socket.write(request);
  for await (const chunk of socket) {
    heard += chunk;
    // The empty chunk that ends each answer.
    const answers = heard.split('\r\n0\r\n\r\n').length - 1;
    if (answers === 3) break;
    if (answers === provider.requests.length) socket.write(request);
  }
  assert.equal(provider.requests.length, 3);
});

test('what is not served is a 404 that says what is', async () => {
  await using provider = await opening();
  const response = await fetch(`${provider.url}/chat/completions`, { method: 'POST' });
  assert.deepEqual(
    [response.status, await response.json()],
    [
      404,
      {
        type: 'error',
        error: {
          type: 'not_found_error',
          message:
            'POST /chat/completions is not here; this provider answers POST /v1/messages, ' +
            'POST /v1/chat/completions, POST /v1/responses, POST /v1beta/models/{model}:streamGenerateContent, ' +
            'POST /model/{model}/invoke-with-response-stream, ' +
            'POST /v1/…/publishers/anthropic/models/{model}:streamRawPredict, GET /v1/models',
        },
      },
    ],
  );
});

test('the models are listed', async () => {
  await using provider = await opening();
  const response = await fetch(`${provider.openaiUrl}/models?limit=10`);
  assert.deepEqual(await response.json(), {
    object: 'list',
    data: [{ id: 'fake-model', object: 'model', created: 0, owned_by: 'crab' }],
  });
});

test('what is no JSON is refused', async () => {
  await using provider = await opening();
  const response = await fetch(`${provider.url}/v1/messages`, { method: 'POST', body: '[1]' });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /not a JSON object/);
});

test('a port that is taken is an error that names it', async () => {
  await using provider = await opening();
  await assert.rejects(
    startFakeProvider({ scenario: { replies: [] }, port: provider.port }),
    (error) =>
      error instanceof CrabError && error.code === 'usage' && error.message.includes(`${provider.port}`),
  );
});
