// Adds records up by what they have in common. Sums are running; of times only the numbers that a median needs are kept.

import type { UsageSummary } from '../../core/usage.ts';
import type { UsageRecord } from './record.ts';

interface Group {
  requests: number;
  failures: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costUsd: number;
  unreportedUsd: number;
  unpriced: number;
  readonly ttfts: number[];
  readonly speeds: number[];
}

export interface Summing {
  add(record: UsageRecord): void;
  /** In the order in which the groups first came. */
  summaries(): readonly UsageSummary[];
}

export function createSumming(keyOf: (record: UsageRecord) => string): Summing {
  const groups = new Map<string, Group>();
  return {
    add(record) {
      const key = keyOf(record);
      const group = groups.get(key) ?? empty();
      groups.set(key, group);
      addTo(group, record);
    },
    summaries: () => [...groups].map(([key, group]) => summaryOf(key, group)),
  };
}

function empty(): Group {
  return {
    requests: 0,
    failures: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    costUsd: 0,
    unreportedUsd: 0,
    unpriced: 0,
    ttfts: [],
    speeds: [],
  };
}

function addTo(group: Group, record: UsageRecord): void {
  const { input, output, cacheRead, cacheWrite, ttftMs, durationMs } = record;
  group.requests++;
  if (record.outcome !== 'done') group.failures++;
  group.input += input;
  group.output += output;
  group.cacheRead += cacheRead;
  group.cacheWrite += cacheWrite;
  group.costUsd += record.costUsd;
  group.unreportedUsd += record.unreportedUsd ?? 0;
  if (record.priced === 'unknown' && input + output + cacheRead + cacheWrite > 0) group.unpriced++;
  if (ttftMs === undefined) return;
  group.ttfts.push(ttftMs);
  if (record.outcome === 'done' && output > 0 && durationMs > ttftMs)
    group.speeds.push((output * 1000) / (durationMs - ttftMs));
}

function summaryOf(key: string, group: Group): UsageSummary {
  const { requests, failures, input, output, cacheRead, cacheWrite, costUsd, unreportedUsd, unpriced } =
    group;
  const [ttftMs, tokensPerSecond] = [median(group.ttfts), median(group.speeds)];
  return {
    key,
    requests,
    failures,
    tokens: { input, output, cacheRead, cacheWrite },
    costUsd,
    unreportedUsd,
    unpriced,
    ...(ttftMs !== undefined && { ttftMs }),
    ...(tokensPerSecond !== undefined && { tokensPerSecond }),
  };
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle];
  if (high === undefined || sorted.length % 2 === 1) return high;
  return ((sorted[middle - 1] ?? high) + high) / 2;
}
