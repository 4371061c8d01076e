// A time limit that passes at the moment that a test chooses. What is tried is what happens then: on a busy machine a
// limit of milliseconds may pass before a program has so much as begun.

import { mock } from 'node:test';

export interface Limited {
  /** Resolves when whatever has the limit is where the test wants it. */
  readonly ready: Promise<unknown>;
  /** The limit. */
  readonly ms: number;
}

/** `begin` sets its limit with the global `setTimeout`. Every timer that is set after the limit has passed is a real one. */
export async function passLimit<T>(begin: () => Promise<T>, { ready, ms }: Limited): Promise<T> {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const begun = begin();
    await Promise.race([ready, begun]);
    mock.timers.tick(ms);
    return begun;
  } finally {
    mock.timers.reset();
  }
}
