import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { END, PLAIN_READERS } from '../../../test/support/small-daemon.ts';
import { realClock } from '../../../test/support/tool-context.ts';
import type { Event } from '../../core/event.ts';
import type { OpenRequest, Platform } from '../../core/platform.ts';
import type { Answer } from '../../core/question.ts';
import { SANDBOX_OFF } from '../../core/sandbox.ts';
import { type Client, connect } from '../../protocol/client.ts';
import { remotePlatform } from '../../protocol/remote-platform.ts';
import { serve } from '../../protocol/serve.ts';
import { Bus } from './bus.ts';
import { Conversations } from './conversations.ts';
import { DaemonServer } from './daemon-server.ts';
import { clientEnd, serverEnd } from './socket-connection.ts';

const never = new AbortController().signal;
const HELLO = { version: 2, client: 'test', capabilities: ['core-events', 'permissions'] };
const ADDRESS = { agent: 'crab', sender: 'cli:1' };
const OPEN: OpenRequest['declaration'] = {
  agent: { name: 'crab' },
  mode: 'default',
  rules: [],
  directories: [],
  sandbox: SANDBOX_OFF,
  withoutTools: [],
  limits: {},
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: true,
};
/** Says the prompt back letter by letter; `ask` asks first, and `wait` waits to be killed. */
function scriptedPlatform(): Platform & { readonly opened: OpenRequest[] } {
  const opened: OpenRequest[] = [];
  const answers = new Map<string, (answer: Answer) => void>();
  let count = 0;
  return {
    opened,
    async open(request) {
      opened.push(request);
      const address = { agent: request.agent, sender: request.sender ?? 'cli:1' };
      const session = { id: '01J', cwd: request.cwd, messages: 0 };
      return { address, session, commands: [], notices: [] };
    },
    async *prompt({ agent, sender }, { text }, signal) {
      yield [{ type: 'runStart', agent, sender, session: '01J', cwd: '/', mode: 'default', tools: [] }];
      if (text === 'ask') {
        const id = `q${++count}`;
        const answered = new Promise<Answer>((resolve) => answers.set(id, resolve));
        const display = { kind: 'command', command: 'ls' } as const;
        const call = { callId: 'c', tool: 'bash', input: { command: 'ls' }, display, reason: 'it asks' };
        yield [{ type: 'question', question: { kind: 'permission', id, ...call } }];
        const answer = await answered;
        yield [{ type: 'questionAnswered', id, allowed: answer.kind === 'permission' && answer.allowed }];
      }
      if (text === 'wait') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield [{ ...END, outcome: 'cancelled', text: '' }];
        return;
      }
      for (const letter of text) yield [{ type: 'contentDelta', index: 0, delta: letter }];
      yield [{ ...END, text }];
    },
    async answer(_, id, answer) {
      const settle = answers.get(id);
      answers.delete(id);
      settle?.(answer);
      return settle !== undefined;
    },
    async control() {},
    async leave() {},
    async close() {},
  };
}

async function startDaemon(questionMs = 60_000) {
  const folder = await mkdtemp(join(tmpdir(), 'crab-daemon-'));
  const platform = scriptedPlatform();
  const fired: string[] = [];
  const conversations: Conversations = new Conversations({
    platform,
    clock: realClock,
    limits: () => ({ maxIdle: 8, idleMs: 60_000, questionMs }),
    background: () => 0,
    loaded() {},
    failed: assert.fail,
    heard: (...heard) => server.heard(...heard),
  });
  const bus = new Bus({
    subscriptions: [],
    save: async () => {},
    fire: ({ targetAgent }, payload, hops) => void fired.push(`${targetAgent} ${payload} ${hops}`),
    maxSubscriptions: 4,
    maxHops: 8,
    log() {},
  });
  const declaration = {} as OpenRequest['declaration'];
  const none = async () => [];
  const server: DaemonServer = new DaemonServer({
    version: '1',
    home: folder,
    uid: 1000,
    pid: 1,
    clock: realClock,
    conversations,
    bus,
    agents: {
      list: none,
      listMcps: none,
      upsert: () => assert.fail(),
      delete: async () => {},
      upsertMcp: async () => {},
      deleteMcp: async () => {},
    },
    declare: async (address, cwd = '/') => ({
      ...address,
      cwd,
      session: { kind: 'head' },
      declaration,
      commands: [],
    }),
    read: PLAIN_READERS,
    config: async () => '{}',
    setConfig: async () => {},
    reload: async () => {},
    rss: () => 1,
    clients: () => 1,
  });
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    const options = { server, name: 'test', isTrusted: true, authenticate: async () => false };
    void serve(serverEnd(socket), options);
  });
  const path = join(folder, 'daemon.sock');
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  const clients: Client[] = [];
  return {
    platform,
    bus,
    fired,
    async client() {
      const { client } = await connect(clientEnd(connectSocket(path)), HELLO);
      clients.push(client);
      return client;
    },
    raw: () => connectSocket(path),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}

