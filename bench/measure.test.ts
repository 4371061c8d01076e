import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Cost, measure } from './measure.ts';

/** Burns 300 ms of a processor. */
const BURN = 'while (process.cpuUsage().user < 300_000) for (let n = 0; n < 1e6; n++);';

async function costOf(program: string, restMs?: number): Promise<Cost> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-measure-'));
  const env = { PATH: '/usr/bin:/bin' };
  return await measure([process.execPath, '-e', program], {
    cwd: folder.path,
    scratch: folder.path,
    env,
    restMs,
  });
}

test('processor time and memory are those of the command', async () => {
  const cost = await costOf(`
    const block = Buffer.alloc(150 * 1024 * 1024, 1);
    ${BURN}
    console.log(block.length);
  `);
  assert.equal(cost.output, `${150 * 1024 * 1024}\n`);
  assert.ok(cost.cpuMs >= 300, `${cost.cpuMs} ms`);
  assert.ok(cost.rssMb >= 150, `${cost.rssMb} MB`);
  assert.ok(cost.wallMs >= 300, `${cost.wallMs} ms`);
});

test('processor time of a child that was waited for counts too', async () => {
  const cost = await costOf(`
    require('node:child_process').spawnSync(process.execPath, ['-e', '${BURN}']);
  `);
  assert.ok(cost.cpuMs >= 300, `${cost.cpuMs} ms`);
});

test('a command that fails is no measurement', async () => {
  await assert.rejects(costOf("console.error('no luck'); process.exit(3)"), /status 3: no luck/);
});

test('a slow reader gets all of the output', async () => {
  const { output } = await costOf("process.stdout.write('x'.repeat(1_000_000))", 1);
  assert.equal(output.length, 1_000_000);
});
