// An update puts another version in the place of a Crab that runs: its modules have other names, and those that the old one
// has not loaded yet are gone. It must say so, and never go on with the modules of the other.

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { chunkName } from '../support/chunks.ts';
import { needs, runCrab, spawnCrab, testedCommand } from '../support/crab.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { eventually } from '../support/processes.ts';
import { tempWorkspace } from '../support/workspace.ts';

const HI = JSON.stringify({ agent: 'crab', content: 'hi' });

const UPDATED =
  'Crab was updated while it ran, and this process is still the old one: start it again (a daemon: `crab daemon stop`).';

// Each is a module of its own, that nothing else loads.
const grep: Reply = { calls: [{ name: 'grep', input: { pattern: 'x' } }] };

/** A copy of the build, as it was installed, and somebody who works with it. */
async function installed(replies: readonly Reply[]) {
  const work = await tempWorkspace({}, { git: false });
  const provider = await fakeProvider(replies);
  const folder = join(work.home, 'installed');
  cpSync(dirname(testedCommand().at(-1) ?? ''), folder, { recursive: true });
  const bin = join(folder, 'crab.cjs');
  const env = provider.env('anthropic');
  return {
    work,
    provider,
    options: { bin, cwd: work.path, home: work.home, env },
    update() {
      const named = readdirSync(folder).filter((file) => chunkName(file) !== file);
      assert.ok(named.length > 100, `${named.length} modules`);
      for (const file of named) rmSync(join(folder, file));
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

const skip = needs('NODE_OPTIONS');

test('a run hears that a tool is gone, and goes on with what it has', { skip }, async () => {
  const wait = 'touch up; until test -e go; do sleep 0.05; done';
  await using at = await installed([
    { calls: [{ name: 'bash', input: { command: wait } }] },
    grep,
    { text: '{{result}}' },
  ]);
  await using crab = spawnCrab({ ...at.options, args: ['-p', 'go', '--dangerously-skip-permissions'] });
  crab.stdin.end();
  await eventually('it runs', async () => existsSync(at.work.file('up')));
  at.update();
  await at.work.write('go', '');
  const exit = await crab.exited;
  assert.deepEqual([exit.code, exit.stdout, exit.stderr], [0, `grep failed: ${UPDATED}\n`, '']);
});

test('a program that comes to an end and has no words left for it says why', { skip }, async () => {
  await using at = await installed([{ text: 'Here I stay.', fault: { stallAfter: 0 } }]);
  const { bin: _, ...other } = at.options;
  await using daemon = spawnCrab({ ...other, args: ['daemon', 'run', '--no-tcp'] });
  await daemon.waitFor('is ready', { on: 'stderr' });
  await using crab = spawnCrab({ ...at.options, args: ['rpc', 'stream', HI] });
  await eventually('it is connected', async () => at.provider.requests.length === 1);
  at.update();
  daemon.kill('SIGKILL');
  const { code, stderr } = await crab.exited;
  assert.deepEqual([code, stderr], [1, `crab: ${UPDATED}\n`]);
});

test('a daemon says so to whoever asks, and stops when it is told to', { skip }, async () => {
  await using at = await installed([{ text: 'Here.' }]);
  await using daemon = spawnCrab({ ...at.options, args: ['daemon', 'run', '--no-tcp'] });
  await daemon.waitFor('is ready', { on: 'stderr' });
  at.update();
  const { bin: _, ...newer } = at.options;
  const exit = await runCrab({ ...newer, args: ['rpc', 'send', HI] });
  const { name, message } = JSON.parse(exit.stdout).error;
  assert.deepEqual([exit.code, name, message], [1, 'program-updated', UPDATED]);
  const stopped = await runCrab({ ...newer, args: ['daemon', 'stop'] });
  assert.deepEqual([stopped.code, stopped.stdout], [0, 'The daemon has stopped.\n']);
  assert.equal((await daemon.exited).code, 0);
});
