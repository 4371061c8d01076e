// Group commit: a sync starts at once, and whatever arrives while it runs shares the next one (law 4). There
// is no timer, so a lone writer waits for one sync and many writers still need only one after another.

/** Runs `sync` so that each request is covered by one that began after it. */
export class GroupCommit {
  readonly #sync: () => Promise<void>;
  #waiting: PromiseWithResolvers<void> | undefined;
  #isRunning = false;
  #hasFailed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /**
   * Resolves when what is written by now is durable. Nothing is tried again: after a failed sync the system
   * may have dropped the data and report the next one as a success. A rejection nobody looks at is no fault.
   */
  request(): Promise<void> {
    if (this.#hasFailed) return this.#last;
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers();
      this.#last = this.#waiting.promise;
      this.#last.catch(() => {});
    }
    const { promise } = this.#waiting;
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Resolves when every request so far has; rejects when a sync ever failed. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting !== undefined) {
      const batch = this.#waiting;
      this.#waiting = undefined;
      try {
        await this.#sync();
        batch.resolve();
      } catch (reason) {
        this.#hasFailed = true;
        batch.reject(reason);
        this.#rejectWaiting(reason);
      }
    }
    this.#isRunning = false;
  }

  #rejectWaiting(reason: unknown): void {
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  }
}
