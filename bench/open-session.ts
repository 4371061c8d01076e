// `npm run bench:open`: what opening a long session costs. A file of 100,000 entries and 500 MB, with an anchor
// before the last hundred, is opened by processes of their own: by the tape alone, by what a conversation reads of it,
// and by the built program up to the answer to a command. Time is of the machine's clock, memory the process's peak.
// `--check` makes a missed bar a failure; `--entries` and `--mb` measure other sizes.

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { encodeLine } from '../src/parts/tape/line.ts';

const MAX_OPEN_MS = 2000;
const MAX_RSS_MB = 250;
const ID = '01K00000000000000000000000';
const KEPT = 100;
const SOURCE = resolve(import.meta.dirname, '..');

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    entries: { type: 'string', default: '100000' },
    mb: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
  },
});

function idOf(number: number): string {
  return `01K1${String(number).padStart(22, '0')}`;
}

/** Prompts, answers, and a record of state with every eighth, as a run leaves them. */
function entry(number: number, entries: number, text: string): object {
  const base = {
    id: idOf(number),
    parentId: number === 0 ? null : idOf(number - 1),
    timestamp: '2030-01-01T00:00:00.000Z',
  };
  if (number === entries - KEPT)
    return { type: 'custom', ...base, customType: 'crab.anchor', data: { name: 'a', summary: 'so far' } };
  if (number % 8 === 0)
    return { type: 'custom', ...base, customType: 'crab.state', data: { [`file:${number % 1000}`]: number } };
  const content = [{ type: 'text', text }];
  const message =
    number % 2 === 1
      ? { role: 'user', content, timestamp: 1 }
      : {
          role: 'assistant',
          content,
          api: 'a',
          provider: 'p',
          model: 'm',
          usage: {},
          stopReason: 'stop',
          timestamp: 1,
        };
  return { type: 'message', ...base, message };
}

function write(path: string, cwd: string): void {
  const entries = Number(flags.entries);
  const text = 'All that is said, “quoted”. '.repeat((Number(flags.mb) * 1e6) / entries / 29 / 0.9);
  const file = openSync(path, 'w');
  const header = {
    type: 'session',
    version: 3,
    id: ID,
    timestamp: '2030-01-01T00:00:00.000Z',
    cwd,
    agent: 'crab',
  };
  let lines = encodeLine(header);
  for (let at = 0; at < entries; at++) {
    lines += encodeLine({ ...entry(at, entries, text), session: { messages: at } });
    if (lines.length > 4e6 || at === entries - 1) {
      writeSync(file, lines);
      lines = '';
    }
  }
  closeSync(file);
}

const PROBE = `
  const { readFileSync } = await import('node:fs');
  const [source, home, path, what] = process.argv.slice(1);
  const { createTapes } = await import(source + '/src/parts/tape/tapes.ts');
  const { readHistory } = await import(source + '/src/runtime/history.ts');
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  const start = performance.now();
  const tape = await createTapes({ home, clock, random: Math.random }).open(path);
  if (what === 'history') readHistory(tape);
  const ms = performance.now() - start;
  await tape.close();
  console.log(JSON.stringify({ ms, rssKb: Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) }));
`;

interface Figure {
  readonly ms: number;
  readonly rssKb: number;
}

function probe(home: string, path: string, what: string): Figure {
  const args = ['--input-type=module', '--eval', PROBE, SOURCE, home, path, what];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** The whole program: what a person waits for. */
function program(home: string, path: string, cwd: string): Figure {
  const crab = join(SOURCE, 'dist/crab.cjs');
  const started = performance.now();
  const { status, stderr, stdout } = spawnSync(process.execPath, [crab, '-p', ',status', '--session', path], {
    cwd,
    encoding: 'utf8',
    env: { HOME: home, CRAB_HOME: home, PATH: process.env['PATH'] },
  });
  if (status !== 0 || !stdout.includes(ID)) throw new Error(`crab ended with ${status}: ${stderr}`);
  return { ms: performance.now() - started, rssKb: Number.NaN };
}

function middle(figures: readonly Figure[], field: keyof Figure): number {
  const sorted = figures.map((figure) => figure[field]).sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

const home = mkdtempSync(join(tmpdir(), 'crab-open-'));
try {
  const path = join(home, `${ID}.jsonl`);
  mkdirSync(join(home, 'w'));
  write(path, join(home, 'w'));
  console.log(`${flags.entries} entries, ${Math.round(statSync(path).size / 1e6)} MB`);
  const cases: Readonly<Record<string, () => Figure>> = {
    'open the tape': () => probe(home, path, 'open'),
    'open a conversation': () => probe(home, path, 'history'),
    'the program, to its answer': () => program(home, path, join(home, 'w')),
  };
  for (const [name, run] of Object.entries(cases)) {
    const figures = Array.from({ length: Number(flags.rounds) }, run);
    const ms = middle(figures, 'ms');
    const rss = middle(figures, 'rssKb') / 1024;
    const missed = ms > MAX_OPEN_MS || rss > MAX_RSS_MB;
    const memory = Number.isNaN(rss) ? '' : `, ${rss.toFixed(0)} MB at its peak (bar ${MAX_RSS_MB} MB)`;
    console.log(
      `${missed ? 'MISSED' : 'met   '}  ${name}: ${ms.toFixed(0)} ms (bar ${MAX_OPEN_MS} ms)${memory}`,
    );
    if (missed && flags.check) process.exitCode = 1;
  }
} finally {
  rmSync(home, { recursive: true });
}
