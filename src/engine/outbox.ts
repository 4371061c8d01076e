// Events on their way out of a run, in order. An event that acknowledges something waits here until that is
// durable (law 4) while the run goes on; and the pull of whoever listens is the only back-pressure.

interface Item<T> {
  readonly events: readonly T[];
  /** Undefined when nothing holds it, or nothing does any more. */
  after: Promise<void> | undefined;
}

export interface OutboxOptions<T> {
  /** The listener left before the end. */
  onAbandon(): void;
  /** What was to be acknowledged never became durable: the last events, in place of all that wait. */
  onLost(error: unknown): readonly T[];
}

export class Outbox<T> implements AsyncIterable<readonly T[]> {
  readonly #items: Item<T>[] = [];
  readonly #options: OutboxOptions<T>;
  #ended = false;
  #wake: (() => void) | undefined;
  #drained: (() => void)[] = [];

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /** Queues one batch; it leaves after everything queued before it and, where given, after `after` resolves. */
  push(events: readonly T[], after?: Promise<void>): void {
    if (this.#ended || (events.length === 0 && after === undefined)) return;
    const item: Item<T> = { events, after };
    // A rejection is met when the item's turn comes; until then it is nobody's fault.
    after?.then(
      () => {
        item.after = undefined;
      },
      () => {},
    );
    this.#items.push(item);
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
        this.#options.onAbandon();
        this.#clear();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<readonly T[]>> {
    for (;;) {
      const item = this.#items[0];
      if (item !== undefined) {
        if (item.after !== undefined) {
          const lost = await this.#loss(item.after);
          if (lost !== undefined) return { done: false, value: lost };
        }
        const events = this.#takeReady();
        if (this.#items.length === 0) this.#released();
        if (events.length > 0) return { done: false, value: events };
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

  /** Everything up to the next item that has to wait, as one batch: each batch costs its way to the listener. */
  #takeReady(): readonly T[] {
    let count = 1;
    while (count < this.#items.length && this.#items[count]?.after === undefined) count++;
    const ready = this.#items.splice(0, count);
    const only = ready.length === 1 ? ready[0] : undefined;
    return only?.events ?? ready.flatMap(({ events }) => events);
  }

  /** Undefined once it is durable; else the last events. */
  async #loss(after: Promise<void>): Promise<readonly T[] | undefined> {
    try {
      await after;
      return undefined;
    } catch (error) {
      this.#clear();
      this.#ended = true;
      return this.#options.onLost(error);
    }
  }

  #clear(): void {
    this.#items.length = 0;
    this.#released();
  }

  #released(): void {
    const waiting = this.#drained;
    if (waiting.length === 0) return;
    this.#drained = [];
    for (const resolve of waiting) resolve();
  }
}
