// A bad day at a provider: what is waited for, how long, what is tried again, and what of an answer is too much.

import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Clock } from '../../core/host.ts';
import type { Model, ModelChunk } from '../../core/model.ts';
import {
  ANTHROPIC_HELLO,
  anthropicAt,
  chunks,
  helloChunks,
  instantClock,
  modelRequest,
  openaiAt,
  outcome,
  sendStream,
  serve,
} from './testing.ts';

const HELLO = helloChunks('msg_1', 'claude-test');
const CONTENT_END = ANTHROPIC_HELLO.indexOf('\n\n', ANTHROPIC_HELLO.indexOf('Hello')) + 2;
const STREAM = { 'content-type': 'text/event-stream' };

async function story(model: Model): Promise<unknown[]> {
  return (await chunks(model)).map(outcome);
}

const typesOf = (all: readonly ModelChunk[]) =>
  all.map((chunk) => (chunk.type === 'failure' ? chunk.error.code : chunk.type));

/** Answers each connection's first bytes with these, and does nothing more. */
async function serveRaw(
  speak: (socket: Socket, turn: number) => void,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => speak(socket, turn++));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A clock that stands where it is put. */
function setClock(slept: number[] = []): Clock & { at: number } {
  const clock = {
    at: 0,
    now: () => Date.UTC(2026, 0, 1) + clock.at,
    monotonic: () => clock.at,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      slept.push(milliseconds);
    },
  };
  return clock;
}

test('a stream of pings is not content: it is given up and asked for again', async () => {
  let pinging: NodeJS.Timeout | undefined;
  await using server = await serve((response, _request, turn) => {
    if (turn > 0) return sendStream(response, ANTHROPIC_HELLO);
    response.writeHead(200, STREAM);
    pinging = setInterval(() => response.write('event: ping\ndata: {"type": "ping"}\n\n'), 5);
    response.once('close', () => clearInterval(pinging));
  });
  const limits = { firstContentMs: 1500, contentMs: 60_000 };
  const [retry, ...rest] = await chunks(await anthropicAt(server.url, { limits }));
  clearInterval(pinging);
  assert.deepEqual(retry, {
    type: 'retry',
    attempt: 1,
    maxAttempts: 5,
    delayMs: 250,
    reason: `${new URL(server.url).host} kept the connection alive, but sent nothing of an answer for 1.5 seconds.`,
  });
  assert.deepEqual(rest, HELLO);
});

test('pings behind content end the answer, and keep what there is', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, STREAM);
    response.write(ANTHROPIC_HELLO.slice(0, CONTENT_END));
    const pinging = setInterval(() => response.write(': ping\n\n'), 5);
    response.once('close', () => clearInterval(pinging));
  });
  const got = await chunks(await anthropicAt(server.url, { limits: { contentMs: 60 } }));
  assert.deepEqual(typesOf(got), ['messageStart', 'contentDelta', 'provider-stalled']);
});

test('the clock of content stands still while the reader is busy', async () => {
  const rest = Promise.withResolvers<void>();
  await using server = await serve((response) => {
    response.writeHead(200, STREAM);
    response.write(ANTHROPIC_HELLO.slice(0, CONTENT_END));
    rest.promise.then(() => response.end(ANTHROPIC_HELLO.slice(CONTENT_END)));
  });
  const model = await anthropicAt(server.url, { limits: { contentMs: 1000, firstContentMs: 1000 } });
  const got: ModelChunk[] = [];
  for await (const batch of model.stream(modelRequest(), new AbortController().signal)) {
    got.push(...batch);
    if (got.length > 2) continue;
    // Longer than the limit, as a tool that runs or a person who thinks.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    rest.resolve();
  }
  assert.deepEqual(got, HELLO);
});

for (const [header, status, requests] of [
  ['false', 529, 1],
  ['true', 400, 5],
  ['maybe', 529, 5],
] as const) {
  test(`x-should-retry: ${header} on ${status} makes ${requests} tries`, async () => {
    await using server = await serve((response) =>
      response.writeHead(status, { 'x-should-retry': header }).end('{}'),
    );
    await chunks(await openaiAt(server.url));
    assert.equal(server.received.length, requests);
  });
}

test('a limit that says when it is lifted is waited for, though nobody says retry-after', async () => {
  await using server = await serve((response, _request, turn) => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '7s' };
    if (turn === 0) response.writeHead(429, headers).end('{}');
    else sendStream(response, ANTHROPIC_HELLO);
  });
  const slept: number[] = [];
  const model = await anthropicAt(server.url, { clock: instantClock(slept) });
  assert.deepEqual(typesOf(await chunks(model)).slice(0, 2), ['retry', 'messageStart']);
  assert.deepEqual(slept, [7000]);
});

