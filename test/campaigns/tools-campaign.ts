// What is promised of the tools that run commands, as figures: how long something of a tree lives, how much memory a
// flood takes, and whether a session opens whose program was killed in the middle of its tools.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seeded } from '../../src/core/seeded.ts';
import type { Reply } from '../../src/dev/scenario.ts';
import { journey } from '../support/journey.ts';
import { realClock } from '../support/tool-context.ts';
import type { Flood, FloodReport } from './tool-flood.ts';
import { branded } from './tool-trees.ts';

export const MIB = 1024 * 1024;

/** What a flood of any length may take. */
export const MEMORY_LIMIT = 32 * MIB;

/** Bytes of a result, and of the file that holds the whole. */
export const RESULT_LIMIT = 50 * 1024;
export const FILE_LIMIT = 64 * MIB;

const FLOOD_PROGRAM = fileURLToPath(new URL('tool-flood.ts', import.meta.url));

export async function flood(kind: Flood, bytes: number, fault?: 'keep'): Promise<FloodReport> {
  const args = [FLOOD_PROGRAM, kind, String(Math.round(bytes)), ...(fault === undefined ? [] : [fault])];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as FloodReport;
}

/** What is wrong with a flood, as sentences. */
export function floodProblems(report: FloodReport): readonly string[] {
  const { kind, growth, resultBytes, fileBytes, isClean } = report;
  return [
    ...(growth > MEMORY_LIMIT ? [`${kind}: memory grew by ${Math.round(growth / MIB)} MiB`] : []),
    ...(resultBytes > RESULT_LIMIT ? [`${kind}: the result has ${resultBytes} bytes`] : []),
    ...(fileBytes > FILE_LIMIT ? [`${kind}: the file has ${fileBytes} bytes`] : []),
    ...(isClean ? [] : [`${kind}: the result is no plain text`]),
  ];
}

export interface CutsReport {
  readonly cuts: number;
  /** Killed before the last answer. */
  readonly inTheMiddle: number;
  readonly problems: readonly string[];
}

/** Kills the program with SIGKILL while its tools run, and goes on with the session. */
export async function cutRuns(cuts: number, seed: number): Promise<CutsReport> {
  const random = seeded(seed);
  const problems: string[] = [];
  let inTheMiddle = 0;
  for (let cut = 0; cut < cuts; cut++) {
    const brand = `crab-cut-${process.pid}-${cut}`;
    try {
      if (await cutRun(brand, random)) inTheMiddle++;
    } catch (error) {
      problems.push(`cut ${cut} of seed ${seed}: ${error instanceof Error ? error.message : error}`);
    }
    const left = await survivors(brand);
    if (left.length > 0) problems.push(`cut ${cut} of seed ${seed}: ${left.length} processes live on`);
    for (const pid of left) process.kill(pid, 'SIGKILL');
  }
  return { cuts, inTheMiddle, problems };
}

/** Two seconds after the end of the program. */
async function survivors(brand: string): Promise<readonly number[]> {
  const ended = performance.now();
  let left = await branded(brand);
  while (left.length > 0 && performance.now() - ended < 2000) {
    await realClock.sleep(20);
    left = await branded(brand);
  }
  return left;
}

function story(brand: string): readonly Reply[] {
  const nap = (seconds: number) => `exec -a ${brand} sleep ${seconds}`;
  const call = (input: Readonly<Record<string, unknown>>) => ({ name: 'bash', input });
  return [
    {
      calls: [
        call({ command: `echo a; ${nap(60)}`, run_in_background: true }),
        call({ command: 'seq 1 50000' }),
      ],
    },
    {
      calls: [
        call({ command: `(${nap(0.1)}); seq 1 100` }),
        call({ command: 'exit 0', run_in_background: true }),
      ],
    },
    {
      calls: [
        call({ command: 'seq 1 500; sleep 0.1', pty: true }),
        { name: 'task_stop', input: { task_id: 'c1' } },
      ],
    },
    { calls: [{ name: 'task_output', input: { task_id: 'c2', block: true } }] },
    { text: 'Done.' },
  ];
}

/** True when the run was cut before its end. The fake provider refuses a history that is not valid. */
async function cutRun(brand: string, random: () => number): Promise<boolean> {
  const wire = random() < 0.5 ? 'anthropic' : 'openai';
  await using at = await journey(wire, { script: { replies: story(brand), otherwise: { text: 'Done.' } } });
  const sandbox = random() < 0.5 ? 'preferred' : 'off';
  const args = [
    '--dangerously-skip-permissions',
    '--sandbox',
    sandbox,
    '--output-format',
    'stream-json',
    '--verbose',
  ];
  await using crab = at.start(['-p', 'work', ...args]);
  crab.stdin.end();
  await crab.waitFor('"init"');
  const timer = setTimeout(() => crab.kill('SIGKILL'), 900 * random());
  const { signal, stdout } = await crab.exited;
  clearTimeout(timer);
  const sessions = await at.sessions();
  if (sessions.length === 0) return signal === 'SIGKILL';
  const again = await at.run(['-p', 'go on', '--continue', ...args]);
  if (again.code !== 0)
    throw new Error(`the session does not go on: ${again.stderr}${again.stdout.slice(-500)}`);
  return signal === 'SIGKILL' && !stdout.includes('"result"');
}
