import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wireServer } from '../../test/support/wire-server.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { NO_USAGE } from '../core/usage.ts';
import { connect, createClient } from './client.ts';
import { RequestFailure } from './failure.ts';
import type { ClientMessage, ServerMessage } from './messages.ts';
import { createPipe } from './pipe.ts';
import { remotePlatform } from './remote-platform.ts';
import { serve } from './serve.ts';
import type { Server } from './server.ts';

const HELLO = { version: 2, client: 'test', capabilities: ['core-events'] };
const ADDRESS = { agent: 'crab', sender: 'cli:1' };

function open(methods: Partial<Server>, isTrusted = true) {
  const [near, far] = createPipe<ClientMessage, ServerMessage>();
  const server = wireServer(methods);
  const authenticate = async (token: string) => token === 'right';
  const served = serve(far, { server, name: 'test', isTrusted, authenticate });
  const close = async () => {
    near.close();
    await served;
  };
  return { near, served, [Symbol.asyncDispose]: close };
}

const END: Event = {
  type: 'runEnd',
  outcome: 'done',
  text: 'ab',
  turns: 1,
  usage: NO_USAGE,
  durationMs: 1,
  apiMs: 1,
  denials: [],
};

function events(firstSeq: number, all: readonly Event[]) {
  return { firstSeq, events: JSON.stringify(all), gap: false };
}

test('a client says hello, and its requests run side by side', async () => {
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const told: (readonly string[])[] = [];
  await using here = open({
    sessions: async ({ peer }) => {
      told.push([...peer.capabilities]);
      await until;
      return { sessions: [] };
    },
  });
  const { client, server } = await connect(here.near, HELLO);
  assert.deepEqual(server, {
    version: 2,
    server: 'test',
    capabilities: ['core-events'],
    home: '/home',
    pid: 1,
    basis: [],
  });
  const slow = client.request('sessions', {}, 'sessions');
  assert.deepEqual(await client.request('ping', {}, 'pong'), {});
  goOn();
  assert.deepEqual(await slow, { sessions: [] });
  assert.deepEqual(told, [['core-events']]);
});

test('whoever is not known is told nothing but that', async () => {
  let asked = 0;
  const methods = { getStats: async () => assert.fail(String(asked++)) };
  const refused = (message: string) => ({ name: 'RequestFailure', code: 401, message });
  for (const token of [undefined, 'wrong']) {
    await using here = open(methods, false);
    const hello = token === undefined ? HELLO : { ...HELLO, token };
    await assert.rejects(connect(here.near, hello), refused('The token is not the right one.'));
  }
  await using here = open(methods, false);
  const client = createClient(here.near);
  const silent = 'This connection has not said who it is: send a Hello with the token first.';
  await assert.rejects(client.request('getStats', {}, 'stats'), refused(silent));
  assert.deepEqual(await client.request('ping', {}, 'pong'), {});
  await client.request('hello', { ...HELLO, token: 'right' }, 'hello');
  assert.equal(asked, 0);
});

test('another version is refused by its number', async () => {
  await using here = open({});
  await assert.rejects(connect(here.near, { ...HELLO, version: 3 }), {
    code: 426,
    message: 'This is version 2 of the protocol, and the client speaks 3.',
  });
});

test('an error comes back as what it was', async () => {
  await using here = open({
    getConfig: async () => {
      throw new CrabError('session-held', 'Process 7 has it.', { hint: 'Wait.' });
    },
    reload: async () => {
      throw new RequestFailure(403, 'Not yours.');
    },
  });
  const { client } = await connect(here.near, HELLO);
  await assert.rejects(client.request('getConfig', {}, 'config'), {
    name: 'CrabError',
    code: 'session-held',
    message: 'Process 7 has it.',
    hint: 'Wait.',
  });
  await assert.rejects(client.request('reload', {}, 'pong'), {
    name: 'RequestFailure',
    code: 403,
    message: 'Not yours.',
  });
});

