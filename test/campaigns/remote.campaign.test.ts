// The campaign against the remote door, as long as `CRAB_CAMPAIGN` says, must find nothing. Then one of its checks after
// the other is taken away, and the campaign must find that.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { seeded } from '../../src/core/seeded.ts';
import { OWNER } from '../../src/hosts/remote/grant.ts';
import { RemoteClient } from '../../src/hosts/remote/remote-client.ts';
import { type Door, type DoorOptions, openDoor, TOKEN } from '../support/remote-door.ts';
import { frames, messages, slowHeads, strangers } from './remote-campaign.ts';

const MESSAGES = Number(process.env['CRAB_CAMPAIGN'] ?? 4000);
const LIMITS = { rate: 1e6, burst: 1e6, headMs: 1000, clients: 1000, strangers: 1000 };

function open(options: DoorOptions = {}): Promise<Door> {
  return openDoor({ origins: ['https://app.example'], limits: LIMITS, ...options });
}

function known({ url }: Door): Promise<RemoteClient> {
  return RemoteClient.connect(url, { mode: 'header', token: TOKEN }, { client: 'campaign' });
}

test('no stranger reaches anything, in any combination', async () => {
  await using door = await open();
  assert.deepEqual(await strangers(door), []);
  assert.deepEqual(door.reached, []);
});

test('messages that were changed are answered or refused, and the connection goes on', async () => {
  await using door = await open();
  assert.deepEqual(await messages(door, MESSAGES, seeded(1)), []);
});

test('frames that were changed end their own connection and no other', async () => {
  await using door = await open();
  await using client = await known(door);
  assert.deepEqual(await frames(door, Math.ceil(MESSAGES / 10), seeded(2), client), []);
});

test('heads that never end hold nobody up', async () => {
  await using door = await open();
  await using client = await known(door);
  assert.deepEqual(await slowHeads(door, 200, client), []);
});

/** Stands before a door and changes the head of each request: as if a check of the door were not there. */
async function relay(door: Door, change: (head: string) => string) {
  const server = createServer((near) => {
    const far = connect(door.port, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('close', () => far.destroy());
    far.pipe(near);
    near.once('data', (first) => {
      far.write(Buffer.from(change(first.toString('latin1')), 'latin1'));
      near.pipe(far);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

const TAKEN_AWAY: readonly (readonly [string, (head: string) => string])[] = [
  ['the host', (head) => head.replace(/\r\nHost: [^\r]*/, '\r\nHost: localhost')],
  ['the origin', (head) => head.replace(/\r\nOrigin: [^\r]*/, '')],
  [
    'the address',
    (head) =>
      head.replace(/ \/\?token=\S+/, ' /').replace(/(\r\n\r\n)/, `\r\nAuthorization: Bearer ${TOKEN}$1`),
  ],
];

for (const [what, change] of TAKEN_AWAY)
  test(`a door that does not look at ${what} is found`, async () => {
    await using door = await open();
    await using planted = await relay(door, change);
    assert.notDeepEqual(await strangers(door, planted.port), []);
  });

test('a door that takes every token is found', async () => {
  await using door = await open({ authenticate: async () => OWNER });
  assert.notDeepEqual(await strangers(door), []);
});

test('a door that stops to answer is found', async () => {
  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  await using door = await open({ methods: { ping: ({ signal }) => wait(signal) } });
  assert.deepEqual(await messages(door, 200, seeded(1), 300), ['no answer to ping-99']);
});

test('a door that waits for every head is found', async () => {
  await using door = await open({ limits: { ...LIMITS, headMs: 60_000 } });
  await using client = await known(door);
  assert.deepEqual(await slowHeads(door, 5, client), ['5 slow heads are still waited for']);
});
