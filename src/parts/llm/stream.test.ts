import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Model, ModelChunk } from '../../core/model.ts';
import {
  ANTHROPIC_HELLO,
  anthropicAt,
  batches,
  chunks,
  helloChunks,
  instantClock,
  type Loopback,
  modelRequest,
  OPENAI_HELLO,
  openaiAt,
  outcome,
  sendStream,
  serve,
} from './testing.ts';

const WIRES = [
  {
    name: 'anthropic',
    at: anthropicAt,
    hello: ANTHROPIC_HELLO,
    helloChunks: helloChunks('msg_1', 'claude-test'),
    key: 'sk-ant-secret',
    refuse: (type: string, message: string) => ({ type: 'error', error: { type, message } }),
    types: { overflow: 'invalid_request_error', quota: 'billing_error', wrong: 'invalid_request_error' },
  },
  {
    name: 'openai',
    at: openaiAt,
    hello: OPENAI_HELLO,
    helloChunks: helloChunks('c1', 'local-test'),
    key: 'sk-secret',
    refuse: (type: string, message: string) => ({ error: { type, message, code: null } }),
    types: { overflow: 'invalid_request_error', quota: 'insufficient_quota', wrong: 'invalid_request_error' },
  },
] as const;

/** Until its last chunk, which is made plain. */
async function story(model: Model): Promise<unknown[]> {
  const all = await chunks(model);
  return all.map(outcome);
}

function portless(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}

/** Tries that fail the same way until none are left. */
async function failing(
  wire: (typeof WIRES)[number],
  respond: (response: ServerResponse) => void,
): Promise<{ last: unknown; requests: number; slept: number[]; server: Loopback }> {
  const slept: number[] = [];
  await using server = await serve(respond);
  const model = await wire.at(server.url, { clock: instantClock(slept) });
  const all = await story(model);
  const last = JSON.parse(portless(JSON.stringify(all.at(-1))));
  return { last, requests: server.received.length, slept, server };
}

