import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../test/support/processes.ts';
import { smallDaemon } from '../../../test/support/small-daemon.ts';
import { CrabError } from '../../core/errors.ts';
import type { OpenRequest } from '../../core/platform.ts';
import { connect, createClient } from '../../protocol/client.ts';
import type { ClientMessage, ServerMessage } from '../../protocol/messages.ts';
import { createPipe } from '../../protocol/pipe.ts';
import { remotePlatform } from '../../protocol/remote-platform.ts';
import { serve } from '../../protocol/serve.ts';
import type { Setup } from './daemon.ts';
import { clientEnd } from './socket-connection.ts';

const REQUEST = {
  agent: 'crab',
  cwd: '/',
  session: { kind: 'new' },
  declaration: { agent: { name: 'crab' } } as OpenRequest['declaration'],
  commands: [],
} as const satisfies OpenRequest;

test('a run in flight ends under the settings that it began with, and the next one has the new ones', async () => {
  await using small = await smallDaemon();
  const client = await small.client();
  const send = (content: string) =>
    client.request('send', { agent: 'crab', content, sender: 'one' }, 'response');
  assert.equal((await send('a')).content, 'a to one');
  const waiting = send('wait');
  await eventually('it runs', async () => {
    const { sessions } = await client.request('sessions', {}, 'sessions');
    return sessions[0]?.running === true;
  });
  await client.request('reload', {}, 'pong');
  const next = send('b');
  assert.deepEqual(
    small.platforms.map(({ isClosed }) => isClosed),
    [false, false],
  );
  await client.request('kill', { agent: 'crab', sender: 'one' }, 'pong');
  assert.equal((await waiting).content, '');
  assert.equal((await next).content, '2: b to one');
  assert.deepEqual(
    small.platforms.map(({ isClosed, opened, left }) => [isClosed, opened.length, left]),
    [
      [true, 1, ['one']],
      [false, 1, []],
    ],
  );
});

test('settings that cannot be read leave the old ones in place', async () => {
  let builds = 0;
  const folder = mkdtempSync(join(tmpdir(), 'crab-build-'));
  await using small = await smallDaemon();
  await using broken = await smallDaemon({
    home: folder,
    build: async () => {
      if (++builds > 1) throw new CrabError('settings-invalid', 'config.toml:1: it is wrong.');
      const [platform] = small.platforms;
      return {
        platform: platform ?? assert.fail(),
        declare: () => assert.fail(),
        config: async () => '{}',
        basis: [],
        agents: {} as never,
      };
    },
  });
  const client = await broken.client();
  await assert.rejects(client.request('reload', {}, 'pong'), /config\.toml:1: it is wrong\./);
  assert.match(broken.logged.join('\n'), /the settings stay as they were: config\.toml:1/);
  await client.request('ping', {}, 'pong');
  await broken.daemon.stop();
  rmSync(folder, { recursive: true });
});

test('a second daemon for the same home names the first', async () => {
  const held = new CrabError('session-held', '/x/run/daemon.pid is open in process 4711.');
  await assert.rejects(
    smallDaemon({ lock: () => Promise.reject(held) }),
    /The daemon of .* is running already: process 4711\./,
  );
});

