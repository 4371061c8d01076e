// Events on their way out of a run, in order. An event that acknowledges something waits here until that is
// durable (law 4) while the run goes on; and the pull of whoever listens is the only back-pressure.

interface Item<T> {
  readonly events: readonly T[];
  readonly after: Promise<void> | undefined;
}

export class Outbox<T> implements AsyncIterable<readonly T[]> {
  readonly #items: Item<T>[] = [];
  readonly #onAbandon: () => void;
  #ended = false;
  #wake: (() => void) | undefined;
  #drained: (() => void)[] = [];

  /** `onAbandon` is called when the listener leaves before the end. */
  constructor(onAbandon: () => void) {
    this.#onAbandon = onAbandon;
  }

  /** Queues one batch; it leaves after everything queued before it and, where given, after `after` resolves. */
  push(events: readonly T[], after?: Promise<void>): void {
    if (events.length === 0 && after === undefined) return;
    // A rejection is met when the item's turn comes; until then it is nobody's fault.
    after?.catch(() => {});
    this.#items.push({ events, after });
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Batches that nobody has taken yet. */
  get backlog(): number {
    return this.#items.length;
  }

  /** Resolves when everything queued has been taken. */
  drained(): Promise<void> {
    if (this.#items.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly T[]> {
    return {
      next: () => this.#next(),
      return: () => {
        this.#onAbandon();
        this.#items.length = 0;
        this.#released();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<readonly T[]>> {
    for (;;) {
      const item = this.#items[0];
      if (item !== undefined) {
        if (item.after !== undefined) await item.after;
        this.#items.shift();
        if (this.#items.length === 0) this.#released();
        if (item.events.length > 0) return { done: false, value: item.events };
      } else if (this.#ended) {
        return { done: true, value: undefined };
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }

  #released(): void {
    const waiting = this.#drained;
    if (waiting.length === 0) return;
    this.#drained = [];
    for (const resolve of waiting) resolve();
  }
}
