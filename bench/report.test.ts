import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from './cases.ts';
import { judge, table } from './report.ts';
import type { Row, Runs } from './rows.ts';
import { ROWS } from './rows.ts';
import { median, percentile } from './statistics.ts';

const RUN = { cpuMs: 0, rssMb: 0, turnMs: [], firstRequestBytes: undefined };

/** Crab takes 30 ms, the floor `floorMs`. */
function runsWith(floorMs: number): Runs {
  return (_, subject) => [{ ...RUN, wallMs: subject === 'floor' ? floorMs : 30 }];
}

const ROW: Row = {
  ...{ name: 'turn', cases: ['reads'], unit: 'ms', kind: 'crab', bar: 2 },
  value: (runs) => median(runs('reads', 'crab').map((run) => run.wallMs)),
  against: (runs) => median(runs('reads', 'floor').map((run) => run.wallMs)),
};

test('a bar against the floor judges the ratio', () => {
  const common = { name: 'turn', kind: 'crab', unit: 'ms', value: 30, bar: 2 };
  assert.deepEqual(judge(ROW, runsWith(15)), { ...common, against: 15, judged: 2, met: true });
  assert.deepEqual(judge(ROW, runsWith(10)), { ...common, against: 10, judged: 3, met: false });
});

test('a row without its figures says nothing', () => {
  assert.equal(
    judge(ROW, () => []),
    undefined,
  );
});

test('every row names cases that are played', () => {
  const played = CASES.map(({ name }) => name);
  assert.deepEqual(
    ROWS.flatMap((row) => row.cases).filter((name) => !played.includes(name)),
    [],
  );
});

test('percentiles lie between readings', () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1]), percentile([0, 10], 95)], [2, 2.5, 9.5]);
  assert.ok(Number.isNaN(median([])));
});

test('the table lines its columns up and says what was missed', () => {
  const outcome = judge(ROW, runsWith(10));
  assert.ok(outcome);
  assert.equal(
    table([outcome]),
    ['        figure   against   ratio   bar', 'turn  30.00 ms  10.00 ms  x 3.00  <= 2  MISSED'].join('\n'),
  );
});
