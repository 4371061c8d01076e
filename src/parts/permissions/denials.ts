// Keeps count of what was refused in a run. A model that is refused the same thing again and again is told so, and one
// that does nothing else any more is stopped: it costs money, and a person who has said no ten times means it.

import { CrabError } from '../../core/errors.ts';

export interface Denial {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface DenialTracker {
  /** One refusal, by a rule, a mode, a person or a sandbox. */
  denied(denial: Denial): DenialOutcome;
  /** Something was permitted: the run goes on with its work. */
  permitted(): void;
}

export interface DenialOutcome {
  /** A sentence for the model. */
  readonly advice?: string;
  /** Why the run ends. */
  readonly stop?: CrabError;
}

/** From here on the model is told that it repeats itself. */
const SAME_CALL = 3;
/** Refusals with nothing permitted in between. */
const IN_A_ROW = 10;

export function createDenialTracker(): DenialTracker {
  const counts = new Map<string, number>();
  let inARow = 0;
  return {
    denied({ tool, input }) {
      const key = JSON.stringify([tool, input]);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      inARow += 1;
      return {
        ...(count >= SAME_CALL && {
          advice: `This very call was refused ${count} times. Do not try it again: find another way, or say what you need and why.`,
        }),
        ...(inARow >= IN_A_ROW && { stop: tooMany(inARow) }),
      };
    },
    permitted() {
      inARow = 0;
    },
  };
}

function tooMany(count: number): CrabError {
  return new CrabError(
    'permission-refused',
    `The run was stopped: ${count} calls in a row were refused, and nothing else was done.`,
  );
}