for (const wire of WIRES) {
  test(`${wire.name}: an answer`, async () => {
    await using server = await serve((response) => sendStream(response, wire.hello));
    assert.deepEqual(await chunks(await wire.at(server.url)), wire.helloChunks);
    const [request] = server.received;
    assert.equal(request?.headers['user-agent'], 'crab/test');
    assert.equal(request?.headers['content-type'], 'application/json');
    assert.equal(JSON.parse(request?.body ?? '').stream, true);
  });

  test(`${wire.name}: an answer that comes byte by byte`, async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(wire.hello);
      const next = (at: number) => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => next(at + 1));
      };
      next(0);
    });
    const got = await batches(await wire.at(server.url));
    assert.deepEqual(got.flat(), wire.helloChunks);
    assert.ok(got.every((batch) => batch.length > 0));
  });

  test(`${wire.name}: an answer that breaks off anywhere has no end, and keeps its text`, async () => {
    const bytes = Buffer.from(wire.hello);
    const lengths = [0, 1, 20, bytes.indexOf('Hello') + 3, bytes.indexOf('Hello') + 60];
    let length = 0;
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, length), () => response.destroy());
    });
    const model = await wire.at(server.url, { maxRetries: 0 });
    for (length of lengths) {
      const got = await chunks(model);
      const last = got.at(-1);
      assert.equal(last?.type === 'failure' && last.error.code, 'stream-cut', `first ${length} bytes`);
      assert.deepEqual(got.slice(0, -1), wire.helloChunks.slice(0, got.length - 1));
    }
  });

  test(`${wire.name}: a body that ends too early is cut, not finished`, async () => {
    const half = wire.hello.slice(0, wire.hello.indexOf('Hello'));
    await using server = await serve((response) => sendStream(response, half));
    assert.deepEqual(await story(await wire.at(server.url, { maxRetries: 0 })), [
      { code: 'stream-cut', message: `${wire.name} ended its answer in the middle.`, retryable: true },
    ]);
  });

  for (const [status, type, message, code] of [
    [400, 'invalid_request_error', 'bad schema', 'provider-request'],
    [400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', 'context-overflow'],
    [400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit', 'context-overflow'],
    [400, 'x', "This model's maximum context length is 8192 tokens", 'context-overflow'],
    [400, 'context_length_exceeded', '', 'context-overflow'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'context-overflow'],
    [401, 'authentication_error', 'invalid x-api-key', 'auth-refused'],
    [403, 'permission_error', 'not yours', 'auth-refused'],
    [404, 'not_found_error', 'model: x', 'provider-request'],
    [422, 'x', 'no', 'provider-request'],
    [402, 'billing_error', 'pay', 'quota-exhausted'],
    [400, 'invalid_request_error', 'Your credit balance is too low', 'quota-exhausted'],
    [429, 'insufficient_quota', 'You exceeded your current quota', 'quota-exhausted'],
  ] as const) {
    test(`${wire.name}: ${status} ${type} ${message} is ${code} at once`, async () => {
      const { last, requests } = await failing(wire, (response) =>
        response.writeHead(status).end(JSON.stringify(wire.refuse(type, message))),
      );
      assert.deepEqual(last, {
        code,
        message: `${wire.name} answered ${status} (${type})${message === '' ? '.' : `: ${message}`}`,
        status,
        retryable: false,
      });
      assert.equal(requests, 1);
    });
  }

  for (const [status, type, code] of [
    [408, 'timeout', 'provider-failed'],
    [409, 'conflict', 'provider-failed'],
    [425, 'early', 'provider-failed'],
    [429, 'rate_limit_error', 'rate-limited'],
    [500, 'api_error', 'provider-failed'],
    [502, 'bad_gateway', 'provider-failed'],
    [503, 'unavailable', 'provider-overloaded'],
    [529, 'overloaded_error', 'provider-overloaded'],
  ] as const) {
    test(`${wire.name}: ${status} ${type} is ${code} after five tries`, async () => {
      const { last, requests, slept } = await failing(wire, (response) =>
        response.writeHead(status).end(JSON.stringify(wire.refuse(type, 'no'))),
      );
      const message = `${wire.name} answered ${status} (${type}): no`;
      assert.deepEqual(last, { code, message, status, retryable: true });
      assert.equal(requests, 5);
      assert.deepEqual(slept, [250, 500, 1000, 2000]);
    });
  }

  test(`${wire.name}: each retry is told before the wait, and then the answer comes`, async () => {
    await using server = await serve((response, _request, turn) => {
      if (turn === 0)
        response
          .writeHead(429, { 'retry-after': '7', connection: 'close' })
          .end('<html>slow\u001b[31m down</html>');
      else if (turn === 1) response.destroy();
      else sendStream(response, wire.hello);
    });
    const slept: number[] = [];
    const got = await batches(await wire.at(server.url, { clock: instantClock(slept) }));
    assert.deepEqual(got.slice(0, 2), [
      [
        {
          type: 'retry',
          attempt: 1,
          maxAttempts: 5,
          delayMs: 7000,
          status: 429,
          reason: `${wire.name} answered 429: <html>slow [31m down</html>`,
        },
      ],
      [
        {
          type: 'retry',
          attempt: 2,
          maxAttempts: 5,
          delayMs: 500,
          reason: `${new URL(server.url).host} could not be reached: the connection was closed (ECONNRESET).`,
        },
      ],
    ]);
    assert.deepEqual(got.slice(2).flat(), wire.helloChunks);
    assert.deepEqual(slept, [7000, 500]);
  });

  test(`${wire.name}: an error event before any content is retried, after content it ends the answer`, async () => {
    const error = `data: ${JSON.stringify(wire.refuse('server_error', 'broke'))}\n\n`;
    const at = wire.hello.indexOf('\n\n', wire.hello.indexOf('Hello')) + 2;
    let head = '';
    await using server = await serve((response) => sendStream(response, head + error + wire.hello.slice(at)));
    const model = await wire.at(server.url, { maxRetries: 1 });
    const failure = {
      code: 'provider-failed',
      message: `${wire.name} reported server_error: broke`,
      retryable: true,
    };
    const [retry, last, ...none] = await story(model);
    assert.equal((retry as ModelChunk).type, 'retry');
    assert.deepEqual([last, none], [failure, []]);
    head = wire.hello.slice(0, at);
    const late = await story(model);
    assert.deepEqual(late.at(-1), failure);
    assert.ok(late.some((chunk) => (chunk as ModelChunk).type === 'contentDelta'));
    assert.ok(!late.some((chunk) => (chunk as ModelChunk).type === 'retry'));
  });

  for (const [name, body, type] of [
    ['a web page', '<!doctype html>\n<h1>Sign\u0000 in</h1>', 'text/html'],
    ['a JSON error with status 200', '{"error":{"message":"no"}}', 'application/json'],
  ] as const) {
    test(`${wire.name}: ${name} instead of a stream`, async () => {
      const { last, requests } = await failing(wire, (response) =>
        response.writeHead(200, { 'content-type': type }).end(body),
      );
      const shown = body.replace('\n', ' ').replace('\u0000', '');
      assert.deepEqual(last, {
        code: 'provider-protocol',
        message: `${wire.name} at HOST did not answer with an event stream: ${shown}`,
        retryable: false,
      });
      assert.equal(requests, 1);
    });
  }

  test(`${wire.name}: an event that is no JSON`, async () => {
    const { last } = await failing(wire, (response) =>
      sendStream(response, `data: {"a":${'x'.repeat(300)}\n\n`),
    );
    assert.deepEqual(last, {
      code: 'provider-protocol',
      message: `${wire.name} at HOST sent an event that is not valid JSON: {"a":${'x'.repeat(195)}…`,
      retryable: false,
    });
  });

  test(`${wire.name}: a redirect is not followed, and says where to`, async () => {
    const { last, requests } = await failing(wire, (response) =>
      response.writeHead(307, { location: 'https://me:pw@other.example/v1?token=t' }).end(),
    );
    assert.deepEqual(last, {
      code: 'provider-protocol',
      message: `${wire.name} at HOST redirects (307) to https://other.example/v1; redirects are not followed.`,
      status: 307,
      retryable: false,
    });
    assert.equal(requests, 1);
  });

  test(`${wire.name}: a key that the provider echoes is not shown, wherever it is cut`, async () => {
    for (const before of [0, 190, 195, 490, 495]) {
      for (const status of [401, 200]) {
        const echo = `${'x'.repeat(before)}${wire.key} is wrong`;
        const { last } = await failing(wire, (response) => response.writeHead(status).end(echo));
        assert.ok(!JSON.stringify(last).includes(wire.key.slice(0, 5)), JSON.stringify(last));
      }
    }
  });

  test(`${wire.name}: no more tries than are allowed`, async () => {
    for (const [env, expected] of [
      [{ CRAB_MAX_RETRIES: '0' }, 1],
      [{ CRAB_MAX_RETRIES: '2' }, 3],
    ] as const) {
      await using server = await serve((response) => response.writeHead(500).end());
      await chunks(await wire.at(server.url, { env }));
      assert.equal(server.received.length, expected);
    }
  });

  test(`${wire.name}: a stall before any content is retried, after content it ends the answer`, async () => {
    const at = wire.hello.indexOf('\n\n', wire.hello.indexOf('Hello')) + 2;
    await using server = await serve((response, _request, turn) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(turn === 0 ? ': wait\n\n' : wire.hello.slice(0, at));
    });
    const got = await story(await wire.at(server.url, { limits: { stallMs: 40 } }));
    assert.deepEqual(
      got.map((chunk) => (chunk as ModelChunk).type ?? (chunk as { code: string }).code),
      ['retry', 'messageStart', 'contentDelta', 'provider-stalled'],
    );
  });

  test(`${wire.name}: aborting while text arrives ends with a failure that says so`, async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(wire.hello.slice(0, wire.hello.indexOf('\n\n', wire.hello.indexOf('Hello')) + 2));
    });
    const controller = new AbortController();
    const model = await wire.at(server.url);
    const got: ModelChunk[] = [];
    for await (const batch of model.stream(modelRequest(), controller.signal)) {
      got.push(...batch);
      controller.abort();
    }
    assert.deepEqual(got.slice(0, 2), wire.helloChunks.slice(0, 2));
    assert.deepEqual(outcome(got[2]), {
      code: 'interrupted',
      message: 'The request to the model was cancelled.',
      retryable: false,
    });
    assert.equal(got.length, 3);
  });

  test(`${wire.name}: aborting ends the wait for a retry at once`, async () => {
    await using server = await serve((response) => response.writeHead(503).end());
    const controller = new AbortController();
    const clock = {
      ...instantClock(),
      sleep: (_milliseconds: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        ),
    };
    const model = await wire.at(server.url, { clock });
    const got: unknown[] = [];
    for await (const batch of model.stream(modelRequest(), controller.signal)) {
      got.push(...batch.map((chunk) => (chunk.type === 'failure' ? chunk.error.code : chunk.type)));
      setImmediate(() => controller.abort());
    }
    assert.deepEqual(got, ['retry', 'interrupted']);
  });

  test(`${wire.name}: a consumer that leaves closes the connection`, async () => {
    const gone = Promise.withResolvers<void>();
    await using server = await serve((response) => {
      response.on('close', () => gone.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(wire.hello.slice(0, wire.hello.indexOf('\n\n', wire.hello.indexOf('Hello')) + 2));
    });
    for await (const _batch of (await wire.at(server.url)).stream(
      modelRequest(),
      new AbortController().signal,
    ))
      break;
    await gone.promise;
  });

  test(`${wire.name}: one connection serves a conversation`, async () => {
    await using server = await serve((response) => sendStream(response, wire.hello));
    const model = await wire.at(server.url);
    for (let turn = 0; turn < 4; turn++) assert.deepEqual(await chunks(model), wire.helloChunks);
    assert.equal(server.connections(), 1);
  });

  test(`${wire.name}: a request that cannot be put into JSON fails without being sent`, async () => {
    await using server = await serve((response) => sendStream(response, wire.hello));
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const tools = [{ name: 'x', description: '', input: circular }];
    const [last] = await chunks(await wire.at(server.url), modelRequest({ tools }));
    assert.equal(last?.type === 'failure' && last.error.code, 'internal');
    assert.equal(server.received.length, 0);
  });
}

