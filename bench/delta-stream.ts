// What a long answer costs in processor time when it comes through the daemon, against the same command alone: client and
// daemon together, less what a short answer costs in the same way, so that starting a process does not count.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFakeProvider } from '../src/dev/fake-provider.ts';
import { cleanEnv } from '../test/support/crab.ts';
import { daemonFor } from '../test/support/daemon.ts';
import { measure } from './measure.ts';
import { median } from './statistics.ts';

const CRAB = fileURLToPath(new URL('../dist/crab.cjs', import.meta.url));
const DELTAS = 20_000;
const WORD = 'word ';
/** Of a tick of the kernel's clock, in which proc(5) counts. */
const TICK_MS = 10;

export interface DeltaCosts {
  /** Milliseconds of processor time for the answer. */
  readonly alone: number;
  readonly client: number;
  readonly daemon: number;
}

export async function measureDeltas(rounds: number): Promise<DeltaCosts> {
  const scratch = mkdtempSync(join(tmpdir(), 'crab-deltas-'));
  const script = (when: string, deltas: number) => ({
    when,
    replies: [{ generate: { deltas, text: WORD } }],
  });
  const provider = await startFakeProvider({
    scenario: { scripts: [script('long', DELTAS), script('short', 1)] },
    keepBodies: false,
  });
  try {
    const [home, cwd] = [join(scratch, 'home'), join(scratch, 'work')];
    for (const folder of [join(home, '.crab'), cwd]) mkdirSync(folder, { recursive: true });
    execFileSync('git', ['init', '--quiet'], { cwd });
    const env = {
      ...(cleanEnv(home) as Record<string, string>),
      ...{ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'fake' },
    };
    await using daemon = await daemonFor({ cwd, env });
    const cost = async (way: string, prompt: string, deltas: number) => {
      const before = processorMs(daemon.pid);
      const { cpuMs, output } = await measure([process.execPath, CRAB, '-p', way, prompt], {
        cwd,
        env,
        scratch,
      });
      if (output.trimEnd().length !== WORD.length * deltas - 1)
        throw new Error(`${way} printed ${output.length}`);
      return { own: cpuMs, far: processorMs(daemon.pid) - before };
    };
    const of = { alone: [], client: [], daemon: [] } as Record<keyof DeltaCosts, number[]>;
    for (let round = -1; round < rounds; round++)
      for (const way of ['--no-daemon', '--daemon']) {
        const long = await cost(way, 'long', DELTAS);
        const short = await cost(way, 'short', 1);
        if (round < 0) continue;
        const isAlone = way === '--no-daemon';
        of[isAlone ? 'alone' : 'client'].push(long.own - short.own);
        if (!isAlone) of.daemon.push(long.far - short.far);
      }
    return { alone: median(of.alone), client: median(of.client), daemon: median(of.daemon) };
  } finally {
    await provider.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Of a process so far, user and system. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
