// Whether a provider's endpoint has failed again and again: a circuit breaker (Nygard, Release It!). It never keeps a
// request from being tried. While it is open a request has one try, so that whoever has another model turns to it at once.

import type { CrabError } from '../../core/errors.ts';

const FAILURES = 5;
const FIRST_MS = 30_000;
const LONGEST_MS = 300_000;

export class Health {
  #failures = 0;
  #openMs = 0;
  #openUntil = 0;

  /** Times are milliseconds of a clock that never goes back. */
  isOpen(now: number): boolean {
    return now < this.#openUntil;
  }

  /** A try ended; `error` is absent when it brought an answer. */
  note(now: number, error?: CrabError): void {
    if (error?.code === 'interrupted') return;
    if (error?.retryable === true) this.#failed(now);
    // Whoever refuses a request is well enough to read it.
    else if (error === undefined || error.status !== undefined) this.#recovered();
  }

  #failed(now: number): void {
    this.#failures++;
    if (this.#failures < FAILURES || this.isOpen(now)) return;
    this.#openMs = this.#openMs === 0 ? FIRST_MS : Math.min(this.#openMs * 2, LONGEST_MS);
    this.#openUntil = now + this.#openMs;
  }

  #recovered(): void {
    this.#failures = 0;
    this.#openMs = 0;
    this.#openUntil = 0;
  }
}

/** The health of each endpoint, shared by all models behind it. */
export function createHealths(): (url: URL) => Health {
  const known = new Map<string, Health>();
  return ({ origin }) => {
    const health = known.get(origin) ?? new Health();
    known.set(origin, health);
    return health;
  };
}