function textOf(events: readonly Event[]): string {
  return events.map((event) => (event.type === 'contentDelta' ? event.delta : '')).join('');
}

test('a client that knows no session talks to an agent by its name', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  const reply = await client.request('send', { agent: 'crab', content: 'Hello' }, 'response');
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  assert.deepEqual(reply, { agent: 'crab', content: 'Hello', error: '', code: 0, usage });
  assert.deepEqual(
    daemon.platform.opened.map(({ sender, session }) => [sender, session.kind]),
    [['user', 'head']],
  );
  const said: unknown[] = [];
  for await (const { value } of client.stream('stream', { agent: 'crab', content: 'Hi' })) {
    const { event } = value as { readonly event?: { readonly case: string; readonly value: object } };
    said.push(event);
    if (event?.case === 'end') break;
  }
  assert.deepEqual(said, [
    { case: 'start', value: { agent: 'crab' } },
    { case: 'chunk', value: { content: 'H' } },
    { case: 'chunk', value: { content: 'i' } },
    { case: 'end', value: { agent: 'crab', error: '', code: 0 } },
  ]);
});

test('two clients follow one conversation in the same order, and one answers for the other', async () => {
  await using daemon = await startDaemon();
  const [one, other] = [await daemon.client(), await daemon.client()];
  const near = remotePlatform(one, () => 'r1');
  const far = remotePlatform(other, () => 'r2');
  await near.open({ ...ADDRESS, cwd: '/', session: { kind: 'new' }, declaration: {} as never, commands: [] });
  const watched: string[] = [];
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const watching = (async () => {
    for await (const { case: kind, value } of other.stream('watch', ADDRESS)) {
      if (kind !== 'coreEvents') continue;
      const events = JSON.parse(value.events) as readonly Event[];
      watched.push(...events.map(({ type }) => type));
      for (const event of events)
        if (event.type === 'question') {
          assert.equal(
            await far.answer(ADDRESS, event.question.id, { kind: 'permission', allowed: true }),
            true,
          );
          assert.equal(
            await near.answer(ADDRESS, event.question.id, { kind: 'permission', allowed: false }),
            false,
          );
        }
      if (events.at(-1)?.type === 'runEnd') return end();
    }
  })();
  // The watch is there when the ping behind it is answered.
  await other.request('ping', {}, 'pong');
  const told = (await Array.fromAsync(near.prompt(ADDRESS, { text: 'ask' }, never))).flat();
  await over;
  assert.deepEqual(
    watched,
    told.map(({ type }) => type),
  );
  assert.equal(textOf(told), 'ask');
  await watching;
});

test('a run goes on without its client, and is there from the number on that a client has read to', async () => {
  await using daemon = await startDaemon();
  const first = await daemon.client();
  const platform = remotePlatform(first, () => 'r1');
  await platform.open({
    ...ADDRESS,
    cwd: '/',
    session: { kind: 'new' },
    declaration: {} as never,
    commands: [],
  });
  for await (const _ of platform.prompt(ADDRESS, { text: 'wait' }, never)) break;
  first.close();
  await first.closed;
  const second = await daemon.client();
  const { sessions } = await second.request('sessions', {}, 'sessions');
  assert.deepEqual(
    sessions.map(({ agent, sender, running }) => [agent, sender, running]),
    [['crab', 'cli:1', true]],
  );
  await second.request('kill', ADDRESS, 'pong');
  const heard: (readonly [number, readonly string[]])[] = [];
  for await (const { case: kind, value } of second.stream('watch', { ...ADDRESS, fromSeq: 0 })) {
    if (kind !== 'coreEvents') continue;
    const events = JSON.parse(value.events) as readonly Event[];
    heard.push([value.firstSeq, events.map(({ type }) => type)]);
    if (events.at(-1)?.type === 'runEnd') break;
  }
  assert.deepEqual(heard, [
    [0, ['runStart']],
    [1, ['runEnd']],
  ]);
});

