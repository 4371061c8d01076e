// What is promised: each row takes one figure out of the runs and says how large it may be. A bar against the
// floor holds only while the floor itself is near the limit of the machine, which the rows of kind `floor` say.

import { LONG_TURNS, READ_TURNS, type Subject } from './cases.ts';
import { median, percentile } from './statistics.ts';

/** One run of one case by one subject. */
export interface Run {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  /** Milliseconds from our last byte to the next request, one a turn. */
  readonly turnMs: readonly number[];
  readonly firstRequestBytes: number | undefined;
}

/** The runs of a case by a subject, in order; empty when there were none. */
export type Runs = (name: string, subject: Subject) => readonly Run[];

export interface Row {
  readonly name: string;
  /** Cases that it needs. */
  readonly cases: readonly string[];
  readonly unit: 'ms' | 'MB' | 'KB' | 'x';
  value(runs: Runs): number;
  /** What the value is divided by before it is held against the bar. Absent: the bar is for the value itself. */
  against?(runs: Runs): number;
  /** Absent: the row only informs. */
  readonly bar?: number;
  readonly kind: 'crab' | 'floor';
}

type Field = 'wallMs' | 'cpuMs' | 'rssMb';

function typical(name: string, subject: Subject, field: Field): (runs: Runs) => number {
  return (runs) => median(runs(name, subject).map((run) => run[field]));
}

/** What the deltas cost beyond an answer of two of them. */
function deltaCpu(subject: Subject): (runs: Runs) => number {
  const whole = typical('deltas', subject, 'cpuMs');
  const start = typical('one-shot', subject, 'cpuMs');
  return (runs) => whole(runs) - start(runs);
}

function turns(name: string, subject: Subject, from = 0, to?: number): (runs: Runs) => readonly number[] {
  return (runs) => runs(name, subject).flatMap((run) => run.turnMs.slice(from, to));
}

function turn(name: string, subject: Subject, percent = 50): (runs: Runs) => number {
  const later = turns(name, subject, 1);
  return (runs) => percentile(later(runs), percent);
}

function firstTurn(name: string, subject: Subject): (runs: Runs) => number {
  const first = turns(name, subject, 0, 1);
  return (runs) => median(first(runs));
}

type Figure = (subject: Subject) => (runs: Runs) => number;

function crab(
  name: string,
  cases: readonly string[],
  figure: Figure,
  bar: number,
  unit: Row['unit'] = 'ms',
): Row {
  return { name, cases, unit, kind: 'crab', bar, value: figure('crab'), against: figure('floor') };
}

/** Against `node -e 0`, of the same field. */
function start(name: string, which: string, field: Field, bar: number): Row {
  const unit = field === 'rssMb' ? 'MB' : 'ms';
  const value = typical(which, 'crab', field);
  return { name, cases: [which], unit, kind: 'crab', bar, value, against: typical('bare', 'bare', field) };
}

function floor(name: string, cases: readonly string[], value: Row['value'], field: Field, bar: number): Row {
  return { name, cases, unit: 'ms', kind: 'floor', bar, value, against: typical('bare', 'bare', field) };
}

function info(name: string, which: string, subject: Subject, field: Field): Row {
  const unit = field === 'rssMb' ? 'MB' : 'ms';
  return { name, cases: [which], unit, kind: 'crab', value: typical(which, subject, field) };
}

export const ROWS: readonly Row[] = [
  start('--version, wall', 'version', 'wallMs', 1.2),
  start('--version, memory', 'version', 'rssMb', 1.15),
  start('--help, wall', 'help', 'wallMs', 1.2),
  start('--help, memory', 'help', 'rssMb', 1.15),
  crab('one-shot, wall', ['one-shot'], (who) => typical('one-shot', who, 'wallMs'), 2),
  crab('one-shot, memory', ['one-shot'], (who) => typical('one-shot', who, 'rssMb'), 1.5, 'MB'),
  {
    name: 'first request',
    cases: ['one-shot'],
    unit: 'KB',
    kind: 'crab',
    bar: 10,
    value: (runs) =>
      median(runs('one-shot', 'crab').map((run) => (run.firstRequestBytes ?? Number.NaN) / 1024)),
  },
  crab('20,000 deltas beyond it, CPU', ['one-shot', 'deltas'], deltaCpu, 2.5),
  info('20,000 deltas to a slow reader, wall', 'slow-reader', 'crab', 'wallMs'),
  crab('read turn, median', ['reads'], (who) => turn('reads', who), 2.2),
  crab('read turn, p95', ['reads'], (who) => turn('reads', who, 95), 3),
  crab('read turn, first', ['reads'], (who) => firstTurn('reads', who), 5),
  crab(`${READ_TURNS} read turns, memory`, ['reads'], (who) => typical('reads', who, 'rssMb'), 1.5, 'MB'),
  {
    name: `read turn, last of ${LONG_TURNS} against first`,
    cases: ['long'],
    unit: 'ms',
    kind: 'crab',
    bar: 1.2,
    value: (runs) => median(turns('long', 'crab', LONG_TURNS - READ_TURNS)(runs)),
    against: (runs) => median(turns('long', 'crab', 1, READ_TURNS + 1)(runs)),
  },
  crab('shell turn, median', ['shell'], (who) => turn('shell', who), 2),
  crab('20 shell turns, memory', ['shell'], (who) => typical('shell', who, 'rssMb'), 2, 'MB'),
  {
    name: 'shell turn, what the sandbox adds',
    cases: ['shell', 'sandboxed'],
    unit: 'ms',
    kind: 'crab',
    bar: 15,
    value: (runs) => turn('sandboxed', 'crab')(runs) - turn('shell', 'crab')(runs),
  },
  crab('20 parallel reads', ['parallel'], (who) => firstTurn('parallel', who), 1.8),
  info('--version through an older Node, wall', 'version', 'old', 'wallMs'),
  info('one-shot through an older Node, wall', 'one-shot', 'old', 'wallMs'),
  info('standalone --version, wall', 'version', 'standalone', 'wallMs'),
  info('standalone --version, memory', 'version', 'standalone', 'rssMb'),
  info('standalone one-shot, wall', 'one-shot', 'standalone', 'wallMs'),
  info('standalone one-shot, memory', 'one-shot', 'standalone', 'rssMb'),
  info('floor under Bun, one-shot, wall', 'one-shot', 'bun', 'wallMs'),
  floor('floor: one-shot, wall', ['one-shot'], typical('one-shot', 'floor', 'wallMs'), 'wallMs', 1.7),
  floor('floor: read turn', ['reads'], turn('reads', 'floor'), 'wallMs', 0.045),
  floor('floor: shell turn', ['shell'], turn('shell', 'floor'), 'wallMs', 0.11),
  floor('floor: 20 parallel reads', ['parallel'], firstTurn('parallel', 'floor'), 'wallMs', 0.27),
  floor('floor: 20,000 deltas, CPU', ['one-shot', 'deltas'], deltaCpu('floor'), 'cpuMs', 1.5),
];
