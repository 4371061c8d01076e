// What a program writes, handed on as it is pulled. Not the stream itself: a stream ends when the last holder of the
// pipe closes it, and one that escaped its tree would keep a reader waiting for ever.

/** The writing end of what is read; both may be called more than once. */
export interface Tap {
  pause(): void;
  resume(): void;
}

/** Bytes that wait for the reader before the program has to. */
const WAITING_LIMIT = 256 * 1024;

/** Milliseconds of silence after which what is still open has nothing more to say, once its program is over. */
const QUIET_MS = 100;

/** The same while it is the reader that is waited for. */
const SLOW_READER_MS = 10_000;

export class Flow implements AsyncIterable<Uint8Array> {
  readonly #tap: Tap;
  #waiting: Uint8Array[] = [];
  #size = 0;
  #arrived = 0;
  #isPaused = false;
  #isOver = false;
  #wake: (() => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(tap: Tap) {
    this.#tap = tap;
  }

  push(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#waiting.push(bytes);
    this.#size += bytes.length;
    this.#arrived += bytes.length;
    if (this.#size > WAITING_LIMIT && !this.#isPaused) {
      this.#isPaused = true;
      this.#tap.pause();
    }
    this.#wake?.();
  }

  /** Nothing more comes. What waits can still be read. */
  end(): void {
    this.#isOver = true;
    clearInterval(this.#quiet);
    this.#wake?.();
  }

  /** The program is over: ends with the silence, or when the reader takes too long. Calls back at the end. */
  endSoon(ended: () => void): void {
    if (this.#isOver) {
      ended();
      return;
    }
    let seen = this.#arrived;
    let waited = 0;
    const look = () => {
      if (this.#isOver) return;
      waited += QUIET_MS;
      const isTalking = this.#isPaused || seen !== this.#arrived;
      if (isTalking && waited < SLOW_READER_MS) {
        seen = this.#arrived;
        return;
      }
      this.end();
      ended();
    };
    // A timer that comes late may come before what has long been in the pipe: that is read first.
    this.#quiet = setInterval(() => setImmediate(look), QUIET_MS).unref();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const taken = this.#take();
      yield* taken;
      if (this.#waiting.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #take(): readonly Uint8Array[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#tap.resume();
    }
    return taken;
  }
}
