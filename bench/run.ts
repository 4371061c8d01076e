// `npm run bench`: Crab beside the fastest agent we can write, against the fake provider. With `--check` a missed
// bar is a failure; a floor that is not near the limit of the machine always is one, since nothing can be held
// against it. `--only TEXT` keeps the rows whose name holds TEXT, `--json FILE` writes the figures.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { playAll } from './play.ts';
import { judge, machine, type Outcome, table } from './report.ts';
import { ROWS } from './rows.ts';
import { installedKb, prepare } from './subjects.ts';
import { benchWires } from './wires.ts';

const LEAST_ROUNDS = 9;
const MAX_INSTALLED_MB = 10;
const WIRE_DELTAS = 20_000;

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    rounds: { type: 'string', default: String(LEAST_ROUNDS) },
  },
});

function installed(): Outcome {
  const value = installedKb() / 1024;
  return {
    ...{ name: 'installed size', kind: 'crab', unit: 'MB', value, judged: value },
    ...{ bar: MAX_INSTALLED_MB, met: value <= MAX_INSTALLED_MB },
  };
}

async function main(): Promise<void> {
  const rounds = Number(flags.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds ${flags.rounds} is no number of rounds`);
  const wanted = ROWS.filter((row) => flags.only === undefined || row.name.includes(flags.only));
  if (wanted.length === 0) throw new Error(`no row holds ${JSON.stringify(flags.only)}`);
  const needed = new Set(['bare', ...wanted.flatMap((row) => row.cases)]);
  const rows = ROWS.filter((row) => row.cases.every((one) => needed.has(one)));
  const cases = CASES.filter((one) => needed.has(one.name));

  using bench = await prepare();
  const runs = await playAll(bench, cases, rounds);
  const outcomes = rows.flatMap((row) => judge(row, runs) ?? []);
  if (flags.only === undefined) outcomes.push(installed(), ...benchWires(WIRE_DELTAS, rounds));

  console.log(table(outcomes));
  console.log(`\n${machine()}, ${rounds} rounds`);
  const writeJson = flags.json;
  if (writeJson !== undefined) {
    writeFileSync(writeJson, `${JSON.stringify({ machine: machine(), rounds, outcomes }, null, 2)}\n`);
  }
  conclude(outcomes);
}

function conclude(outcomes: readonly Outcome[]): void {
  const missed = outcomes.filter((one) => one.met === false);
  const slow = missed.filter((one) => one.kind === 'floor');
  for (const { name } of slow) console.log(`${name} is too slow here: ratios against it do not count`);
  const crab = missed.length - slow.length;
  if (crab > 0)
    console.log(`${crab} of ${outcomes.filter((one) => one.met !== undefined).length} bars missed`);
  if (slow.length > 0 || (flags.check && crab > 0)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