test('subscriptions outlive the daemon, fire once where they say so, and a broken file stops the start', async () => {
  const home = mkdtempSync(join(tmpdir(), 'crab-home-'));
  const file = join(home, 'events', 'subscriptions.toml');
  {
    await using small = await smallDaemon({ home });
    const client = await small.client();
    await client.request(
      'subscribeEvent',
      { source: 'rss:fetch', targetAgent: 'crab', once: true },
      'subscription',
    );
    await client.request(
      'subscribeEvent',
      { source: 'x:y', targetAgent: 'crab', once: false },
      'subscription',
    );
  }
  {
    await using small = await smallDaemon({ home });
    const client = await small.client();
    const { subscriptions } = await client.request('listSubscriptions', {}, 'subscriptions');
    assert.deepEqual(subscriptions, [
      { id: 1, source: 'rss:fetch', targetAgent: 'crab', once: true },
      { id: 2, source: 'x:y', targetAgent: 'crab', once: false },
    ]);
    await client.request('publishEvent', { source: 'rss:fetch', payload: 'news', hops: 0 }, 'pong');
    await eventually('it was fired', async () => small.platforms[0]?.opened[0]?.sender === 'event:rss:fetch');
  }
  assert.equal(
    readFileSync(file, 'utf8').trim(),
    '[[subscription]]\nid = 2\nsource = "x:y"\ntarget_agent = "crab"\nonce = false',
  );
  writeFileSync(file, '[[subscription]]\nid = "two"\n');
  await assert.rejects(
    smallDaemon({ home }),
    /subscriptions\.toml: subscription 1 needs id, source and target_agent/,
  );
  writeFileSync(file, 'subscription = [');
  await assert.rejects(smallDaemon({ home }), /subscriptions\.toml: /);
  rmSync(home, { recursive: true });
});

test('an event that leads to itself ends after so many hops', async () => {
  await using small = await smallDaemon({ limits: { maxHops: 3 } });
  const client = await small.client();
  const loop = { source: 'agent:crab:done', targetAgent: 'crab', once: false };
  await client.request('subscribeEvent', loop, 'subscription');
  await client.request('send', { agent: 'crab', content: 'go' }, 'response');
  await eventually('the last hop has run', async () => {
    const { totalRuns } = await client.request('getStats', {}, 'stats');
    return totalRuns === 4;
  });
  assert.deepEqual(
    small.platforms[0]?.opened.map(({ sender }) => sender),
    ['user', 'event:agent:crab:done'],
  );
});

test('conversations that nobody uses leave the memory, the idlest first', async () => {
  await using small = await smallDaemon({ limits: { maxIdle: 1, idleMs: 30 } });
  const client = await small.client();
  for (const sender of ['one', 'two'])
    await client.request('send', { agent: 'crab', content: 'x', sender }, 'response');
  await eventually('both are gone', async () => small.platforms[0]?.left.length === 2);
  assert.deepEqual((await client.request('sessions', {}, 'sessions')).sessions, []);
  const again = await client.request('send', { agent: 'crab', content: 'y', sender: 'one' }, 'response');
  assert.equal(again.content, 'y to one');
});

test('whoever embeds a daemon speaks to it without a socket, and stopping it tells those who wait', async () => {
  await using small = await smallDaemon({ listen: undefined });
  const [near, far] = createPipe<ClientMessage, ServerMessage>();
  const serving = serve(far, {
    server: small.daemon.server,
    ...{ name: 'here', isTrusted: true, authenticate: async () => false },
  });
  const client = createClient(near);
  const { content } = await client.request('send', { agent: 'crab', content: 'hi' }, 'response');
  assert.equal(content, 'hi to user');
  const waiting = client.request('send', { agent: 'crab', content: 'wait' }, 'response');
  await client.request('ping', {}, 'pong');
  await small.daemon.stop();
  const { content: nothing, name, error } = await waiting;
  assert.deepEqual([nothing, name, error], ['', 'terminated', 'The daemon was stopped.']);
  client.close();
  await serving;
});

