// The queue of prompts: they run one after another, in the order in which they came.

import { CrabError } from '../core/errors.ts';

export class Turns {
  #last: Promise<void> = Promise.resolve();
  #count = 0;

  /** A line is being run, or waits for its turn. */
  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Resolves, with what ends the turn, when everything before has ended. Throws `CrabError` (`interrupted`). */
  async take(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let release: () => void = () => {};
    this.#count++;
    this.#last = new Promise((resolve) => {
      release = () => {
        this.#count--;
        resolve();
      };
    });
    // The queue must not stop at one that gives up waiting.
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    if (!signal.aborted) await Promise.race([before, aborted]);
    if (signal.aborted) {
      before.then(release);
      throw new CrabError('interrupted', 'The prompt was taken back before its turn came.');
    }
    return release;
  }
}
