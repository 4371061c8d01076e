import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { CrabError } from '../../core/errors.ts';
import { createHttp, type Http, type HttpAnswer, type HttpLimits } from './http.ts';
import { networkFailure } from './network-failure.ts';
import { serve } from './testing.ts';

const NEVER = new AbortController().signal;

function get(http: Http, url: string, signal = NEVER): Promise<HttpAnswer> {
  return http.send({ method: 'GET', url: new URL(url), headers: {} }, signal);
}

async function text(answer: HttpAnswer): Promise<string> {
  const chunks: Buffer[] = [];
  for (let reads = await answer.read(); reads !== undefined; reads = await answer.read())
    chunks.push(...reads);
  return Buffer.concat(chunks).toString();
}

async function failure(promise: Promise<unknown>): Promise<object> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof CrabError)) throw error;
    const message = error.message.replace(/127\.0\.0\.1:\d+|localhost:\d+/, 'HOST');
    return { code: error.code, message, retryable: error.retryable };
  }
  throw new Error('no failure');
}

/** A server that speaks bytes instead of HTTP. */
async function serveBytes(
  speak: (socket: Socket, bytes: Buffer) => void,
): Promise<{ url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (bytes) => speak(socket, bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';

test('fragments arrive as one body of known length, small and large ones in order', async () => {
  await using server = await serve((response) => response.end('ok'));
  const fragments = [10, 70_000, 5, 0, 30_000, 40_000, 1].map((size, at) => Buffer.alloc(size, 97 + at));
  const http = createHttp();
  const answer = await http.send(
    { method: 'POST', url: new URL(server.url), headers: { 'x-a': 'b' }, body: fragments },
    NEVER,
  );
  assert.equal(await text(answer), 'ok');
  const [request] = server.received;
  assert.equal(request?.body, Buffer.concat(fragments).toString());
  assert.equal(request?.headers['content-length'], '140016');
  assert.equal(request?.headers['x-a'], 'b');
});

test('a small request leaves in one packet', async () => {
  const packets: string[] = [];
  await using server = await serveBytes((socket, bytes) => {
    packets.push(bytes.toString());
    socket.end(`${HEAD}content-length: 0\r\n\r\n`);
  });
  const body = [Buffer.from('{"a":'), Buffer.from('1}')];
  await text(await createHttp().send({ method: 'POST', url: new URL(server.url), headers: {}, body }, NEVER));
  assert.match(packets[0] ?? '', /^POST .*\r\n\r\n\{"a":1\}$/s);
});

test('what one network read brought is handed over together', async () => {
  const events = Array.from({ length: 50 }, (_, at) => `5\r\nev${String(at).padStart(3, '0')}\r\n`);
  await using server = await serveBytes((socket) =>
    socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n${events.join('')}0\r\n\r\n`),
  );
  const answer = await get(createHttp(), server.url);
  assert.equal((await answer.read())?.length, 50);
  assert.equal(await answer.read(), undefined);
});

test('a connection is kept and used again, also when the rest of a body was not wanted', async () => {
  await using server = await serve((response) => {
    response.write('wanted');
    response.end('the rest');
  });
  const http = createHttp();
  for (let round = 0; round < 3; round++) {
    const answer = await get(http, server.url);
    await answer.read();
    answer.finish();
    // The connection is free once the rest was read, which another exchange on a new one gives time for.
    await text(await get(http, server.url));
  }
  assert.ok(server.connections() <= 2, `${server.connections()} connections for 6 requests`);
});

test('a kept connection that the server has closed in the meantime costs nothing but a new one', async () => {
  let asked = 0;
  await using server = await serveBytes((socket) => {
    asked++;
    socket.write(`${HEAD}content-length: 2\r\n\r\nok`);
    // The next request on this connection meets a reset, as when it crosses the server's goodbye.
    socket.on('data', () => {
      asked++;
      socket.resetAndDestroy();
    });
  });
  const http = createHttp();
  assert.equal(await text(await get(http, server.url)), 'ok');
  assert.equal(await text(await get(http, server.url)), 'ok');
  assert.equal(asked, 3);
});

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`an answer in ${encoding} is decoded`, async () => {
    await using server = await serve((response) => {
      response.setHeader('content-encoding', encoding);
      response.end(compress('data: ü\n\n'.repeat(1000)));
    });
    assert.equal(await text(await get(createHttp(), server.url)), 'data: ü\n\n'.repeat(1000));
  });
}

test('compressed data that is none, and an unknown encoding, are said to be so', async () => {
  await using server = await serve((response, { path }) => {
    response.setHeader('content-encoding', path.slice(1));
    response.end('not compressed at all');
  });
  const http = createHttp();
  assert.deepEqual(await failure(get(http, `${server.url}/gzip`).then(text)), {
    code: 'provider-protocol',
    message: 'The answer of HOST is not valid gzip: incorrect header check.',
    retryable: false,
  });
  assert.deepEqual(await failure(get(http, `${server.url}/lzma`).then(text)), {
    code: 'provider-protocol',
    message: 'HOST answered in the encoding lzma, which was not asked for.',
    retryable: false,
  });
});

test('the cap on a body counts what it decodes to', async () => {
  await using server = await serve((response, { path }) => {
    if (path === '/bomb') response.setHeader('content-encoding', 'gzip');
    const body = Buffer.alloc(5_000_000, 'x');
    response.end(path === '/bomb' ? gzipSync(body) : body);
  });
  const http = createHttp({ maxBytes: 1_000_000 });
  for (const path of ['/bomb', '/plain']) {
    assert.deepEqual(await failure(get(http, server.url + path).then(text)), {
      code: 'provider-protocol',
      message: 'The answer of HOST is longer than 1000000 bytes.',
      retryable: false,
    });
  }
});

test('a reader that is slow holds the sender back', async () => {
  let written = 0;
  await using server = await serve((response) => {
    const block = Buffer.alloc(256 * 1024);
    const more = () => {
      for (let room = true; room && written < 200; written++) room = response.write(block);
      if (written < 200) response.once('drain', more);
      else response.end();
    };
    more();
  });
  const answer = await get(createHttp(), server.url);
  await answer.read();
  // Whatever the sender could push into buffers, it did once the event loop has gone round without a drain.
  for (let before = -1; before !== written; ) {
    before = written;
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(written < 100, `${written} blocks were taken without a reader`);
  assert.ok((await text(answer)).length > 0);
});

for (const [name, limits, answerPart, message] of [
  ['headers', { headersMs: 30 }, '', 'HOST sent no answer within 0.03 seconds.'],
  ['a first byte', { firstByteMs: 30 }, `${HEAD}\r\n`, 'HOST sent nothing for 0.03 seconds.'],
  ['the next byte', { stallMs: 30 }, `${HEAD}\r\nfirst`, 'HOST sent nothing for 0.03 seconds.'],
] as const satisfies readonly (readonly [string, Partial<HttpLimits>, string, string])[]) {
  test(`a provider that never sends ${name} is given up`, async () => {
    const gone = Promise.withResolvers<void>();
    await using server = await serveBytes((socket) => {
      socket.once('close', () => gone.resolve());
      socket.write(answerPart);
    });
    const error = await failure(get(createHttp(limits), server.url).then(text));
    assert.deepEqual(error, { code: 'provider-stalled', message, retryable: true });
    await gone.promise;
  });
}

test('silence while the reader is busy with something else is no stall', async () => {
  const ended = Promise.withResolvers<void>();
  await using server = await serve((response) => {
    response.write('a');
    setTimeout(() => response.end('b', () => ended.resolve()), 1200);
  });
  const answer = await get(createHttp({ stallMs: 1000 }), server.url);
  assert.equal(String((await answer.read())?.[0]), 'a');
  await ended.promise;
  assert.equal(await text(answer), 'b');
});

for (const [name, answerPart] of [
  ['before the headers', ''],
  ['before the body', `${HEAD}\r\n`],
  ['in the body', `${HEAD}\r\nfirst`],
] as const) {
  test(`aborting ${name} ends the exchange and closes the socket at once`, async () => {
    const gone = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await using server = await serveBytes((socket) => {
      socket.once('close', () => gone.resolve());
      socket.write(answerPart);
      asked.resolve();
    });
    const controller = new AbortController();
    const reading = failure(get(createHttp(), server.url, controller.signal).then(text));
    await asked.promise;
    controller.abort();
    assert.deepEqual(await reading, {
      code: 'interrupted',
      message: 'The request to the model was cancelled.',
      retryable: false,
    });
    await gone.promise;
  });
}

test('a signal that was aborted before makes no connection', async () => {
  await using server = await serve((response) => response.end());
  assert.equal(
    ((await failure(get(createHttp(), server.url, AbortSignal.abort()))) as CrabError).code,
    'interrupted',
  );
  assert.equal(server.connections(), 0);
});

test('nothing stays behind on the signal of a long run', async () => {
  await using server = await serve((response) => response.end('ok'));
  const { signal } = new AbortController();
  const http = createHttp();
  for (let round = 0; round < 5; round++) await text(await get(http, server.url, signal));
  await failure(get(http, 'http://127.0.0.1:1', signal));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a body that breaks off is reported after what arrived of it', async () => {
  await using server = await serveBytes((socket) => {
    socket.write(`${HEAD}content-length: 100\r\n\r\nfirst`, () => socket.resetAndDestroy());
  });
  const answer = await get(createHttp(), server.url);
  assert.equal(String((await answer.read())?.[0]), 'first');
  assert.deepEqual(await failure(answer.read()), {
    code: 'stream-cut',
    message: 'The connection to HOST broke off after 5 bytes of the answer.',
    retryable: true,
  });
});

test('a refused connection names the address', async () => {
  assert.deepEqual(await failure(get(createHttp(), 'http://127.0.0.1:1/v1')), {
    code: 'network',
    message: 'HOST could not be reached: the connection was refused (ECONNREFUSED).',
    retryable: true,
  });
});

test('a connection that is closed without an answer can be tried again', async () => {
  await using server = await serveBytes((socket) => socket.destroy());
  assert.deepEqual(await failure(get(createHttp(), server.url)), {
    code: 'network',
    message: 'HOST could not be reached: the connection was closed (ECONNRESET).',
    retryable: true,
  });
});

test('what does not speak HTTP is said so', async () => {
  await using server = await serveBytes((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
  const { code, retryable } = (await failure(get(createHttp(), server.url))) as CrabError;
  assert.deepEqual({ code, retryable }, { code: 'provider-protocol', retryable: false });
});

test('a host that does not exist is not asked again, a name server that is busy is', () => {
  const url = new URL('https://api.example/v1');
  const of = (code: string) => {
    const { message, retryable } = networkFailure(Object.assign(new Error('x'), { code }), { url });
    return { message, retryable };
  };
  assert.deepEqual(of('ENOTFOUND'), {
    message: 'api.example could not be reached: there is no such host (ENOTFOUND).',
    retryable: false,
  });
  assert.deepEqual(of('EAI_AGAIN'), {
    message: 'api.example could not be reached: the name could not be looked up (EAI_AGAIN).',
    retryable: true,
  });
});

// Self-signed for `localhost`, made for this test alone.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzKxYDmLVseE3Jhga
Q+6wL2aQMxDUsaykdUtTBC47UJChRANCAATS9yzq1kPaUFxNGZ0IY+M7RsYsZcve
SmN0J8ppklYUypmw7a7rLq+9kkz9MtxYnUl0tTBeBeq8uVFn0xbFXcn6
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUIaMDCO0DS5nFgUt4qp19qPgyE7gwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIzMTc0NFoYDzIxMjYxMDI4
MjMxNzQ0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATS9yzq1kPaUFxNGZ0IY+M7RsYsZcveSmN0J8ppklYUypmw7a7rLq+9
kkz9MtxYnUl0tTBeBeq8uVFn0xbFXcn6o2kwZzAdBgNVHQ4EFgQUL/uOW8b7VRbK
nqBckWckKfexipkwHwYDVR0jBBgwFoAUL/uOW8b7VRbKnqBckWckKfexipkwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhALU9xWzLaDVdRz56ZF1CTqyisk1KldgE+wFE8kQ18FlRAiEA/hwf6jgA
qOLpXdxdrcY8DMdREDhpH/aBSxjZiCO9Jto=
-----END CERTIFICATE-----`;

test('a certificate that cannot be trusted is named, and not tried again', async () => {
  const server = createSecureServer({ key: KEY, cert: CERTIFICATE }, (_request, response) =>
    response.end('ok'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const error = await failure(get(createHttp(), `https://localhost:${port}`));
  server.close();
  assert.deepEqual(error, {
    code: 'network',
    message:
      'The TLS connection to HOST failed: its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT).',
    retryable: false,
  });
});
