// How a run ended, as an exit status and as an error. Both come from one table, so that what a script
// tests and what a person reads never disagree; a `cancelled` run says in its error who stopped it.

import { type CrabError, ERRORS, type ErrorCode, type ErrorData, EXIT, errorData } from '../core/errors.ts';
import type { Outcome, RunEnd } from '../core/event.ts';
import { count } from './amounts.ts';

/** The error that an outcome stands for when the run names none; undefined for an outcome that is a success. */
const OUTCOMES: Readonly<Record<Outcome, ErrorCode | undefined>> = {
  done: undefined,
  command: undefined,
  cancelled: 'interrupted',
  turnLimit: 'turn-limit',
  budget: 'budget-exhausted',
  refused: 'permission-refused',
  failed: 'internal',
};

/** Undefined exactly when the run succeeded. */
export function errorOf(end: RunEnd): ErrorData | undefined {
  const code = OUTCOMES[end.outcome];
  if (code === undefined) return undefined;
  // Only these two leave open what went wrong; the others have one meaning each.
  if (end.error && (end.outcome === 'failed' || end.outcome === 'cancelled' || end.error.code === code)) {
    return end.error;
  }
  return { code, message: end.error?.message ?? defaultMessage(end), hint: ERRORS[code].hint };
}

export function exitCodeOf(end: RunEnd): number {
  const error = errorOf(end);
  return error === undefined ? EXIT.success : EXIT[ERRORS[error.code].exit];
}

function defaultMessage(end: RunEnd): string {
  switch (end.outcome) {
    case 'turnLimit':
      return `Stopped after ${count(end.turns, 'turn')}, as many as were allowed.`;
    case 'budget':
      return `Stopped at $${end.usage.cost.total.toFixed(4)}: the budget is used up.`;
    case 'refused': {
      const last = end.denials.at(-1);
      return last ? `${last.tool} was refused: ${last.reason}` : 'The last step was refused.';
    }
    case 'cancelled':
      return 'Interrupted.';
    default:
      return 'The run failed and did not say why.';
  }
}

/** The end of a run that somebody stopped: it names who, unless the run was over before it was told. */
export function stoppedBy(end: RunEnd, stop: CrabError | undefined): RunEnd {
  if (stop === undefined || end.outcome !== 'cancelled') return end;
  return { ...end, error: errorData(stop) };
}