test('the limits of a provider behind the provider are read from the error', async () => {
  const headers = {
    'X-RateLimit-Limit': '20',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(Date.UTC(2026, 0, 1) + 9000),
  };
  await using server = await serve((response) =>
    response
      .writeHead(429)
      .end(JSON.stringify({ error: { message: 'slow', code: 429, metadata: { headers } } })),
  );
  const slept: number[] = [];
  const model = await openaiAt(server.url, { clock: instantClock(slept), maxRetries: 1 });
  await chunks(model);
  assert.deepEqual(slept, [9000]);
  assert.deepEqual(model.rateLimit?.(), { remainingRequests: 0, resetAt: Date.UTC(2026, 0, 1) + 9000 });
});

test('a used-up limit holds the next request back, says so, and is forgotten when it is lifted', async () => {
  await using server = await serve((response) => {
    response.setHeader('date', 'Thu, 01 Jan 2026 00:00:00 GMT');
    response.setHeader('anthropic-ratelimit-requests-remaining', '0');
    response.setHeader('anthropic-ratelimit-requests-reset', '2026-01-01T00:00:12Z');
    sendStream(response, ANTHROPIC_HELLO);
  });
  const slept: number[] = [];
  const clock = setClock(slept);
  const model = await anthropicAt(server.url, { clock });
  assert.equal(model.rateLimit?.(), undefined);
  assert.deepEqual(await chunks(model), HELLO);
  assert.deepEqual(model.rateLimit?.(), { remainingRequests: 0, resetAt: Date.UTC(2026, 0, 1, 0, 0, 12) });
  const [held, ...rest] = await chunks(model);
  assert.deepEqual(held, {
    type: 'retry',
    attempt: 0,
    maxAttempts: 5,
    delayMs: 12_250,
    reason: 'anthropic allows no further request until its limit is lifted',
  });
  assert.deepEqual(rest, HELLO);
  clock.at = 12_001;
  assert.deepEqual(await chunks(model), HELLO);
  assert.deepEqual(slept, [12_250]);
});

test('the wait for a limit ends with its signal, and nothing is sent', async () => {
  await using server = await serve((response) => {
    response.setHeader('ratelimit-remaining', '0');
    response.setHeader('ratelimit-reset', '30');
    sendStream(response, ANTHROPIC_HELLO);
  });
  const stop = new AbortController();
  const sleep: Clock['sleep'] = (_milliseconds, signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      setImmediate(() => stop.abort());
    });
  const model = await anthropicAt(server.url, { clock: { ...instantClock(), sleep } });
  await chunks(model);
  assert.deepEqual(typesOf(await chunks(model, modelRequest(), stop.signal)), ['retry', 'interrupted']);
  assert.equal(server.received.length, 1);
});

test('a provider that fails again and again gets single tries until the time is over', async () => {
  let isWell = false;
  await using server = await serve((response) =>
    isWell ? sendStream(response, ANTHROPIC_HELLO) : response.writeHead(529).end('{}'),
  );
  const clock = setClock();
  const model = await anthropicAt(server.url, { clock });
  const tries = async () => {
    const before = server.received.length;
    const got = await chunks(model);
    return [server.received.length - before, typesOf(got).at(-1), model.health?.()];
  };
  assert.deepEqual(await tries(), [5, 'provider-overloaded', 'open']);
  assert.deepEqual(await tries(), [1, 'provider-overloaded', 'open']);
  clock.at = 30_000;
  assert.equal(model.health?.(), 'ok');
  assert.deepEqual(await tries(), [5, 'provider-overloaded', 'open']);
  clock.at = 89_999;
  assert.equal(model.health?.(), 'open');
  const last = (await chunks(model)).at(-1);
  assert.ok(last?.type === 'failure' && last.error.retryable);
  assert.match(last.error.hint, /^It has failed again and again, so it was tried once\. /);
  isWell = true;
  assert.deepEqual(await tries(), [1, 'end', 'ok']);
});

test('a connection that is never made is given up', async () => {
  await using server = await serve((response) => response.end());
  const limits = { connectMs: 30 };
  // Reserved for documentation (RFC 5737): nobody answers there, or the network says so at once.
  const got = await story(await anthropicAt('http://192.0.2.1:9', { limits, maxRetries: 0 }));
  assert.match(
    JSON.stringify(got),
    /"code":"network","message":"(?:There was no connection to|192\.0\.2\.1:9 could not be reached)/,
  );
  assert.equal(server.connections(), 0);
});

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`a bomb in ${encoding} is stopped at the cap`, async () => {
    const bomb = compress(Buffer.alloc(80 * 1024 * 1024, ': x\n'));
    assert.ok(bomb.length < 400_000, `${bomb.length} bytes are no bomb`);
    await using server = await serve((response) =>
      response.writeHead(200, { ...STREAM, 'content-encoding': encoding }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    const got = await story(await anthropicAt(server.url, { limits: { maxBytes: 8 * 1024 * 1024 } }));
    assert.equal(got.length, 1);
    assert.match(
      JSON.stringify(got),
      /"code":"provider-protocol".*is longer than 8388608 bytes.*"retryable":false/,
    );
    assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
  });
}

