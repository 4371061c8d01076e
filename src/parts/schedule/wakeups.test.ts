import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as soon } from 'node:timers/promises';
import { toolContext } from '../../../test/support/tool-context.ts';
import { textOf } from '../../../test/support/tool-folder.ts';
import { createWakeups, createWakeupTool } from './wakeups.ts';

const FROM = { agent: 'crab', sender: 'cli:test' };

/** Sleeps until `pass` is called, or the signal aborts. */
function heldClock() {
  const sleepers: { readonly ms: number; readonly wake: () => void }[] = [];
  return {
    sleepers,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        sleepers.push({ ms, wake: resolve });
      }),
  };
}

test('a wakeup comes after its time, as a text that is no command', async () => {
  const clock = heldClock();
  const wakeups = createWakeups(clock);
  const heard: string[] = [];
  const stop = wakeups.listen((text, { sender }) => void heard.push(`${sender} ${text}`));
  const tool = createWakeupTool(wakeups);
  const output = await tool.run({ delaySeconds: 90, prompt: ' !rm x ' }, toolContext('/work'));
  assert.equal(textOf(output), 'In 90 seconds you will be told: !rm x');
  assert.deepEqual([clock.sleepers.map(({ ms }) => ms), heard], [[90_000], []]);
  clock.sleepers[0]?.wake();
  await soon();
  assert.deepEqual(heard, ['cli:test Scheduled wakeup: !rm x']);
  stop();
});

test('nothing comes when nobody listens any more, or the conversation is over', async () => {
  const clock = heldClock();
  const wakeups = createWakeups(clock);
  const heard: string[] = [];
  const stop = wakeups.listen((text) => void heard.push(text));
  wakeups.schedule(1, 'first', FROM);
  wakeups.schedule(1, 'second', FROM);
  stop();
  clock.sleepers[0]?.wake();
  wakeups.close();
  await soon();
  assert.deepEqual(heard, []);
});

test('times and prompts have bounds, and so has what waits', async () => {
  const tool = createWakeupTool(createWakeups(heldClock()));
  const run = (delaySeconds: number, prompt = 'x') =>
    tool.run({ delaySeconds, prompt }, toolContext('/work'));
  await assert.rejects(run(0), /1 to 86400 seconds, not 0/);
  await assert.rejects(run(86_401), /not 86401/);
  await assert.rejects(run(1, ' '), /The prompt must have/);
  for (let count = 0; count < 20; count++) await run(1);
  await assert.rejects(run(1), /20 wakeups wait already\./);
  const nowhere = createWakeupTool(undefined).run({ delaySeconds: 1, prompt: 'x' }, toolContext('/work'));
  await assert.rejects(nowhere, /Nothing could wake you here/);
});
