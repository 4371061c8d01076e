import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN } from '../../test/support/channels/scripted.ts';
import { wireServer } from '../../test/support/wire-server.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { OpenReply } from '../core/platform.ts';
import type { ServerConnection } from './client.ts';
import { connectLasting } from './lasting-client.ts';
import type { ClientMessage, PromptMsg, ServerMessage } from './messages.ts';
import { createPipe } from './pipe.ts';
import { remotePlatform } from './remote-platform.ts';
import { serve } from './serve.ts';
import type { Server } from './server.ts';

const HELLO = { version: 2, client: 'test', capabilities: ['core-events'] };
const ADDRESS = { agent: 'crab', sender: 'cli:1' };

/** A server whose only line can be cut, and is mended when the test says so. */
function lineTo(methods: Partial<Server>) {
  const server = wireServer(methods);
  const lost = Promise.withResolvers<void>();
  const mended = Promise.withResolvers<void>();
  let line: ServerConnection | undefined;
  let dials = 0;
  return {
    lost: lost.promise,
    cut: () => line?.close(),
    mend: () => mended.resolve(),
    options: {
      async dial() {
        if (dials++ > 0) await mended.promise;
        const [near, far] = createPipe<ClientMessage, ServerMessage>();
        void serve(far, { server, name: 'test', isTrusted: true, authenticate: async () => true });
        line = near;
        return near;
      },
      hello: HELLO,
      retries: Number.POSITIVE_INFINITY,
      retryMs: 1,
      sleep: async () => {},
      changed: (why: Error | undefined) => why !== undefined && lost.resolve(),
    },
  };
}

const DELTA: Event = { type: 'contentDelta', index: 0, delta: 'a' };

/** Says one thing, and then nothing. */
async function* speaking(asked: PromptMsg[], message: PromptMsg, signal: AbortSignal) {
  asked.push(message);
  yield { firstSeq: 0, events: JSON.stringify([DELTA]), gap: false };
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

test('whoever stops a run while the connection is lost does not wait for it, and the run is killed afterwards', async () => {
  const asked: PromptMsg[] = [];
  const killed = Promise.withResolvers<unknown>();
  const line = lineTo({
    prompt: (message, { signal }) => speaking(asked, message, signal),
    kill: async (message) => killed.resolve(message),
  });
  const client = await connectLasting(line.options);
  let count = 0;
  const platform = remotePlatform(client, () => `run-${++count}`);
  const stop = new AbortController();
  const heard: Event[] = [];
  for await (const batch of platform.prompt(ADDRESS, { text: 'Hi' }, stop.signal)) {
    heard.push(...batch);
    if (heard.length > 1) continue;
    line.cut();
    void line.lost.then(() => stop.abort());
  }
  const [said, end] = heard;
  assert.deepEqual(said, DELTA);
  assert.deepEqual(end?.type === 'runEnd' && [end.outcome, end.error?.code], ['cancelled', 'interrupted']);
  // What is typed meanwhile, and taken back, is never asked.
  const other = new AbortController();
  const unsent = Array.fromAsync(platform.prompt(ADDRESS, { text: 'And this' }, other.signal));
  await new Promise(setImmediate);
  other.abort();
  assert.deepEqual(
    (await unsent).flat().map((event) => event.type === 'runEnd' && event.outcome),
    ['cancelled'],
  );
  line.mend();
  assert.deepEqual(await killed.promise, { ...ADDRESS, run: 'run-1' });
  assert.equal(asked.length, 1);
  await platform.close();
});

const OPENED: OpenReply = {
  address: ADDRESS,
  session: { id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', cwd: '/', messages: 0 },
  commands: [],
  notices: [],
};

test('a server that answers nothing is not waited for by who leaves', async () => {
  const line = lineTo({
    enter: async () => ({ reply: JSON.stringify(OPENED) }),
    leave: () => new Promise(() => {}),
  });
  const client = await connectLasting(line.options);
  const naps: number[] = [];
  const clock = { sleep: async (ms: number) => void naps.push(ms) };
  const platform = remotePlatform(client, () => 'run', { entrance: { agent: 'crab', asks: false }, clock });
  await platform.open(OPEN);
  await platform.close();
  assert.deepEqual(naps, [2000]);
});

test('a connection that does not come back is given up after its tries, and the run is told why', async () => {
  const line = lineTo({
    prompt: (message, { signal }) => speaking([], message, signal),
  });
  const { dial } = line.options;
  let dials = 0;
  const client = await connectLasting({
    ...line.options,
    dial() {
      if (dials++ > 0) throw new CrabError('usage', 'not any more');
      return dial();
    },
    retries: 3,
  });
  const platform = remotePlatform(client, () => 'run');
  const heard: Event[] = [];
  for await (const batch of platform.prompt(ADDRESS, { text: 'Hi' }, new AbortController().signal)) {
    heard.push(...batch);
    line.cut();
  }
  const end = heard.at(-1);
  assert.deepEqual(end?.type === 'runEnd' && [end.outcome, end.error?.message], ['failed', 'not any more']);
  assert.equal(dials, 4);
});