test('a client that is gone is noticed at once, and one that may come back over a network is not taken for gone', async () => {
  await using small = await smallDaemon({ listen: { tcp: { host: '127.0.0.1', port: 0 } } });
  const socket = connectSocket({ host: '127.0.0.1', port: small.daemon.port ?? 0 });
  const hello = { version: 2, client: 'far', capabilities: ['core-events'], token: await small.token() };
  const far = remotePlatform((await connect(clientEnd(socket), hello)).client, () => 'r1');
  await far.open({ ...REQUEST, sender: 'far' });
  const near = small.socket();
  const { client } = await connect(clientEnd(near), hello);
  await remotePlatform(client, () => 'r2').open({ ...REQUEST, sender: 'near' });
  const watcher = await small.client();
  const senders = async () =>
    (await watcher.request('sessions', {}, 'sessions')).sessions.map(({ sender }) => sender);
  assert.deepEqual(await senders(), ['far', 'near']);
  near.destroy();
  socket.destroy();
  await eventually('the near one is gone', async () => small.platforms[0]?.left.length === 1);
  assert.deepEqual(await senders(), ['far']);
});

test('what works in the background of a conversation keeps it, for a lost client and against the limits', async () => {
  const waiting = new Map([['woken', 1]]);
  await using small = await smallDaemon({
    limits: { maxIdle: 0, idleMs: 10 },
    wakeups: { listen() {}, waiting: ({ sender }) => waiting.get(sender) ?? 0 },
  });
  const [platform] = small.platforms;
  platform?.jobs.set('lost', 1).set('busy', 2).set('done', 1);
  const watcher = await small.client();
  const near = small.socket();
  const hello = { version: 2, client: 'near', capabilities: ['core-events'] };
  const { client } = await connect(clientEnd(near), hello);
  const clients = remotePlatform(client, () => 'r1');
  for (const sender of ['lost', 'done']) await clients.open({ ...REQUEST, sender });
  for (const sender of ['busy', 'woken', 'idle'])
    await watcher.request('send', { agent: 'crab', content: 'x', sender }, 'response');
  await clients.leave({ agent: 'crab', sender: 'done' });
  near.destroy();
  await eventually('two have left', async () => platform?.left.length === 2);
  assert.deepEqual(platform?.left.toSorted(), ['done', 'idle']);
  const { sessions } = await watcher.request('sessions', {}, 'sessions');
  assert.deepEqual(
    sessions.map(({ sender, background }) => [sender, background]),
    [
      ['lost', 1],
      ['busy', 2],
      ['woken', 1],
    ],
  );
  platform?.jobs.clear();
  waiting.clear();
  await eventually('nothing keeps them', async () => platform?.left.length === 5);
});

test('a conversation moves to the new settings when nothing works in its background any more', async () => {
  await using small = await smallDaemon();
  const client = await small.client();
  const send = async (content: string) =>
    (await client.request('send', { agent: 'crab', content, sender: 'one' }, 'response')).content;
  assert.equal(await send('a'), 'a to one');
  small.platforms[0]?.jobs.set('one', 1);
  await client.request('reload', {}, 'pong');
  assert.equal(await send('b'), 'b to one');
  assert.deepEqual(small.platforms[0]?.left, []);
  small.platforms[0]?.jobs.clear();
  assert.equal(await send('c'), '2: c to one');
  assert.deepEqual(
    small.platforms[1]?.opened.map(({ session }) => session),
    [{ kind: 'head' }],
  );
});

test('limits are those of the settings that were read last', async () => {
  let limits: Setup['limits'] = { clients: 1 };
  await using base = await smallDaemon();
  const [platform] = base.platforms;
  await using small = await smallDaemon({
    build: async () => ({
      platform: platform ?? assert.fail(),
      declare: async (address, cwd = '/') => ({ ...REQUEST, ...address, cwd, session: { kind: 'head' } }),
      config: async () => '{}',
      basis: [],
      agents: {} as never,
      limits,
    }),
  });
  const client = await small.client();
  await assert.rejects(small.client(), /1 clients are connected, as many as there may be\./);
  await client.request('send', { agent: 'crab', content: 'x', sender: 'one' }, 'response');
  limits = { clients: 2, idleMs: 1 };
  await client.request('reload', {}, 'pong');
  await (await small.client()).request('ping', {}, 'pong');
  await eventually('it is not idle for half an hour any more', async () => platform?.left.length === 1);
});