test('without ids the answers keep the order of the requests, and a kill overtakes them', async () => {
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  await using here = open({
    send: async ({ content }) => {
      if (content === 'slow') await until;
      return { agent: 'crab', content, error: '', code: 0 };
    },
    kill: async () => goOn(),
  });
  const say = (message: ClientMessage['message'] & object) => here.near.send({ requestId: 0, message });
  await say({ case: 'send', value: { agent: 'crab', content: 'slow' } });
  await say({ case: 'send', value: { agent: 'crab', content: 'fast' } });
  await say({ case: 'kill', value: ADDRESS });
  const heard: string[] = [];
  for await (const received of here.near.received) {
    assert.equal(received.kind, 'message');
    if (received.kind !== 'message') break;
    const { message } = received.message;
    heard.push(message?.case === 'response' ? message.value.content : (message?.case ?? ''));
    if (heard.length === 3) break;
  }
  assert.deepEqual(heard, ['pong', 'slow', 'fast']);
});

test('an empty message has one answer, and the connection goes on', async () => {
  await using here = open({});
  await here.near.send({ requestId: 5 });
  await here.near.send({ requestId: 6, message: { case: 'ping', value: {} } });
  const heard: unknown[] = [];
  for await (const received of here.near.received) {
    heard.push(received);
    if (heard.length === 2) break;
  }
  const message = 'The message is empty, or of a later version.';
  assert.deepEqual(heard, [
    { kind: 'message', message: { requestId: 5, message: { case: 'error', value: { code: 400, message } } } },
    { kind: 'message', message: { requestId: 6, message: { case: 'pong', value: {} } } },
  ]);
});

test('a stream that is left is ended at the server', async () => {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  await using here = open({
    async *watch(_, { signal }) {
      signal.addEventListener('abort', () => leave());
      for (let seq = 0; !signal.aborted; seq++) yield events(seq, []);
    },
  });
  const { client } = await connect(here.near, HELLO);
  let count = 0;
  for await (const answer of client.stream('watch', ADDRESS)) {
    assert.equal(answer.case, 'coreEvents');
    if (++count === 10) break;
  }
  await left;
});

test('a platform at the other end is used like one in the same process', async () => {
  const asked: unknown[] = [];
  const delta = (text: string): Event => ({ type: 'contentDelta', index: 0, delta: text });
  await using here = open({
    async *prompt(message) {
      asked.push(message);
      yield events(0, [delta('a')]);
      yield events(1, [delta('b'), END]);
    },
    answer: async ({ answer }) => ({ accepted: JSON.parse(answer).allowed === true }),
  });
  const { client } = await connect(here.near, HELLO);
  const platform = remotePlatform(client, () => 'run-1');
  const heard = await Array.fromAsync(platform.prompt(ADDRESS, { text: 'Hi' }, new AbortController().signal));
  assert.deepEqual(heard, [[delta('a')], [delta('b'), END]]);
  assert.deepEqual(asked, [{ ...ADDRESS, prompt: '{"text":"Hi"}', run: 'run-1' }]);
  assert.equal(await platform.answer(ADDRESS, 'q', { kind: 'permission', allowed: true }), true);
  assert.equal(await platform.answer(ADDRESS, 'q', { kind: 'permission', allowed: false }), false);
});

test('cancelling kills the run by its name, and a lost connection ends it in words', async () => {
  const killed: unknown[] = [];
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  await using here = open({
    async *prompt(_, { signal }) {
      yield events(0, []);
      await Promise.race([cancelled, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      yield events(1, [{ ...END, outcome: 'cancelled' }]);
    },
    kill: async (message) => {
      killed.push(message);
      cancel();
    },
  });
  const { client } = await connect(here.near, HELLO);
  const platform = remotePlatform(client, () => 'run-7');
  const stop = new AbortController();
  const ends: unknown[] = [];
  for await (const batch of platform.prompt(ADDRESS, { text: 'Hi' }, stop.signal)) {
    stop.abort();
    ends.push(...batch);
  }
  assert.deepEqual(killed, [{ ...ADDRESS, run: 'run-7' }]);
  assert.deepEqual(ends, [{ ...END, outcome: 'cancelled' }]);
  await platform.close();
  const [[lost] = []] = await Array.fromAsync(
    platform.prompt(ADDRESS, { text: 'Hi' }, new AbortController().signal),
  );
  assert.deepEqual(lost?.type === 'runEnd' && [lost.outcome, lost.error?.code], ['failed', 'daemon-failed']);
});
