// A feed is classified by one agent and enriched by another, and a client that only watches is told: nobody orchestrates
// it. The runtime and the bus are the real ones; scripted is what the agents say.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';
import type { Address } from '../../core/conversation.ts';
import type { OpenRequest, Platform, Prompt } from '../../core/platform.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { AgentEventKind, type SubscriptionInfo } from '../../protocol/messages.ts';
import { Bus } from './bus.ts';
import { Conversations } from './conversations.ts';
import { DaemonServer } from './daemon-server.ts';
import { busOf, createFire, tellDone } from './fire.ts';

interface Said {
  readonly address: Address;
  readonly prompt: Prompt;
}

/** Answers with what `answer` makes of a prompt. */
function platformOf(answer: (said: Said) => string, heard: Said[]): Platform {
  return {
    async open(request) {
      const address = { agent: request.agent, sender: request.sender ?? 'user' };
      return { address, session: { id: '01J', cwd: request.cwd, messages: 0 }, commands: [], notices: [] };
    },
    async *prompt(address, prompt) {
      heard.push({ address, prompt });
      const { agent, sender } = address;
      const { guest } = prompt;
      const text = answer({ address, prompt });
      yield [
        {
          ...{ type: 'runStart', agent, sender, session: '01J', cwd: '/' },
          ...{ mode: 'default', tools: [], ...(guest !== undefined && { guest }) },
        },
      ];
      yield [{ type: 'contentDelta', index: 0, delta: text }];
      yield [
        {
          ...{ type: 'runEnd', outcome: 'done', text, turns: 1, usage: NO_USAGE },
          ...{ durationMs: 1, apiMs: 1, denials: [] },
        },
      ];
    },
    answer: async () => false,
    async control() {},
    async leave() {},
    async close() {},
  };
}

const eventOf = (source: string) => ({ by: 'event', source }) as const;

async function daemonOf(answer: (said: Said) => string, maxHops = 8) {
  const home = await mkdtemp(join(tmpdir(), 'crab-fire-'));
  const heard: Said[] = [];
  const failures: string[] = [];
  const conversations: Conversations = new Conversations({
    ...{
      platform: platformOf(answer, heard),
      clock: realClock,
      limits: () => ({ maxIdle: 64, idleMs: 60_000, questionMs: 1000 }),
      background: () => 0,
      loaded() {},
      failed: assert.fail,
    },
    heard: (...told) => server.heard(...told),
  });
  const declare = async (address: Address, cwd = '/'): Promise<OpenRequest> => {
    if (address.agent === 'nobody') throw new Error('There is no agent nobody.');
    const declaration = {} as OpenRequest['declaration'];
    return { ...address, cwd, session: { kind: 'head' }, declaration, commands: [] };
  };
  const saved: (readonly SubscriptionInfo[])[] = [];
  const bus: Bus = new Bus({
    ...{ subscriptions: [], maxSubscriptions: 16, maxHops, log() {} },
    async save(all) {
      if (at.isFull) throw new Error('no space');
      saved.push(all);
    },
    fire: createFire({
      conversations,
      declare,
      failed: ({ agent }, error) => void failures.push(`${agent}: ${Object(error).message}`),
    }),
  });
  const none = async () => [];
  const server: DaemonServer = new DaemonServer({
    ...{ version: '1', home, uid: 1, pid: 1, clock: realClock, conversations, bus, declare },
    agents: {
      ...{ list: none, listMcps: none, upsert: () => assert.fail() },
      ...{ delete: async () => {}, upsertMcp: async () => {}, deleteMcp: async () => {} },
    },
    read: {} as ConstructorParameters<typeof DaemonServer>[0]['read'],
    config: async () => '{}',
    setConfig: async () => {},
    reload: async () => {},
    rss: () => 0,
    clients: () => 0,
  });
  const at = {
    isFull: false,
    server,
    bus,
    heard,
    failures,
    saved,
    conversations,
    hopsTo: (address: Address) => conversations.find(address)?.hops ?? 0,
    async [Symbol.asyncDispose]() {
      await conversations.close('finish');
      await rm(home, { recursive: true });
    },
  };
  return at;
}

const peer = { name: 'test', capabilities: new Set<string>() };
const call = { peer, signal: new AbortController().signal };

test('a feed is classified, enriched, and a client that watches is told', async () => {
  await using at = await daemonOf(({ address, prompt }) =>
    address.agent === 'scout' ? `signal: ${prompt.text}` : `enriched (${prompt.text})`,
  );
  await at.server.subscribeEvent({ source: 'rss:fetch', targetAgent: 'scout', once: false });
  await at.server.subscribeEvent({ source: 'agent:scout:done', targetAgent: 'crab', once: true });
  const stop = new AbortController();
  const watched: string[] = [];
  const feed = at.server.subscribeEvents(
    { agents: ['crab'], senders: [], kinds: [AgentEventKind.TEXT_DELTA] },
    { peer, signal: stop.signal },
  );
  const watching = (async () => {
    for await (const { agent, sender, content } of feed) {
      watched.push(`${agent} ${sender} ${content}`);
      stop.abort();
    }
  })();
  await new Promise(setImmediate);
  await at.server.publishEvent({ source: 'rss:fetch', payload: '!rm -rf /', hops: 0 });
  await watching;
  assert.deepEqual(watched, ['crab event:agent:scout:done enriched (signal: !rm -rf /)']);
  assert.deepEqual(
    at.heard.map(({ address, prompt }) => [address.agent, address.sender, prompt]),
    [
      ['scout', 'event:rss:fetch', { text: '!rm -rf /', plain: true, trigger: eventOf('rss:fetch') }],
      [
        'crab',
        'event:agent:scout:done',
        { text: 'signal: !rm -rf /', plain: true, trigger: eventOf('agent:scout:done') },
      ],
    ],
  );
  assert.deepEqual(
    at.bus.list().map(({ source }) => source),
    ['rss:fetch'],
    'what was for once is gone',
  );
});

