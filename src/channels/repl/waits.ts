// Says what a silent run waits for, and for how long: after 10 s, 30 s, and every minute from then on.

import type { Clock } from '../../core/host.ts';
import type { Activity, Waiting } from '../../faces/activity.ts';
import { duration } from '../../faces/amounts.ts';

const FIRST_MS = 10_000;
const SECOND_MS = 30_000;
const EVERY_MS = 60_000;

/** Runs until the signal aborts. Never rejects. */
export async function tellWaits(
  clock: Clock,
  activity: Activity,
  say: (line: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let since = activity.waiting().since;
  let told = 0;
  try {
    while (!signal.aborted) {
      // No longer than the first mark: what begins meanwhile has its own.
      await clock.sleep(Math.min(since + nextMark(told) - clock.monotonic(), FIRST_MS), signal);
      const waiting = activity.waiting();
      if (waiting.since !== since) {
        since = waiting.since;
        told = 0;
      }
      if (clock.monotonic() < since + nextMark(told)) continue;
      told = nextMark(told);
      const line = waitText(waiting, clock.monotonic());
      if (line !== '') await say(line);
    }
  } catch {
    // The sleep was ended with the run, or the screen is gone, which the run itself reports.
  }
}

function nextMark(told: number): number {
  if (told < FIRST_MS) return FIRST_MS;
  return told < SECOND_MS ? SECOND_MS : told - (told % EVERY_MS) + EVERY_MS;
}

/** Empty while the run waits for the person, who can see it. */
function waitText(waiting: Waiting, now: number): string {
  const age = duration(now - waiting.since);
  switch (waiting.kind) {
    case 'model':
      return `… waiting for the model, ${age}`;
    case 'tools':
      return `… running ${waiting.names.join(', ')}, ${age}`;
    case 'retry': {
      const left = waiting.until - now;
      return left > 0 ? `… trying again in ${duration(left)}` : `… waiting for the model, ${duration(-left)}`;
    }
    case 'person':
      return '';
  }
}
