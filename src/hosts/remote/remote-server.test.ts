import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { authority } from '../../../test/support/authority.ts';
import {
  type Door,
  openDoor,
  statusOf,
  TOKEN,
  until,
  upgradeRequest,
} from '../../../test/support/remote-door.ts';
import { realClock } from '../../../test/support/tool-context.ts';
import { virtualClock } from '../../../test/support/virtual-clock.ts';
import type { StreamEvent } from '../../protocol/messages.ts';
import type { Call } from '../../protocol/server.ts';
import { createAuthenticate, signingKey, signToken } from './credentials.ts';
import { ClientError, type RemoteAuth, RemoteClient } from './remote-client.ts';

const OWNER: RemoteAuth = { mode: 'header', token: TOKEN };
const NAME = { client: 'test/1' };

function dial({ url }: Door, auth = OWNER, more = {}): Promise<RemoteClient> {
  return RemoteClient.connect(url, auth, { ...NAME, ...more });
}

function socketTo({ url }: Door, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) {
  return new WebSocket(url, ['crab.v2'], {
    maxPayload: 1e9,
    perMessageDeflate: false,
    handshakeTimeout: 5000,
    headers,
  });
}

/** Whether in good order or with a reset: what is sent to who has closed is answered with one. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.on('close', resolve));
}

test('a client with the token is served, whether it shows it in a header or in its Hello', async () => {
  await using door = await openDoor({ methods: { listAgents: async () => ({ agents: [] }) } });
  for (const mode of ['header', 'hello'] as const) {
    await using here = await dial(door, { mode, token: TOKEN });
    assert.equal(here.server.server, 'test');
    assert.deepEqual(await here.client.request('listAgents', {}, 'agents'), { agents: [] });
  }
  await until(() => door.remote.clients === 0, 'the end of both');
  assert.deepEqual(
    door.log.map((line) => line.replace(/^127\.0\.0\.1:\d+ /, '')),
    ['owner connected', 'owner gone', 'owner connected', 'owner gone'],
  );
});

test('a stream comes as it is said, and ends', async () => {
  await using door = await openDoor({
    methods: {
      async *stream({ content }) {
        for (const letter of content) yield { event: { case: 'chunk', value: { content: letter } } };
        yield { event: { case: 'end', value: { agent: 'crab', error: '', code: 0 } } };
      },
    },
  });
  await using here = await dial(door);
  let said = '';
  for await (const { value } of here.client.stream('stream', { agent: 'crab', content: 'hello' })) {
    const { event } = value as StreamEvent;
    if (event?.case === 'chunk') said += event.value.content;
    if (event?.case === 'end') break;
  }
  assert.equal(said, 'hello');
});

test('without the right token nothing is reached', async () => {
  await using door = await openDoor();
  const refused = { name: 'ClientError', code: 'unauthorized' };
  await assert.rejects(dial(door, { mode: 'header', token: 'wrong' }), refused);
  await assert.rejects(dial(door, { mode: 'hello', token: 'wrong' }), refused);
  await assert.rejects(dial(door, { mode: 'none' }), refused);
  const socket = socketTo(door, {});
  const answers: unknown[] = [];
  socket.on('message', (data) => answers.push(JSON.parse(data.toString())));
  await new Promise<void>((resolve) => socket.on('open', resolve));
  socket.send('{"jsonrpc":"2.0","id":1,"method":"getConfig"}');
  socket.send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
  await until(() => answers.length === 2, 'two answers');
  const message = 'This connection has not said who it is: send a Hello with the token first.';
  assert.deepEqual(answers, [
    { jsonrpc: '2.0', id: 1, error: { code: 401, message } },
    { jsonrpc: '2.0', id: 2, result: {} },
  ]);
  assert.deepEqual(door.reached, ['ping']);
  assert.ok(!door.log.some((line) => line.includes('wrong')));
  socket.terminate();
});

test('a request is refused by its host, its origin, its path and what it would speak', async () => {
  await using door = await openDoor({ origins: ['https://app.example'] });
  const { port } = door;
  const cases: readonly (readonly [string, number])[] = [
    [upgradeRequest(port), 101],
    [upgradeRequest(port, { Host: 'LOCALHOST' }), 101],
    [upgradeRequest(port, { Host: `[::1]:${port}` }), 101],
    [upgradeRequest(port, { Origin: 'https://app.example' }), 101],
    [upgradeRequest(port, { Host: 'evil.example' }), 421],
    [upgradeRequest(port, { Host: `127.0.0.1.evil.example:${port}` }), 421],
    [upgradeRequest(port, { Host: 'localhost.' }), 421],
    [upgradeRequest(port, { Host: '127.0.0.1@evil.example' }), 421],
    [upgradeRequest(port, { Host: '' }), 421],
    [upgradeRequest(port, { Host: undefined }), 421],
    [upgradeRequest(port, { Origin: 'https://evil.example' }), 403],
    [upgradeRequest(port, { Origin: 'https://app.example.evil.example' }), 403],
    [upgradeRequest(port, { Origin: 'null' }), 403],
    [upgradeRequest(port, { Origin: `http://127.0.0.1:${port}` }), 403],
    [upgradeRequest(port, {}, `/?token=${TOKEN}`), 400],
    [upgradeRequest(port, {}, '/other'), 404],
    [upgradeRequest(port, {}, `http://127.0.0.1:${port}/`), 404],
    [upgradeRequest(port, { 'Sec-WebSocket-Protocol': 'other' }), 400],
    [upgradeRequest(port, { 'Sec-WebSocket-Protocol': undefined }), 400],
    [upgradeRequest(port, { Upgrade: 'h2c' }), 426],
    [upgradeRequest(port, {}, '/', 'POST'), 405],
    [upgradeRequest(port, { Authorization: 'Basic dXNlcjpwYXNz' }), 401],
    [upgradeRequest(port, { Authorization: `Bearer ${TOKEN}x` }), 401],
  ];
  for (const [request, status] of cases) assert.equal(await statusOf(port, request), status, request);
  assert.deepEqual(door.reached, []);
});

test('a page cannot send a request that does anything, and health is told to anybody on this machine', async () => {
  await using door = await openDoor();
  const { port } = door;
  const at = (method: string, path: string, headers = '', body = '') =>
    statusOf(port, `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${headers}\r\n${body}`);
  const post = 'Content-Type: text/plain\r\nContent-Length: 4\r\nOrigin: https://evil.example\r\n';
  assert.deepEqual(
    [
      await at('GET', '/health'),
      await at('HEAD', '/health'),
      await at('POST', '/health', post, 'ping'),
      await at('POST', '/', post, 'ping'),
      await at('OPTIONS', '/', 'Origin: https://evil.example\r\n'),
      await at('GET', '/'),
      await statusOf(port, 'GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
    ],
    [200, 200, 405, 404, 404, 404, 421],
  );
  const response = await fetch(`http://127.0.0.1:${port}/health`);
  assert.deepEqual(await response.json(), { status: 'ok' });
  assert.equal(response.headers.get('access-control-allow-origin'), null);
});

test('what is no text, too large or too early ends the connection', async () => {
  await using door = await openDoor({ limits: { strangerBytes: 1000 } });
  const binary = socketTo(door);
  binary.on('open', () => binary.send(Buffer.from('{}') as unknown as string));
  assert.equal(await closeCode(binary), 1003);
  const large = socketTo(door);
  large.on('error', () => {});
  large.on('open', () => large.send(' '.repeat(16 * 1024 * 1024 + 1)));
  assert.equal(await closeCode(large), 1009);
  const stranger = socketTo(door, {});
  stranger.on('open', () => stranger.send(' '.repeat(2000)));
  assert.equal(await closeCode(stranger), 1006);
  await using hasty = await openDoor({ limits: { strangerMs: 50 } });
  const silent = socketTo(hasty, {});
  assert.equal(await closeCode(silent), 4401);
  assert.deepEqual([...door.reached, ...hasty.reached], []);
});

test('there are as many clients as there may be, and fewer of those that nobody knows', async () => {
  await using door = await openDoor({ limits: { clients: 2, strangers: 1 } });
  const { port } = door;
  await using _one = await dial(door);
  const stranger = socketTo(door, {});
  await new Promise<void>((resolve) => stranger.on('open', resolve));
  assert.equal(await statusOf(port, upgradeRequest(port)), 503);
  stranger.terminate();
  await until(() => door.remote.clients === 1, 'the end of one');
  const another = socketTo(door, {});
  await new Promise<void>((resolve) => another.on('open', resolve));
  assert.equal(await statusOf(port, upgradeRequest(port, { Authorization: undefined })), 503);
  another.terminate();
});

test('a head that never ends is not waited for', async () => {
  await using door = await openDoor({ limits: { headMs: 200 } });
  const socket = connectSocket(door.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 20);
  try {
    socket.resume();
    await ended(socket);
  } finally {
    clearInterval(drip);
  }
  assert.equal(door.remote.clients, 0);
});

test('a client that answers no ping is gone', async () => {
  const clock = virtualClock();
  await using door = await openDoor({ clock, limits: { pingMs: 30_000 } });
  const socket = connectSocket(door.port, '127.0.0.1');
  const closed = ended(socket);
  socket.on('error', () => {});
  socket.write(upgradeRequest(door.port));
  socket.resume();
  await until(() => door.remote.clients === 1, 'the first');
  await using alive = await dial(door);
  for (let round = 0; round < 5; round++) {
    await clock.advance(30_000);
    // Its pong leaves before the first answer is here, and is there before the second request is.
    for (let trip = 0; trip < 2; trip++) assert.deepEqual(await alive.client.request('ping', {}, 'pong'), {});
  }
  await closed;
  assert.equal(door.remote.clients, 1);
});

test('a client that does not read is dropped, and the others go on', async () => {
  const flood = {
    async *watch(_: unknown, { signal }: Call) {
      for (let count = 0; !signal.aborted; count++)
        yield { firstSeq: count, events: JSON.stringify(['x'.repeat(100_000)]), gap: false };
    },
  };
  await using door = await openDoor({
    methods: flood,
    limits: { queueBytes: 512 * 1024, stallMs: 100 },
  });
  await using other = await dial(door);
  const slow = socketTo(door);
  slow.on('error', () => {});
  await new Promise<void>((resolve) => slow.on('open', resolve));
  slow.send('{"jsonrpc":"2.0","id":1,"method":"watch","params":{"agent":"a","sender":"b"}}');
  slow.pause();
  await until(() => door.remote.clients === 1, 'the end of the slow one');
  assert.deepEqual(await other.client.request('ping', {}, 'pong'), {});
  slow.terminate();
});

test('who sends faster than it may is read more slowly, and loses nothing', async () => {
  await using door = await openDoor({ limits: { rate: 500, burst: 10 } });
  await using here = await dial(door);
  const start = performance.now();
  await Promise.all(Array.from({ length: 110 }, () => here.client.request('ping', {}, 'pong')));
  assert.ok(performance.now() - start >= 180, 'a hundred messages more than the burst take 200 ms');
  assert.equal(door.reached.length, 110);
});

test('a signed token may do what it says, until it runs out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crab-remote-'));
  const path = join(folder, 'key');
  writeFileSync(path, 's'.repeat(32), { mode: 0o600 });
  const key = signingKey(path);
  let now = Date.now();
  // It looks often at who has overstayed.
  const sleep = (ms: number, signal?: AbortSignal) => realClock.sleep(Math.min(ms, 20), signal);
  const clock = { ...realClock, now: () => now, sleep };
  await using door = await openDoor({
    clock,
    authenticate: createAuthenticate({ keys: [key], now: clock.now }),
    methods: {
      send: async ({ agent, sender = '' }) => ({ agent, content: sender, error: '', code: 0 }),
      getConfig: async () => ({ config: '{}' }),
    },
  });
  const token = await signToken(key, { name: 'ann', agents: ['helper'], lifetime: 60, now });
  await using here = await dial(door, { mode: 'header', token });
  const send = (agent: string, content = 'hi', more = {}) =>
    here.client.request('send', { agent, content, ...more }, 'response');
  assert.equal((await send('helper')).content, 'ann');
  assert.equal((await send('helper', 'hi', { sender: 'ann:phone' })).content, 'ann:phone');
  const refusals: readonly (readonly [Promise<unknown>, string])[] = [
    [send('crab'), 'reach the agent "crab"'],
    [send('helper', 'hi', { guest: 'crab' }), 'reach the agent "crab"'],
    [send('helper', 'hi', { sender: 'cli:1' }), 'speak as "cli:1", only as ann or ann:…'],
    [send('helper', 'hi', { cwd: '/' }), 'choose a folder'],
    [send('helper', ' ,rm -rf .'), 'begin a line with a comma, / or !'],
    [here.client.request('getConfig', {}, 'config'), 'send getConfig, which is about more than its agents'],
  ];
  for (const [asked, what] of refusals)
    await assert.rejects(asked, { code: 403, message: `The token of ann may not ${what}.` });
  assert.deepEqual(door.reached, ['send', 'send']);
  now += 91_000;
  await here.client.closed;
  rmSync(folder, { recursive: true });
});

test('TLS is spoken where others can listen, from 1.2 on, and a renewed certificate is taken up', async () => {
  await assert.rejects(openDoor({ host: '0.0.0.0' }), {
    code: 'usage',
    message: '0.0.0.0 can be reached from elsewhere: that needs TLS.',
  });
  using ca = authority();
  const [first, second, third] = [
    ca.issue(),
    ca.issue({ names: 'DNS:localhost,DNS:other.example' }),
    ca.issue(),
  ];
  const tls = { cert: join(ca.folder, 'live.pem'), key: join(ca.folder, 'live.key') };
  const install = (cert: string, key: string) => {
    copyFileSync(key, tls.key);
    copyFileSync(cert, tls.cert);
  };
  install(first.certFile, first.keyFile);
  await using door = await openDoor({ tls, host: '0.0.0.0' });
  const { port } = door;
  const url = `wss://localhost:${port}`;
  const trusting = { ...NAME, ca: ca.certificate };
  {
    await using here = await RemoteClient.connect(url, OWNER, trusting);
    assert.equal(here.server.server, 'test');
  }
  await assert.rejects(RemoteClient.connect(url, OWNER, NAME), { code: 'unreachable' });
  const hosts = async () => [
    await statusOf(port, upgradeRequest(port, { Host: 'api.example' }), { ca: ca.certificate }),
    await statusOf(port, upgradeRequest(port, { Host: 'other.example' }), { ca: ca.certificate }),
    await statusOf(port, upgradeRequest(port, { Host: 'evil.example' }), { ca: ca.certificate }),
  ];
  assert.deepEqual(await hosts(), [101, 421, 421]);
  install(second.certFile, third.keyFile);
  await until(() => door.log.some((line) => line.includes('stays the one before')), 'a complaint');
  install(second.certFile, second.keyFile);
  await until(() => door.log.includes('The certificate was read again.'), 'the renewal');
  assert.match((await certificateOf(port, ca.certificate)).subjectaltname ?? '', /other\.example/);
  assert.deepEqual(await hosts(), [421, 101, 421]);
  await assert.rejects(certificateOf(port, ca.certificate, 'TLSv1.1'));
});

function certificateOf(port: number, ca: string, version?: 'TLSv1.1'): Promise<DetailedPeerCertificate> {
  return new Promise((resolve, reject) => {
    const limits = version && { minVersion: version, maxVersion: version };
    const socket: TLSSocket = connectTls(
      { port, host: '127.0.0.1', servername: 'localhost', ca, ...limits },
      () => {
        resolve(socket.getPeerCertificate(true));
        socket.destroy();
      },
    );
    socket.on('error', reject);
  });
}

test('a client says what is wrong with where it should go', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['nonsense', /is no address of a WebSocket/],
    ['https://crab.example', /is no address of a WebSocket/],
    ['ws://crab.example', /would be readable on the way/],
    ['ws://127.0.0.1.evil.example', /would be readable on the way/],
    ['wss://user:secret@crab.example', /carries no token and no query/],
    ['wss://crab.example/?token=x', /carries no token and no query/],
  ];
  for (const [url, message] of wrong)
    await assert.rejects(RemoteClient.connect(url, OWNER, NAME), { code: 'address', message });
  await assert.rejects(RemoteClient.connect('ws://127.0.0.1:1', OWNER, NAME), { code: 'unreachable' });
  await using door = await openDoor({ methods: { hello: (_, { signal }) => leftAlone(signal) } });
  await assert.rejects(dial(door, OWNER, { timeoutMs: 100 }), (error) => {
    assert.ok(error instanceof ClientError);
    assert.equal(error.code, 'timeout');
    return true;
  });
  const reason = new Error('enough');
  await assert.rejects(dial(door, OWNER, { signal: AbortSignal.abort(reason) }), reason);
});

test('closing tells every client, and the runs of none are waited for', async () => {
  const door = await openDoor({
    methods: {
      watch: async function* (_, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
  });
  const socket = socketTo(door);
  await new Promise<void>((resolve) => socket.on('open', resolve));
  socket.send('{"jsonrpc":"2.0","id":1,"method":"watch","params":{"agent":"a","sender":"b"}}');
  await until(() => door.reached.includes('watch'), 'the watch');
  const code = closeCode(socket);
  await door.remote.close();
  assert.equal(await code, 1001);
});

function leftAlone(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}
