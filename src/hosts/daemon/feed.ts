// One source, any number of readers, none of whom can hold it up: a reader that falls too far behind misses the oldest.

const ROOM = 10_000;

interface Place<Item> {
  items: Item[];
  wake: () => void;
}

export class Feed<Item> {
  readonly #readers = new Set<Place<Item>>();

  /** Nobody reads. */
  get isIdle(): boolean {
    return this.#readers.size === 0;
  }

  put(item: Item): void {
    for (const reader of this.#readers) {
      reader.items.push(item);
      if (reader.items.length > ROOM) reader.items.splice(0, ROOM / 10);
      reader.wake();
    }
  }

  /** From this moment on, until the signal aborts. */
  async *read(signal: AbortSignal): AsyncGenerator<Item, void> {
    const reader: Place<Item> = { items: [], wake: () => {} };
    const leave = () => reader.wake();
    signal.addEventListener('abort', leave);
    this.#readers.add(reader);
    try {
      while (!signal.aborted) {
        const { items } = reader;
        reader.items = [];
        yield* items;
        if (reader.items.length > 0 || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', leave);
      this.#readers.delete(reader);
    }
  }
}
