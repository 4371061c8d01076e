// The end of a run that the engine had no part in: it could not begin, never came to say how it ended, or was a line for
// which no model was needed.

import { type CrabError, errorData } from './errors.ts';
import type { Outcome, RunEnd } from './event.ts';
import { NO_USAGE } from './usage.ts';

export interface RunEndFacts {
  readonly error?: CrabError;
  readonly text?: string;
  readonly durationMs?: number;
}

export function runEnd(outcome: Outcome, { error, text = '', durationMs = 0 }: RunEndFacts): RunEnd {
  return {
    type: 'runEnd',
    outcome,
    ...(error !== undefined && { error: errorData(error) }),
    text,
    turns: 0,
    usage: NO_USAGE,
    durationMs,
    apiMs: 0,
    denials: [],
  };
}
