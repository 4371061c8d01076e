// `crab usage`: what the ledger says, as a table or as JSON. It reads files and asks nobody.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CrabError, EXIT, messageOf } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import type { BudgetState, UsageSummary } from '../core/usage.ts';
import { dayOf, startOfDay } from '../parts/usage/day.ts';
import { createLedger } from '../parts/usage/ledger.ts';
import type { UsageRecord } from '../parts/usage/record.ts';
import { createSumming } from '../parts/usage/summary.ts';
import { budgetLines, usageTable } from '../parts/usage/table.ts';
import { readArguments } from './arguments.ts';
import { crabHome, type Environment } from './home.ts';
import { loadSettings } from './settings.ts';
import { sinkOf } from './sink.ts';

const HELP = `Usage: crab usage [--days N | --since DATE] [--by day|model|provider|session|cause|sender] [--json]

  What requests to models used and cost, every try counted, on this machine and by this user.

  --days N       the last N days, today among them (default 7)
  --since DATE   from that day on: 2025-01-31
  --by WHAT      what the rows are (default day)
  --json         one object instead of a table
`;

const KEYS = {
  day: ({ time }) => dayOf(Date.parse(time)),
  model: ({ provider, model }) => `${provider}/${model}`,
  provider: ({ provider }) => provider,
  session: ({ session }) => session,
  cause: ({ cause }) => cause,
  sender: ({ sender }) => sender,
} as const satisfies Record<string, (record: UsageRecord) => string>;

type By = keyof typeof KEYS;

const DEFAULT_DAYS = 7;
const MAX_DAYS = 36_500;

interface Report {
  /** The first day and the last. */
  readonly from: string;
  readonly to: string;
  readonly by: By;
  readonly rows: readonly UsageSummary[];
  readonly total: UsageSummary;
  /** Lines of the ledger that could not be read. */
  readonly skipped: number;
  readonly budgets: readonly BudgetState[];
}

/** Returns the exit status. Throws `CrabError` (`usage`, `storage-failed`, `settings-invalid`). */
export async function usage(argv: readonly string[], env: Environment): Promise<number> {
  const stdout = sinkOf(process.stdout, env);
  const options = readOptions(argv);
  if (options === 'help') await stdout.write(HELP);
  else {
    const stderr = sinkOf(process.stderr, env);
    const warn = (text: string) => void stderr.write(`crab: ${text}\n`).catch(() => {});
    const report = reportOf(options, env, await loadSettings({ args: readArguments([]), env, warn }));
    await stdout.write(options.json ? `${JSON.stringify(report)}\n` : textOf(report));
  }
  return EXIT.success;
}

interface Options {
  readonly json: boolean;
  readonly by: By;
  /** The first moment that counts. */
  readonly since: number;
  readonly now: number;
}

function readOptions(argv: readonly string[]): Options | 'help' {
  const { help, json, by: wanted, days, since } = parse(argv);
  if (help === true) return 'help';
  if (days !== undefined && since !== undefined)
    throw new CrabError('usage', '--days and --since cannot be used together.', {
      hint: 'Choose one of them.',
    });
  const by = (Object.keys(KEYS) as By[]).find((key) => key === (wanted ?? 'day'));
  if (by === undefined)
    throw new CrabError('usage', `--by ${wanted} is not known.`, {
      hint: `Use one of ${Object.keys(KEYS).join(', ')}.`,
    });
  const now = Date.now();
  return {
    json: json === true,
    by,
    now,
    since: since === undefined ? daysAgo(days, now) : firstMoment(since),
  };
}

function parse(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
        by: { type: 'string' },
        days: { type: 'string' },
        since: { type: 'string' },
      },
    });
    return values;
  } catch (cause) {
    throw new CrabError('usage', messageOf(cause), { cause, hint: 'Run `crab usage --help`.' });
  }
}

function daysAgo(text: string | undefined, now: number): number {
  const days = text === undefined ? DEFAULT_DAYS : Number(text);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw new CrabError('usage', `--days ${text} is not a whole number from 1 to ${MAX_DAYS}.`);
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days + 1).getTime();
}

function firstMoment(day: string): number {
  const start = startOfDay(day);
  if (start === undefined) throw new CrabError('usage', `--since ${day} is not a day such as 2025-01-31.`);
  return start;
}

function reportOf({ by, since, now }: Options, env: Environment, settings: Settings): Report {
  const ledger = createLedger({ folder: join(crabHome(env), 'usage'), now: () => now });
  const position = { offset: 0, skipped: 0 };
  const [rows, total] = [createSumming(KEYS[by]), createSumming(() => 'total')];
  for (const record of ledger.records(since, position)) {
    rows.add(record);
    total.add(record);
  }
  return {
    from: dayOf(since),
    to: dayOf(now),
    by,
    rows: sorted(rows.summaries(), by),
    total: total.summaries()[0] ?? EMPTY,
    skipped: position.skipped,
    budgets: dayBudget(settings, ledger.spentToday('').allUsd),
  };
}

const EMPTY: UsageSummary = {
  key: 'total',
  requests: 0,
  failures: 0,
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  costUsd: 0,
  unreportedUsd: 0,
  unpriced: 0,
};

/** Days and sessions in their order, all else by what it cost. */
function sorted(rows: readonly UsageSummary[], by: By): readonly UsageSummary[] {
  if (by === 'day' || by === 'session') return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return rows.toSorted((a, b) => b.costUsd - a.costUsd || b.requests - a.requests);
}

/** The only budget that is one for the whole machine. */
function dayBudget({ budget }: Settings, spentUsd: number): readonly BudgetState[] {
  return budget.dayUsd === undefined ? [] : [{ kind: 'day', limitUsd: budget.dayUsd, spentUsd }];
}

function textOf({ from, to, by, rows, total, skipped, budgets }: Report): string {
  const table = rows.length === 0 ? [`No requests from ${from} to ${to}.`] : usageTable(by, [...rows, total]);
  const notes = skipped === 0 ? [] : [`${skipped} lines of the ledger could not be read and are left out`];
  return [...table, ...notes, ...budgetLines(budgets), ''].join('\n');
}
