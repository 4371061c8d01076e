// One line of the ledger: one try of one request to a model. It holds what was counted and for whom, and nothing that
// was said.

import type { Priced, RequestCause, RequestEnd, RequestOutcome } from '../../core/event.ts';
import type { Identity } from '../../core/tool.ts';

export interface UsageRecord {
  /** When it was over: ISO 8601. */
  readonly time: string;
  readonly session: string;
  /** The session that the first task came from, where this one carries out a task. */
  readonly paidBy?: string;
  readonly agent: string;
  readonly sender: string;
  readonly cwd?: string;
  readonly provider: string;
  readonly model: string;
  readonly cause: RequestCause;
  readonly outcome: RequestOutcome;
  readonly status?: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly costUsd: number;
  readonly priced: Priced;
  /** As in `RequestEnd`. */
  readonly unreportedUsd?: number;
  readonly ttftMs?: number;
  readonly durationMs: number;
}

export function recordOf(
  request: RequestEnd,
  { session, paidBy, agent, sender, cwd }: Identity & { readonly paidBy?: string },
  now: number,
): UsageRecord {
  const { provider, model, cause, outcome, status, usage, priced, unreportedUsd, ttftMs } = request;
  return {
    time: new Date(now).toISOString(),
    session,
    ...(paidBy !== undefined && { paidBy }),
    agent,
    sender,
    cwd,
    provider,
    model,
    cause,
    outcome,
    ...(status !== undefined && { status }),
    input: usage.input,
    output: usage.output,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    costUsd: usage.cost.total,
    priced,
    ...(unreportedUsd !== undefined && { unreportedUsd }),
    ...(ttftMs !== undefined && { ttftMs: tenths(ttftMs) }),
    durationMs: tenths(request.durationMs),
  };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** What a request counts for in a budget. */
export function spentBy({ costUsd, unreportedUsd = 0 }: UsageRecord): number {
  return costUsd + unreportedUsd;
}

const TEXTS = [
  'time',
  'session',
  'agent',
  'sender',
  'provider',
  'model',
  'cause',
  'outcome',
  'priced',
] as const;

const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'costUsd', 'durationMs'] as const;

const OPTIONAL_AMOUNTS = ['unreportedUsd', 'ttftMs'] as const;

/** Undefined for a line that is none of ours, or not whole. Causes and outcomes of a newer Crab are taken as they are. */
export function parseRecord(line: string): UsageRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const isAmount = (name: string) => Number.isFinite(fields[name]) && Number(fields[name]) >= 0;
  const isWhole =
    TEXTS.every((name) => typeof fields[name] === 'string') &&
    AMOUNTS.every(isAmount) &&
    OPTIONAL_AMOUNTS.every((name) => fields[name] === undefined || isAmount(name)) &&
    !Number.isNaN(Date.parse(String(fields['time'])));
  return isWhole ? (value as UsageRecord) : undefined;
}
