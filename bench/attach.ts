// `npm run bench:attach`: `crab -p` through a running daemon beside the smallest client that gets the same answer. With
// `--check` it fails where Crab takes more than 1.5 times as long or as much memory.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFakeProvider } from '../src/dev/fake-provider.ts';
import { daemonFor } from '../test/support/daemon.ts';
import { measure } from './measure.ts';
import { median } from './statistics.ts';

const CRAB = fileURLToPath(new URL('../dist/crab.cjs', import.meta.url));
const THIN = fileURLToPath(new URL('thin.cjs', import.meta.url));
const ROUNDS = 15;
const BAR = 1.5;
const ANSWER = 'The answer is short.';

const scratch = mkdtempSync(join(tmpdir(), 'crab-bench-'));
const provider = await startFakeProvider({ scenario: { replies: [{ text: ANSWER, repeat: 1000 }] } });
try {
  const home = join(scratch, 'home');
  const cwd = join(scratch, 'work');
  mkdirSync(join(home, '.crab'), { recursive: true });
  mkdirSync(cwd);
  const env = {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, CRAB_HOME: join(home, '.crab'), LANG: 'C.UTF-8' },
    ...{ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'fake' },
  };
  execFileSync('git', ['init', '--quiet'], { cwd });
  await using _daemon = await daemonFor({ cwd, env });
  const node = process.execPath;
  const subjects = {
    bare: [node, '-e', '0'],
    thin: [node, THIN, join(home, '.crab/run/daemon.sock'), 'What is it?'],
    crab: [node, CRAB, '-p', '--daemon', 'What is it?'],
    embedded: [node, CRAB, '-p', '--no-daemon', 'What is it?'],
  };
  const costs = { bare: [], thin: [], crab: [], embedded: [] } as Record<string, [number, number][]>;
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, command] of Object.entries(subjects)) {
      const { wallMs, rssMb, output } = await measure(command, { cwd, scratch, env });
      if (name !== 'bare' && output.trimEnd() !== ANSWER) throw new Error(`${name} printed ${output}`);
      if (round > 0) costs[name]?.push([wallMs, rssMb]);
    }
  const figure = (name: string, at: 0 | 1) => median((costs[name] ?? []).map((one) => one[at]));
  for (const name of Object.keys(subjects))
    console.log(
      `${name.padEnd(9)} ${figure(name, 0).toFixed(0).padStart(5)} ms ${figure(name, 1).toFixed(1).padStart(6)} MB`,
    );
  const ratios = ([0, 1] as const).map((at) => figure('crab', at) / figure('thin', at));
  console.log(`crab / thin: wall ${ratios[0]?.toFixed(2)}, memory ${ratios[1]?.toFixed(2)} (bar ${BAR})`);
  if (process.argv.includes('--check') && ratios.some((ratio) => ratio > BAR)) process.exitCode = 1;
} finally {
  await provider.close();
  rmSync(scratch, { recursive: true, force: true });
}
