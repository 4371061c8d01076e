// `npm run bench:permissions`: a thousand labelled commands through `crab permissions explain --json -`, beside a
// program that only loads the grammar of bash and parses them. The two take turns, so that what else the machine does
// strikes both alike, and the ratio is that of one round. With `--check` a missed bar is a failure.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCorpus } from '../test/corpora/read-corpus.ts';
import { machine, type Outcome, table } from './report.ts';
import { median } from './statistics.ts';

const LINES = 1000;
/** Of the whole run, start and end of the process among it, to that of the floor. */
const BAR = 3;

const { values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false }, rounds: { type: 'string', default: '7' } },
});

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Of every label in turn. */
function lines(cwd: string): string {
  const corpus = readCorpus();
  const step = corpus.length / LINES;
  const chosen = Array.from({ length: LINES }, (_, at) => corpus[Math.floor(at * step)]?.command ?? 'ls');
  return chosen.map((cmd) => `${JSON.stringify({ cmd, cwd })}\n`).join('');
}

/** Milliseconds. Throws when not every line is answered. */
function timed(argv: readonly string[], input: string, home: string): number {
  const env = { ...process.env, HOME: home, CRAB_HOME: join(home, '.crab') };
  const started = performance.now();
  const { status, stdout } = spawnSync(process.execPath, argv, { input, env, cwd: home, encoding: 'utf8' });
  const took = performance.now() - started;
  const answers = stdout.split('\n').filter((line) => line.includes('"verdict"')).length;
  if (status !== 0 || answers !== LINES) throw new Error(`${argv[0]} answered ${answers} of ${LINES} lines`);
  return took;
}

const home = mkdtempSync(join(tmpdir(), 'crab-bench-permissions-'));
try {
  const input = lines(home);
  const floor = () => timed([path('permissions-floor.cjs')], input, home);
  const crab = () => timed([path('../dist/crab.cjs'), 'permissions', 'explain', '--json', '-'], input, home);
  // The first of each fills caches.
  floor();
  crab();
  const times = Array.from({ length: Number(flags.rounds) }, () => ({ floor: floor(), crab: crab() }));
  const row = (name: string, kind: Outcome['kind'], unit: Outcome['unit'], value: number): Outcome => ({
    ...{ name, kind, unit, value, judged: value },
  });
  const ratio = median(times.map((each) => each.crab / each.floor));
  const outcomes: Outcome[] = [
    row('floor: parse 1,000 lines', 'floor', 'ms', median(times.map((each) => each.floor))),
    row('crab permissions explain', 'crab', 'ms', median(times.map((each) => each.crab))),
    { ...row('  beside the floor', 'crab', 'x', ratio), bar: BAR, met: ratio <= BAR },
  ];
  console.log(table(outcomes));
  console.log(`\n${machine()}, ${LINES} lines, ${flags.rounds} rounds`);
  if (flags.check && ratio > BAR) process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
