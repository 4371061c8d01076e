// Random process trees, started by the tools that run commands: in the foreground, in the background, on a terminal, to
// the end, to a timeout, to an abort. How long something of them lives when their turn is over is what is measured.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/schema.ts';
import { seeded } from '../../src/core/seeded.ts';
import { createExec } from '../../src/parts/process/exec.ts';
import { createJobs } from '../../src/parts/process/jobs.ts';
import { createShellTools } from '../../src/parts/shell/shell-tools.ts';
import { eventually } from '../support/processes.ts';
import { realClock, toolContext } from '../support/tool-context.ts';

/** A way out of the tree; `BODY` is the script of the next generation, quoted. */
const WAYS = {
  group: '( eval BODY ) OUT &',
  child: 'bash -c BODY BRAND OUT &',
  setsid: 'setsid bash -c BODY BRAND OUT &',
  nohup: 'nohup bash -c BODY BRAND OUT &',
  doubleFork: '( ( setsid bash -c BODY BRAND OUT & ) & )',
  jobControl: 'set -m; bash -c BODY BRAND OUT & set +m',
  ignorer: "( trap '' HUP INT TERM; eval BODY ) OUT &",
  stopped: 'bash -c BODY BRAND OUT & kill -STOP $!',
} as const;

/** Found by its parent alone, as long as that lives: without the marker its own children could go anywhere. */
const BARE = 'env -i PATH="$PATH" bash -c BODY BRAND OUT & wait';

/** Found by nothing that a process may look at: no environment, no session, no parents. A PID namespace would hold it. */
export const ESCAPE = '( env -i PATH="$PATH" setsid bash -c BODY BRAND OUT & )';

const OUTPUTS = ['', '>/dev/null 2>&1', '>&- 2>&-'] as const;
const ENDS = ['exit 0', 'exit 3', 'sleep 60', 'wait; sleep 60'] as const;
const KINDS = ['foreground', 'background', 'terminal'] as const;

export interface TreesReport {
  readonly trees: number;
  /** Lives that were found 2 s after the end of their turn. */
  readonly survivors: number;
  /** Milliseconds from the end of each turn until nothing of it was left. */
  readonly gone: readonly number[];
}

export interface TreesOptions {
  readonly trees: number;
  readonly seed: number;
  /** Takes the place of every way out. */
  readonly way?: string;
  /** Taken away to show that survivors are seen. */
  readonly kill?: () => void;
  /** Trees of one turn. Default: 8. */
  readonly together?: number;
}

const LIMIT_MS = 2000;

export async function growTrees(options: TreesOptions): Promise<TreesReport> {
  const { trees, seed, together = 8 } = options;
  const random = seeded(seed);
  const gone: number[] = [];
  let survivors = 0;
  for (let done = 0; done < trees; done += together) {
    const brand = `crab-trees-${process.pid}-${done}`;
    await turn({ ...options, together: Math.min(together, trees - done) }, brand, random);
    // A tree that nothing ends may still be growing.
    if (options.kill !== undefined)
      await eventually('a tree has grown', async () => (await branded(brand)).length > 0);
    const ended = performance.now();
    let left = await branded(brand);
    while (left.length > 0 && performance.now() - ended < LIMIT_MS) {
      await realClock.sleep(10);
      left = await branded(brand);
    }
    gone.push(performance.now() - ended);
    survivors += left.length;
    for (const pid of left) process.kill(pid, 'SIGKILL');
  }
  return { trees, survivors, gone };
}

/** What a run does with its calls, and a conversation with its jobs. */
async function turn(options: TreesOptions, brand: string, random: () => number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crab-trees-'));
  const { kill } = options;
  const host = createExec({ env: process.env, clock: realClock, ...(kill !== undefined && { kill }) });
  const jobs = createJobs({ clock: realClock, folder: async () => folder });
  const [bash] = createShellTools();
  const stop = new AbortController();
  const context = toolContext(folder, {
    exec: host,
    open: host.open,
    jobs,
    signal: stop.signal,
    scratch: async () => folder,
    tools: { list: () => [], offer: () => {} },
  });
  const one = async () => {
    const kind = pick(KINDS, random);
    const command = `${script(brand, random, 3 * random(), options.way)}\n${pick(ENDS, random)}`;
    const more: JsonObject = kind === 'background' ? { run_in_background: true } : {};
    const input = { command, timeout: 1 + Math.round(300 * random()), pty: random() < 0.3, ...more };
    await bash?.run(input, context).catch(() => {});
  };
  const calls = Array.from({ length: options.together ?? 1 }, one);
  if (random() < 0.3) setTimeout(() => stop.abort(), 200 * random());
  await Promise.all(calls);
  await host.sweep();
  if (kill === undefined) await jobs.close();
  await rm(folder, { recursive: true, force: true });
}

function script(brand: string, random: () => number, depth: number, way?: string): string {
  const lines: string[] = [];
  for (let children = 1 + Math.floor(2 * random()); children > 0; children--) {
    const body = depth < 1 ? `exec -a ${brand} sleep 300` : script(brand, random, depth - 1, way);
    const chosen = way ?? pick(depth < 1 ? [...Object.values(WAYS), BARE] : Object.values(WAYS), random);
    const quoted = `'${body.replaceAll("'", "'\\''")}'`;
    // Functions: what is put in must not be read as a pattern of what replaces it.
    lines.push(
      chosen
        .replace('BODY', () => quoted)
        .replace('BRAND', () => brand)
        .replace('OUT', () => pick(OUTPUTS, random)),
    );
  }
  return lines.join('\n');
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** Whatever has the word among its arguments and is no zombie. */
export async function branded(brand: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      return line.split('\0').includes(brand) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
