import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startOfDay } from './day.ts';
import type { UsageRecord } from './record.ts';
import { createSumming } from './summary.ts';
import { budgetLines, usageTable } from './table.ts';

function record(more: Partial<UsageRecord>): UsageRecord {
  return {
    time: '2025-01-31T12:00:00.000Z',
    session: 'S',
    agent: 'crab',
    sender: 'cli:S',
    provider: 'p',
    model: 'm',
    cause: 'turn',
    outcome: 'done',
    input: 100,
    output: 50,
    cacheRead: 300,
    cacheWrite: 0,
    costUsd: 0.01,
    priced: 'table',
    ttftMs: 500,
    durationMs: 1500,
    ...more,
  };
}

const RECORDS = [
  record({}),
  record({ ttftMs: 700, durationMs: 1200 }),
  record({ outcome: 'failed', output: 0, unreportedUsd: 0.002, ttftMs: 900 }),
  record({ model: 'n', priced: 'unknown', costUsd: 0, input: 20_000_000, cacheRead: 0 }),
];

describe('summaries', () => {
  it('add up what has a key in common, with medians of what was measured', () => {
    const byModel = createSumming(({ model }) => model);
    for (const each of RECORDS) byModel.add(each);
    assert.deepEqual(byModel.summaries(), [
      {
        key: 'm',
        requests: 3,
        failures: 1,
        tokens: { input: 300, output: 100, cacheRead: 900, cacheWrite: 0 },
        costUsd: 0.03,
        unreportedUsd: 0.002,
        unpriced: 0,
        ttftMs: 700,
        tokensPerSecond: 75,
      },
      {
        key: 'n',
        requests: 1,
        failures: 0,
        tokens: { input: 20_000_000, output: 50, cacheRead: 0, cacheWrite: 0 },
        costUsd: 0,
        unreportedUsd: 0,
        unpriced: 1,
        ttftMs: 500,
        tokensPerSecond: 50,
      },
    ]);
  });

  it('are a table that marks what is not certain', () => {
    const byModel = createSumming(({ model }) => model);
    for (const each of RECORDS) byModel.add(each);
    assert.deepEqual(usageTable('model', byModel.summaries()), [
      'model  requests  failed  input  cache read  cache write  output      cost  cached  first token  tokens/s',
      'm             3       1    300         900            0     100  ~$0.0300    75 %       0.70 s        75',
      'n             1       0  20.0M           0            0      50  ?$0.0000     0 %       0.50 s        50',
      '~ and about $0.0020 for answers that broke off before they were counted',
      '? the price of 1 of the requests is not known; they count as nothing',
    ]);
    assert.deepEqual(usageTable('model', []), []);
  });

  it('of budgets say what is left, which is never less than nothing', () => {
    const budgets = [
      { kind: 'day', limitUsd: 2, spentUsd: 0.5 },
      { kind: 'run', limitUsd: 1, spentUsd: 1.25 },
    ] as const;
    assert.deepEqual(budgetLines(budgets), [
      'budget day: $0.5000 of $2.0000 spent, $1.5000 left',
      'budget run: $1.2500 of $1.0000 spent, $0.0000 left',
    ]);
  });
});

describe('the start of a day', () => {
  it('is known for days that there are', () => {
    assert.equal(startOfDay('2025-01-31'), new Date(2025, 0, 31).getTime());
    for (const none of ['2025-02-30', '2025-1-31', 'yesterday', ''])
      assert.equal(startOfDay(none), undefined);
  });
});
