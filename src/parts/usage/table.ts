// Summaries and budgets as text for people: one table, the same on the command line and in a conversation.

import type { BudgetState, UsageSummary } from '../../core/usage.ts';

/** `what` heads the first column. Empty for no rows. */
export function usageTable(what: string, rows: readonly UsageSummary[]): readonly string[] {
  if (rows.length === 0) return [];
  const heads = [what, 'requests', 'failed', 'input', 'cache read', 'cache write', 'output', 'cost'];
  const lines = [[...heads, 'cached', 'first token', 'tokens/s'], ...rows.map(cells)];
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const notes = [
    ...(rows.some(({ unreportedUsd }) => unreportedUsd > 0)
      ? [
          `~ and about $${sum(rows, 'unreportedUsd').toFixed(4)} for answers that broke off before they were counted`,
        ]
      : []),
    ...(rows.some(({ unpriced }) => unpriced > 0)
      ? [`? the price of ${sum(rows, 'unpriced')} of the requests is not known; they count as nothing`]
      : []),
  ];
  const table = lines.map((line) =>
    line
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [...table, ...notes];
}

function cells(row: UsageSummary): readonly string[] {
  const { input, output, cacheRead, cacheWrite } = row.tokens;
  const read = input + cacheRead + cacheWrite;
  const marks = `${row.unreportedUsd > 0 ? '~' : ''}${row.unpriced > 0 ? '?' : ''}`;
  return [
    row.key,
    String(row.requests),
    String(row.failures),
    ...[input, cacheRead, cacheWrite, output].map(tokens),
    `${marks}$${row.costUsd.toFixed(4)}`,
    read === 0 ? '' : `${Math.round((cacheRead / read) * 100)} %`,
    row.ttftMs === undefined ? '' : `${(row.ttftMs / 1000).toFixed(2)} s`,
    row.tokensPerSecond === undefined ? '' : row.tokensPerSecond.toFixed(0),
  ];
}

/** Exact below ten thousand, then in thousands and millions. */
function tokens(count: number): string {
  if (count < 10_000) return String(count);
  return count < 10_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`;
}

function sum(rows: readonly UsageSummary[], what: 'unreportedUsd' | 'unpriced'): number {
  return rows.reduce((total, row) => total + row[what], 0);
}

export function budgetLines(budgets: readonly BudgetState[]): readonly string[] {
  return budgets.map(({ kind, limitUsd, spentUsd }) => {
    const left = Math.max(0, limitUsd - spentUsd);
    return `budget ${kind}: $${spentUsd.toFixed(4)} of $${limitUsd.toFixed(4)} spent, $${left.toFixed(4)} left`;
  });
}
