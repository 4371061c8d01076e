// One process that searches a corpus whose index is there already, as a new `crab search` does, and says what it took.

import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { OpenSearch } from '../src/parts/search/open-search.ts';
import { createSpeech, messageLine, spelled } from './search-corpus.ts';

const QUERIES = 400;
const COMMON_QUERIES = 50;
const APPENDS = 300;

/** One a task. The processor's time is what is left of a figure on a machine that also does other things. */
export interface Times {
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
}

export interface Probe {
  /** Milliseconds from the first statement to the first reply. */
  readonly startMs: number;
  readonly queries: Times;
  /** Of words alone that stand in most messages. */
  readonly common: Times;
  readonly appends: Times;
  readonly rssMb: number;
}

const [index = '', sessions = '', path = ''] = process.argv.slice(2);
const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => {} };

async function timed(count: number, task: (at: number) => Promise<unknown>): Promise<Times> {
  const times = { wallMs: [] as number[], cpuMs: [] as number[] };
  for (let at = 0; at < count; at++) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    await task(at);
    times.wallMs.push(performance.now() - start);
    const { user, system } = process.cpuUsage(cpu);
    times.cpuMs.push((user + system) / 1000);
  }
  return times;
}

const search = new OpenSearch({ index, sessions, clock });
const { word, message, random } = createSpeech(2);
const started = await timed(1, () => search.search({ query: word() }));
const queries = await timed(QUERIES, () =>
  search.search({ query: Array.from({ length: 1 + Math.floor(random() * 4) }, word).join(' ') }),
);
const common = await timed(COMMON_QUERIES, (at) =>
  search.search({
    query: Array.from({ length: 1 + (at % 5) }, () => spelled(Math.floor(random() * 10))).join(' '),
  }),
);
const rssMb = process.memoryUsage().rss / 1024 / 1024;
const appends = await timed(APPENDS, async (at) => {
  const line = JSON.stringify(messageLine(`added-${at}`, null, at, message(), Date.now()));
  appendFileSync(path, `${line}\n`);
  await search.read([path]);
});
await search.close();
const [startMs = Number.NaN] = started.wallMs;
console.log(JSON.stringify({ startMs, queries, common, appends, rssMb } satisfies Probe));