test('agents that fire each other stop at the limit', async () => {
  await using at = await daemonOf(() => 'again', 5);
  await at.server.subscribeEvent({ source: 'agent:a:done', targetAgent: 'b', once: false });
  await at.server.subscribeEvent({ source: 'agent:b:done', targetAgent: 'a', once: false });
  const bus = busOf(() => at);
  tellDone(bus)({ agent: 'a', result: 'begin', origin: { agent: 'crab', sender: 'cli:1' } });
  while (at.heard.length < 5) await new Promise(setImmediate);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  assert.deepEqual(
    at.heard.map(({ address }) => `${address.agent} ${at.hopsTo(address)}`),
    ['b 5', 'a 4', 'b 5', 'a 4', 'b 5'],
    'one conversation for each of them',
  );
  // What one of them, or an agent that it gave a task to, publishes is one more in that row.
  const origin = { agent: 'b', sender: 'event:agent:a:done' };
  await at.server.subscribeEvent({ source: 'x#2', targetAgent: 'c', once: false });
  await assert.rejects(bus.publish('x#2', 'on and on', origin), { code: 429 });
  await bus.publish('x#2', 'from elsewhere', { agent: 'crab', sender: 'event:x#7' });
  while (at.heard.length < 6) await new Promise(setImmediate);
  assert.equal(at.hopsTo({ agent: 'c', sender: 'event:x#2' }), 1);
});

test('a target that is not there is told of, and the others are fired', async () => {
  await using at = await daemonOf(() => 'ok');
  await at.server.subscribeEvent({ source: 'x', targetAgent: 'nobody', once: false });
  await at.server.subscribeEvent({ source: 'x', targetAgent: 'crab', once: false });
  await at.server.publishEvent({ source: 'x', payload: 'p', hops: 0 });
  while (at.heard.length < 1 || at.failures.length < 1) await new Promise(setImmediate);
  assert.deepEqual(at.failures, ['nobody: There is no agent nobody.']);
});

test('an event without words begins nothing, and what waits for one waits on', async () => {
  await using at = await daemonOf(({ prompt }) => (prompt.text === 'Say nothing.' ? '' : 'Noise.'));
  await at.server.subscribeEvent({ source: 'rss:fetch', targetAgent: 'scout', once: true });
  await at.server.subscribeEvent({ source: 'agent:scout:done', targetAgent: 'crab', once: true });
  await assert.rejects(at.server.publishEvent({ source: 'rss:fetch', payload: ' \n', hops: 0 }), {
    ...{
      code: 400,
      message: 'The payload is empty: it is the prompt of those who have subscribed to the event.',
    },
  });
  await at.server.publishEvent({ source: 'rss:fetch', payload: 'Say nothing.', hops: 0 });
  await at.server.send({ agent: 'scout', sender: 'me', content: 'Say something.' }, call);
  while (at.heard.length < 3) await new Promise(setImmediate);
  assert.deepEqual(
    at.heard.map(({ address: { agent, sender }, prompt }) => [agent, sender, prompt.text]),
    [
      ['scout', 'event:rss:fetch', 'Say nothing.'],
      ['scout', 'me', 'Say something.'],
      ['crab', 'event:agent:scout:done', 'Noise.'],
    ],
  );
});

test('what a guest says is told of as his', async () => {
  await using at = await daemonOf(({ prompt }) => prompt.text);
  await at.server.subscribeEvent({ source: 'agent:crab:done', targetAgent: 'a', once: false });
  await at.server.subscribeEvent({ source: 'agent:scout:done', targetAgent: 'b', once: false });
  await at.server.send({ agent: 'crab', content: 'And you?', guest: 'scout' }, call);
  while (at.heard.length < 2) await new Promise(setImmediate);
  assert.deepEqual(
    at.heard.map(({ address }) => address.agent),
    ['crab', 'b'],
  );
});

test('whoever is told that a subscription was not changed finds it unchanged', async () => {
  await using at = await daemonOf(() => 'ok');
  const listed = () => at.bus.list().map(({ id }) => id);
  await at.server.subscribeEvent({ source: 'x', targetAgent: 'a', once: false });
  await at.server.subscribeEvent({ source: 'y', targetAgent: 'a', once: false });
  at.isFull = true;
  const wish = { source: 'z', targetAgent: 'a', once: false };
  await assert.rejects(at.server.subscribeEvent(wish), { message: 'no space' });
  await assert.rejects(at.server.unsubscribeEvent({ id: 1 }), { message: 'no space' });
  assert.deepEqual(listed(), [1, 2]);
  at.isFull = false;
  await at.server.unsubscribeEvent({ id: 2 });
  assert.deepEqual([listed(), at.saved.at(-1)?.map(({ id }) => id)], [[1], [1]]);
});
