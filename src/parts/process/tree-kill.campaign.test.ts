// Random process trees, as many as `CRAB_CAMPAIGN` says: none may have a survivor. The same trees without
// a working kill must be noticed, else the count of survivors means nothing.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../test/support/processes.ts';
import type { Clock } from '../../core/host.ts';
import { createExec, type HostExec } from './exec.ts';

const TREES = Number(process.env['CRAB_CAMPAIGN'] ?? 300);
const SIDE_BY_SIDE = 4;

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** Every process of a campaign has this word among its arguments. */
const BRAND = `crab-campaign-${process.pid}`;
const LEAF = `exec -a ${BRAND} sleep 300`;

function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A script that starts `depth` generations, each in a way of its own. */
function tree(random: (below: number) => number, depth: number): string {
  const lines: string[] = [];
  for (let children = 1 + random(2); children > 0; children--) {
    const body = depth === 0 ? LEAF : tree(random, depth - 1);
    const output = ['', '>/dev/null 2>&1', '>&- 2>&-'][random(3)];
    const quoted = `'${body.replaceAll("'", "'\\''")}'`;
    const ways = [
      `( ${body}\n) ${output} &`,
      `bash -c ${quoted} ${BRAND} ${output} &`,
      `setsid bash -c ${quoted} ${BRAND} ${output} &`,
      `nohup bash -c ${quoted} ${BRAND} ${output} &`,
      `( ( setsid bash -c ${quoted} ${BRAND} ${output} & ) & )`,
      `set -m; bash -c ${quoted} ${BRAND} ${output} & set +m`,
      `( trap '' HUP INT; ${body}\n) ${output} &`,
      `bash -c ${quoted} ${BRAND} ${output} & kill -STOP $!`,
    ];
    lines.push(ways[random(ways.length)] ?? '');
  }
  return lines.join('\n');
}

/** One tree in one of four ways to end. */
async function grow(exec: HostExec, random: (below: number) => number): Promise<void> {
  const script = tree(random, random(3));
  const ends = ['exit 0', 'exit 3', 'wait; sleep 60', 'exec sleep 60'];
  const end = random(ends.length);
  const abort = new AbortController();
  const timer = end === 3 ? setTimeout(() => abort.abort(), 20 + random(80)) : undefined;
  const argv = ['bash', '--noprofile', '--norc', '-c', `${script}\n${ends[end]}`, BRAND];
  const call = exec({ argv, cwd: tmpdir(), timeoutMs: end === 2 ? 20 + random(80) : 30_000 }, abort.signal);
  await call.catch((error) => assert.equal(error.name, 'AbortError'));
  clearTimeout(timer);
}

async function campaign(exec: HostExec, trees: number): Promise<void> {
  let started = 0;
  const lane = async () => {
    while (started < trees) await grow(exec, generator(++started));
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  await exec.sweep();
}

function survivors(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(BRAND);
      } catch {
        return false;
      }
    });
}

test('random process trees leave no survivor', { skip: process.platform !== 'linux' }, async () => {
  await campaign(createExec({ env: process.env, clock }), TREES);
  assert.deepEqual(survivors(), []);
});

test('without a working kill the survivors are seen', { skip: process.platform !== 'linux' }, async () => {
  const host = createExec({ env: process.env, clock, kill: () => {} });
  try {
    await campaign(host, SIDE_BY_SIDE);
    // A tree that nothing ends may still be growing.
    await eventually('a survivor is seen', async () => survivors().length > 0);
  } finally {
    for (const pid of survivors()) process.kill(pid, 'SIGKILL');
  }
});
