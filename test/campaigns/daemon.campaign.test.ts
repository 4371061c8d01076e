// What a daemon has to live through: frames that make no sense, signals at bad moments, clients that do not read, and a
// long life. `CRAB_CAMPAIGN` scales each part; the fault that each would catch is planted beside it.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sealFrame } from '../../src/protocol/frames.ts';
import { writeClientMessage } from '../../src/protocol/messages.ts';
import { eventually } from '../support/processes.ts';
import { type SmallDaemon, smallDaemon } from '../support/small-daemon.ts';
import { fuzz, type Transport } from './daemon-fuzz.ts';
import { killedIn, plantedRerun, SIGNALS, STATES } from './daemon-kills.ts';
import { grown, soak } from './daemon-soak.ts';

const SCALE = Number(process.env['CRAB_CAMPAIGN'] ?? 1);
const FRAMES = 3000 * SCALE;
/** By then two conversations have come and gone. */
const WARM_TURNS = 40;
const TURNS = 80 * SCALE;
/** Of each state and signal. */
const KILLS = 2 * SCALE;
const TCP = { host: '127.0.0.1', port: 0 };

for (const transport of ['socket', 'jsonSocket', 'tcp'] satisfies Transport[])
  test(`${FRAMES} changed frames are all dealt with (${transport})`, async () => {
    await using small = await smallDaemon({ listen: { tcp: TCP } });
    assert.deepEqual(await fuzz(small, transport, FRAMES, 11), []);
  });

test('the frames would notice a daemon that says nothing', async () => {
  await using small = await smallDaemon();
  const deaf = createServer(() => {});
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  const address = deaf.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const { connect } = await import('node:net');
  const silent: SmallDaemon = { ...small, socket: () => connect({ host: '127.0.0.1', port }) };
  assert.match((await fuzz(silent, 'socket', 100, 12)).join(), /nothing is answered behind frame 0/);
  deaf.close();
});

for (const state of STATES)
  for (const signal of SIGNALS)
    test(`nothing is lost, run twice or left behind: ${signal} while ${state}`, async () => {
      for (let round = 0; round < KILLS; round++) assert.deepEqual(await killedIn(state, signal), []);
    });

test('the signals would notice a command that is run again', async () => {
  assert.deepEqual(await killedIn('tool', 'SIGKILL', plantedRerun), [
    'tool, SIGKILL: the command ran 2 times',
  ]);
});

test(`a client that does not read ${64 * SCALE} MiB costs neither memory nor time of others`, async () => {
  await using small = await smallDaemon();
  const deaf = small.socket();
  deaf.pause();
  const message = { agent: 'crab', content: `flood ${1024 * SCALE}`, sender: 'deaf' };
  deaf.write(sealFrame(writeClientMessage({ requestId: 1, message: { case: 'stream', value: message } }, 4)));
  const client = await small.client();
  const before = collected();
  const { content } = await client.request('send', { agent: 'crab', content: 'hi' }, 'response');
  assert.equal(content, 'hi to user');
  await eventually(
    'the run is over',
    async () => (await client.request('getStats', {}, 'stats')).totalRuns === 2,
  );
  const grown = (collected() - before) / 1024 / 1024;
  assert.ok(grown < 48, `the heap and its buffers have grown by ${grown.toFixed(1)} MiB`);
});

test(`after ${500 * SCALE} runs the heap and the handles are what they were`, async (t) => {
  await using small = await smallDaemon();
  const client = await small.client();
  const turn = () => client.request('send', { agent: 'crab', content: 'abc', sender: 'soak' }, 'response');
  for (let count = 0; count < 200; count++) await turn();
  // The log of the conversation fills up to its room; what is beyond it is the leak.
  const [heap, handles] = [collected(), process.getActiveResourcesInfo().length];
  for (let count = 0; count < 500 * SCALE; count++) await turn();
  const grown = collected() / heap;
  t.diagnostic(`${(heap / 1024 / 1024).toFixed(1)} MiB, × ${grown.toFixed(3)}`);
  assert.ok(grown < 1.1, `the heap is ${grown.toFixed(2)} times what it was`);
  assert.ok(process.getActiveResourcesInfo().length <= handles + 1);
});

test(`after ${TURNS} turns with tools the program holds what it held`, async (t) => {
  const soaked = await soak({ turns: TURNS, warm: WARM_TURNS });
  t.diagnostic(`${soaked.early.memory} bytes, and ${soaked.late.memory}`);
  assert.deepEqual(grown(soaked), []);
});

test('that soak would notice what each request leaves behind', async () => {
  const soaked = await soak({ turns: 60, warm: WARM_TURNS, leaks: true });
  assert.match(grown(soaked).join(), /the memory is 1\.\d+ times what it was/);
});

test('the soak would notice a leak of a kilobyte in each run', () => {
  const heap = collected();
  const kept = Array.from({ length: 20_000 }, (_, at) => `${at}`.repeat(200).split(''));
  assert.ok(collected() / heap > 1.1 && kept.length > 0);
});

/** Bytes that are in use behind a whole collection. */
function collected(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
