// The outcome as a table: the figure, what it is held against, the bar, and whether it is met.

import { availableParallelism, cpus, loadavg, release } from 'node:os';
import type { Row, Runs } from './rows.ts';

export interface Outcome {
  readonly name: string;
  readonly kind: Row['kind'];
  readonly unit: Row['unit'];
  readonly value: number;
  /** What the value is divided by. */
  readonly against?: number;
  readonly bar?: number;
  /** The value, or its ratio, as the bar judges it. */
  readonly judged: number;
  /** Absent without a bar. */
  readonly met?: boolean;
}

/** Undefined when the figures are not there: a case that was not run, a subject that is not on this machine. */
export function judge(row: Row, runs: Runs): Outcome | undefined {
  const value = row.value(runs);
  const against = row.against?.(runs);
  const judged = against === undefined ? value : value / against;
  if (!Number.isFinite(judged)) return undefined;
  const { name, kind, unit, bar } = row;
  return {
    ...{ name, kind, unit, value, judged },
    ...(against !== undefined && { against }),
    ...(bar !== undefined && { bar, met: judged <= bar }),
  };
}

export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((one) => [
    one.name,
    figure(one.value, one.unit),
    one.against === undefined ? '' : figure(one.against, one.unit),
    one.against === undefined ? '' : `x ${one.judged.toFixed(one.judged < 0.1 ? 3 : 2)}`,
    one.bar === undefined ? '' : `<= ${one.bar}`,
    one.met === undefined ? '' : one.met ? 'ok' : 'MISSED',
  ]);
  const lines = [['', 'figure', 'against', 'ratio', 'bar', ''], ...rows];
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function figure(value: number, unit: Row['unit']): string {
  return `${value.toFixed(value < 100 ? 2 : 0)} ${unit}`;
}

export function machine(): string {
  const [load = 0] = loadavg();
  const model = cpus()[0]?.model.trim() ?? process.arch;
  return `${availableParallelism()} x ${model}, ${process.platform} ${release()}, Node ${process.versions.node}, load ${load.toFixed(1)}`;
}
