// `npm run bench:search`: searching 100,000 messages, and with `--large` a million as well, in a temporary home. With
// `--check` a missed bar is a failure.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { OpenSearch } from '../src/parts/search/open-search.ts';
import { machine, type Outcome, table } from './report.ts';
import { writeCorpus } from './search-corpus.ts';
import type { Probe } from './search-probe.ts';
import { median, percentile } from './statistics.ts';

const PROBE = fileURLToPath(new URL('search-probe.ts', import.meta.url));

interface Size {
  readonly name: string;
  readonly messages: number;
  readonly bars: { readonly p99: number; readonly start?: number; readonly memory?: number };
}

const SIZES: readonly Size[] = [
  { name: '100 k', messages: 100_000, bars: { p99: 50, start: 500 } },
  { name: '1 M', messages: 1_000_000, bars: { p99: 200, memory: 1536 } },
];

const { values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false }, large: { type: 'boolean', default: false } },
});

async function measure({ name, messages, bars }: Size): Promise<readonly Outcome[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'crab-bench-search-'));
  const [index, sessions] = [join(scratch, 'index/sessions.db'), join(scratch, 'sessions')];
  try {
    const [path = ''] = writeCorpus(sessions, messages);
    const buildMs = await build(index, sessions);
    const args = [PROBE, index, sessions, path];
    const printed = execFileSync(process.execPath, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const probe: Probe = JSON.parse(printed);
    const row = (what: string, unit: Outcome['unit'], value: number, bar?: number): Outcome => ({
      ...{ name: `${name}: ${what}`, kind: 'crab', unit, value, judged: value },
      ...(bar !== undefined && { bar, met: value <= bar }),
    });
    const { queries, common, appends } = probe;
    return [
      row('search, median', 'ms', median(queries.wallMs)),
      row('search, p99', 'ms', percentile(queries.wallMs, 99), bars.p99),
      row('search, p99 of CPU', 'ms', percentile(queries.cpuMs, 99)),
      row('common words alone, median', 'ms', median(common.wallMs)),
      row('common words alone, p99', 'ms', percentile(common.wallMs, 99), bars.p99),
      row('common words alone, p99 of CPU', 'ms', percentile(common.cpuMs, 99)),
      row('first search of a process', 'ms', probe.startMs, bars.start),
      row('memory of that process', 'MB', probe.rssMb, bars.memory),
      row('indexing an append, mean', 'ms', mean(appends.wallMs), 1),
      row('indexing an append, mean of CPU', 'ms', mean(appends.cpuMs)),
      row('indexing an append, p99', 'ms', percentile(appends.wallMs, 99)),
      row('index made anew', 'ms', buildMs),
      row('index on disk', 'MB', statSync(index).size / 1024 / 1024),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function build(index: string, sessions: string): Promise<number> {
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => {} };
  const search = new OpenSearch({ index, sessions, clock });
  const start = performance.now();
  await search.rebuild(() => {}, new AbortController().signal);
  await search.close();
  return performance.now() - start;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const outcomes: Outcome[] = [];
for (const size of flags.large ? SIZES : SIZES.slice(0, 1)) outcomes.push(...(await measure(size)));
console.log(table(outcomes));
console.log(`\n${machine()}`);
if (flags.check && outcomes.some(({ met }) => met === false)) process.exitCode = 1;
