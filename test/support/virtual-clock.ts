// A clock that stands still until the test advances it, so that a test of waiting does not wait.

import type { Clock } from '../../src/core/host.ts';

export interface VirtualClock extends Clock {
  /** Sleeps that have not ended. */
  readonly sleeping: number;
  /** Moves time on; sleeps end in order of their time, and each may begin others that end within the same span. */
  advance(ms: number): Promise<void>;
  /** Resolves when at least `count` sleeps wait at once. */
  untilSleeping(count?: number): Promise<void>;
}

interface Sleep {
  readonly due: number;
  end(): void;
}

/** `epoch` is what `now()` says at the start. */
export function virtualClock(epoch = Date.UTC(2025, 0, 1)): VirtualClock {
  let elapsed = 0;
  const sleeps = new Set<Sleep>();
  const waiting = new Set<() => void>();

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (settle: () => void) => {
        sleeps.delete(mine);
        signal?.removeEventListener('abort', aborted);
        settle();
      };
      const aborted = () => leave(() => reject(signal?.reason));
      const mine: Sleep = { due: elapsed + ms, end: () => leave(resolve) };
      sleeps.add(mine);
      signal?.addEventListener('abort', aborted, { once: true });
      for (const check of waiting) check();
    });

  const advance = async (ms: number) => {
    const target = elapsed + ms;
    await settle();
    for (let next = earliest(sleeps); next && next.due <= target; next = earliest(sleeps)) {
      elapsed = Math.max(elapsed, next.due);
      next.end();
      await settle();
    }
    elapsed = target;
  };

  const untilSleeping = (count = 1) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (sleeps.size < count) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });

  return {
    now: () => epoch + elapsed,
    monotonic: () => elapsed,
    sleep,
    advance,
    untilSleeping,
    get sleeping() {
      return sleeps.size;
    },
  };
}

/** Of two that are due at once, the one that began first. */
function earliest(sleeps: ReadonlySet<Sleep>): Sleep | undefined {
  let first: Sleep | undefined;
  for (const sleep of sleeps) if (first === undefined || sleep.due < first.due) first = sleep;
  return first;
}

/** Lets everything run that became possible. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