test('anthropic: a key goes into its own header, a token into the usual one', async () => {
  await using server = await serve((response) => sendStream(response, ANTHROPIC_HELLO));
  await chunks(await anthropicAt(server.url));
  await chunks(
    await anthropicAt(server.url, { env: { ANTHROPIC_AUTH_TOKEN: 'token', ANTHROPIC_BASE_URL: server.url } }),
  );
  assert.deepEqual(
    server.received.map(({ headers }) => [
      headers['x-api-key'],
      headers.authorization,
      headers['anthropic-version'],
    ]),
    [
      ['sk-ant-secret', undefined, '2023-06-01'],
      [undefined, 'Bearer token', '2023-06-01'],
    ],
  );
});

test('openai: an answer that has its finish reason is whole even if the connection breaks then', async () => {
  const finished = OPENAI_HELLO.indexOf('\n\n', OPENAI_HELLO.indexOf('"stop"')) + 2;
  await using server = await serve((response) => {
    response.writeHead(200);
    response.write(OPENAI_HELLO.slice(0, finished), () => response.destroy());
  });
  const got = await chunks(await openaiAt(server.url));
  assert.deepEqual(got.at(-1), {
    type: 'end',
    stopReason: 'stop',
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  });
});

test('a 404 says that the model may be the fault', async () => {
  await using server = await serve((response) => response.writeHead(404).end());
  const last = (await chunks(await openaiAt(server.url))).at(-1);
  assert.equal(
    last?.type === 'failure' && last.error.hint,
    'Check the model that --model names and the base URL; nothing is there under this name.',
  );
});
