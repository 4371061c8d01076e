// A short campaign over the tools that run commands; `npm run campaign:tools` is the long one. Each figure is shown to
// fail by a planted fault: a kill that does nothing, a listener that keeps what it hears.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Flood } from './tool-flood.ts';
import { growTrees } from './tool-trees.ts';
import { cutRuns, flood, floodProblems, MEMORY_LIMIT, MIB } from './tools-campaign.ts';

const SCALE = Number(process.env['CRAB_CAMPAIGN'] ?? 1);
const linux = { skip: process.platform !== 'linux' };

test('process trees of every tool are gone 2 s after their turn', linux, async () => {
  const { trees, survivors } = await growTrees({ trees: 48 * SCALE, seed: 7 });
  assert.deepEqual({ trees, survivors }, { trees: 48 * SCALE, survivors: 0 });
});

test('without a working kill the survivors are seen', linux, async () => {
  const { survivors } = await growTrees({ trees: 4, seed: 7, kill: () => {} });
  assert.ok(survivors > 0);
});

/** Bytes; of a job more than its file holds, which is where it is made to talk slowly. */
const SIZES = {
  lines: 96 * MIB,
  oneLine: 100_000_000,
  binary: 24 * MIB,
  invalid: 48 * MIB,
  progress: 48 * MIB,
  background: 72 * MIB,
} as const satisfies Record<Flood, number>;

for (const [kind, bytes] of Object.entries(SIZES) as [Flood, number][]) {
  test(`a flood takes no memory and gives a small, clean result: ${kind}`, linux, async () => {
    assert.deepEqual(floodProblems(await flood(kind, bytes * SCALE)), []);
  });
}

test('a buffer without a bound is seen', linux, async () => {
  const report = await flood('lines', 96 * MIB, 'keep');
  assert.ok(report.growth > MEMORY_LIMIT);
});

test('a run that is cut in the middle of its tools leaves a session that goes on', linux, async () => {
  const { inTheMiddle, problems } = await cutRuns(6 * SCALE, 7);
  assert.deepEqual(problems, []);
  assert.ok(inTheMiddle > 0);
});