test('a conversation whose last client has left is not held any more, and a later one declares anew', async () => {
  await using daemon = await startDaemon();
  const request = {
    ...ADDRESS,
    cwd: '/',
    session: { kind: 'resume', id: '01J' },
    declaration: OPEN,
    commands: [],
  } as const;
  const [one, other] = [
    remotePlatform(await daemon.client(), () => 'r1'),
    remotePlatform(await daemon.client(), () => 'r2'),
  ];
  const first = await one.open(request);
  const wider = { ...request, declaration: { ...OPEN, mode: 'bypassPermissions' as const } };
  assert.deepEqual(await other.open(wider), {
    ...first,
    notices: ['the session is in use: it goes on as it was opened, in / and mode default'],
  });
  const tighter = {
    ...request,
    declaration: { ...OPEN, rules: [{ decision: 'deny' as const, text: 'Bash', source: 'here' }] },
  };
  await assert.rejects(other.open(tighter), { code: 'session-held', message: /asks for: deny Bash\.$/ });
  await one.close();
  const watcher = await daemon.client();
  assert.equal((await watcher.request('sessions', {}, 'sessions')).sessions.length, 1);
  await other.close();
  assert.deepEqual(await watcher.request('sessions', {}, 'sessions'), { sessions: [] });
  assert.deepEqual((await remotePlatform(watcher, () => 'r3').open(tighter)).notices, []);
  assert.deepEqual(
    daemon.platform.opened.map(({ declaration }) => declaration.rules.length),
    [0, 1],
  );
});

test('a question that nobody is there to answer is refused after a while', async () => {
  await using daemon = await startDaemon(20);
  const client = await daemon.client();
  const platform = remotePlatform(client, () => 'r1');
  await platform.open({
    ...ADDRESS,
    cwd: '/',
    session: { kind: 'new' },
    declaration: {} as never,
    commands: [],
  });
  for await (const _ of platform.prompt(ADDRESS, { text: 'ask' }, never)) break;
  client.close();
  await client.closed;
  const later = await daemon.client();
  const answered: unknown[] = [];
  for await (const { case: kind, value } of later.stream('watch', { ...ADDRESS, fromSeq: 0 })) {
    if (kind !== 'coreEvents') continue;
    // While somebody watches, the question stays open: whoever watches may answer.
    const events = JSON.parse(value.events) as readonly Event[];
    answered.push(...events.flatMap((event) => (event.type === 'questionAnswered' ? [event.allowed] : [])));
    if (events.some(({ type }) => type === 'question')) break;
  }
  for (let tries = 0; answered.length === 0 && tries < 500; tries++) {
    await realClock.sleep(10);
    const { sessions } = await later.request('sessions', {}, 'sessions');
    if (sessions[0]?.questions === 0) answered.push(false);
  }
  assert.deepEqual(answered, [false]);
});

test('agents that are done are told of on the bus, and all that is said to those who watch', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  await client.request(
    'subscribeEvent',
    { source: 'agent:crab:done', targetAgent: 'scout', once: true },
    'subscription',
  );
  const kinds: number[] = [];
  const { promise: seen, resolve: see } = Promise.withResolvers<void>();
  const watching = (async () => {
    const filter = { agents: ['crab'], senders: [], kinds: [] };
    for await (const { case: kind, value } of client.stream('subscribeEvents', filter)) {
      if (kind !== 'agentEvent') continue;
      kinds.push(value.kind);
      if (value.kind === 5) return see();
    }
  })();
  await client.request('ping', {}, 'pong');
  await client.request('send', { agent: 'crab', content: 'ab' }, 'response');
  await seen;
  await client.request('send', { agent: 'crab', content: 'cd' }, 'response');
  assert.deepEqual([kinds, daemon.fired, daemon.bus.list()], [[0, 0, 5], ['scout ab 1'], []]);
  await watching;
});

test('what is no frame is answered with one error, and what is no message does not end the connection', async () => {
  await using daemon = await startDaemon();
  const refused = async (bytes: Uint8Array | string) => {
    const socket = daemon.raw();
    socket.write(bytes);
    const answer = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString('latin1');
    return answer.replaceAll(/[^ -~]+/g, ' ').trim();
  };
  assert.match(await refused('GET / HTTP/1.1\r\n\r\n'), /This looks like HTTP, which is not spoken here\./);
  assert.match(await refused(Uint8Array.from([22, 3, 1, 2, 0])), /This looks like TLS/);
  assert.match(await refused(Uint8Array.from([200, 0, 0, 0, 123])), /daemon-json\.sock/);
  const socket = daemon.raw();
  socket.write(Uint8Array.from([0, 0, 0, 1, 0x0b, 0, 0, 0, 2, 0x1a, 0]));
  let heard = '';
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    heard += bytes.toString('latin1');
    if (heard.endsWith('"\0')) break;
  }
  assert.match(heard, /Field 1 has the wire type 3/);
});