test('a body without an end is stopped at the cap', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, STREAM);
    const line = `: ${'x'.repeat(100_000)}\n`;
    const more = () => {
      while (response.writable && response.write(line));
    };
    response.on('drain', more);
    more();
  });
  const got = await story(await anthropicAt(server.url, { limits: { maxBytes: 4_000_000 } }));
  assert.match(JSON.stringify(got), /"provider-protocol".*is longer than 4000000 bytes/);
});

test('headers of a megabyte are named', async () => {
  await using server = await serveRaw((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
  );
  assert.deepEqual(await story(await anthropicAt(server.url)), [
    {
      code: 'provider-protocol',
      message: `${new URL(server.url).host} sent longer headers than are accepted (16 KB).`,
      retryable: false,
    },
  ]);
});

test('JSON that is nested a hundred thousand deep is an error like any other', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  let answer = '';
  let status = 200;
  await using server = await serve((response) => response.writeHead(status, STREAM).end(answer));
  for (const at of [anthropicAt, openaiAt]) {
    for (status of [200, 400]) {
      for (answer of [deep, `data: ${deep}\n\n`, `data: {"type":"error","error":${deep}}\n\n`]) {
        const last = (await chunks(await at(server.url, { maxRetries: 0 }))).at(-1);
        assert.ok(last?.type === 'failure', JSON.stringify(last)?.slice(0, 100));
        assert.notEqual(last.error.code, 'internal', last.error.message.slice(0, 200));
      }
    }
  }
});

test('text that is not UTF-8 becomes replacement characters', async () => {
  const [before = '', behind = ''] = ANTHROPIC_HELLO.split('Hello');
  await using server = await serve((response) => {
    response.writeHead(200, STREAM);
    response.end(
      Buffer.concat([
        Buffer.from(before),
        Buffer.from([0x48, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
        Buffer.from(behind),
      ]),
    );
  });
  const got = await chunks(await anthropicAt(server.url));
  assert.deepEqual(got[1], { type: 'contentDelta', index: 0, delta: 'H��(���' });
});

const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

for (const [name, bytes, code] of [
  ['a chunk without a size', `${CHUNKED}zz\r\n`, 'stream-cut'],
  ['a chunk that is shorter than its size', `${CHUNKED}5\r\nabcdefgh\r\n`, 'stream-cut'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'provider-protocol',
  ],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
    'provider-protocol',
  ],
  [
    'another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    'provider-protocol',
  ],
  ['nothing but a first line', 'HTTP/1.1 200', 'network'],
] as const) {
  test(`${name} is ${code}`, async () => {
    await using server = await serveRaw((socket) => socket.end(bytes));
    const [last, ...more] = await chunks(await anthropicAt(server.url, { maxRetries: 0 }));
    assert.deepEqual(more, []);
    assert.equal(last?.type === 'failure' && last.error.code, code, JSON.stringify(outcome(last)));
  });
}

test('answers that are none (100, 102, 103) come before the one that counts', async () => {
  const length = `content-length: ${ANTHROPIC_HELLO.length}\r\n\r\n`;
  await using server = await serveRaw((socket) =>
    socket.write(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n${length}${ANTHROPIC_HELLO}`,
    ),
  );
  assert.deepEqual(await chunks(await anthropicAt(server.url)), HELLO);
});

test('a refusal that comes before the request was read is heard', async () => {
  const message = '{"error":{"type":"request_too_large","message":"too large"}}';
  await using server = await serveRaw((socket) => {
    socket.pause();
    socket.end(
      `HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: ${message.length}\r\n\r\n${message}`,
    );
  });
  const messages = [{ role: 'user', content: 'x'.repeat(8 * 1024 * 1024), timestamp: 0 } as const];
  const [last] = await chunks(await anthropicAt(server.url), modelRequest({ messages }));
  assert.equal(
    last?.type === 'failure' && last.error.code,
    'context-overflow',
    JSON.stringify(outcome(last)),
  );
});

test('several kept connections that the server has closed cost nothing but a new one', async () => {
  const waiting: Socket[] = [];
  const reply = `HTTP/1.1 200 OK\r\ncontent-length: ${ANTHROPIC_HELLO.length}\r\n\r\n${ANTHROPIC_HELLO}`;
  let asked = 0;
  await using server = await serveRaw((socket) => {
    asked++;
    // What comes next on this connection meets a reset.
    socket.on('data', () => socket.resetAndDestroy());
    if (asked > 4) {
      socket.write(reply);
      return;
    }
    waiting.push(socket);
    if (waiting.length === 4) for (const one of waiting) one.write(reply);
  });
  const model = await anthropicAt(server.url, { maxRetries: 0 });
  await Promise.all(Array.from({ length: 4 }, () => chunks(model)));
  assert.deepEqual(await chunks(model), HELLO);
});
