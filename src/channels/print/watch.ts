// The idle clock: it ends a run whose provider went silent. Only silence of the provider counts. A tool that
// runs, a pause that was announced, and a reader of our output who takes its time are not idleness.

import { CrabError } from '../../core/errors.ts';
import type { Event } from '../../core/event.ts';
import type { Clock } from '../../core/host.ts';
import type { Activity } from '../../faces/activity.ts';
import { duration } from '../../faces/amounts.ts';

export interface Watch {
  readonly clock: Clock;
  readonly activity: Activity;
  /** Milliseconds; 0 for no limit. */
  readonly limitMs: number;
  /** Whether the run waits for us: then its silence is ours. */
  readonly isHeldUp: () => boolean;
}

/** Resolves with the error to stop the run with, or with nothing when the signal aborts first. */
export async function watchIdle(watch: Watch, signal: AbortSignal): Promise<CrabError | undefined> {
  const { clock, limitMs } = watch;
  if (limitMs <= 0) return undefined;
  while (!signal.aborted) {
    const rest = restOf(watch, clock.monotonic());
    if (rest <= 0) {
      return new CrabError('idle-timeout', `The model sent nothing for ${duration(limitMs)}.`);
    }
    try {
      await clock.sleep(rest, signal);
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** The error to stop a run with whose provider wants a longer pause than the run may be silent for. */
export function pauseTooLong(batch: readonly Event[], limitMs: number): CrabError | undefined {
  if (limitMs <= 0) return undefined;
  for (const event of batch) {
    if (event.type !== 'retry' || event.delayMs <= limitMs) continue;
    const { status, reason, delayMs } = event;
    const text = `${reason} The next try would be in ${duration(delayMs)}, and --timeout allows ${duration(limitMs)}.`;
    return new CrabError(status === 429 ? 'rate-limited' : 'provider-overloaded', text, {
      ...(status !== undefined && { status }),
      retryAfterMs: delayMs,
      hint: 'Try again then, use another model, or raise --timeout.',
    });
  }
  return undefined;
}

function restOf({ activity, limitMs, isHeldUp }: Watch, now: number): number {
  const waiting = activity.waiting();
  if (isHeldUp() || waiting.kind === 'tools' || waiting.kind === 'person') return limitMs;
  const from = waiting.kind === 'retry' ? Math.max(waiting.until, waiting.since) : waiting.since;
  return from + limitMs - now;
}
