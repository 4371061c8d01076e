// How long a silence is borne. A process that was stopped (Ctrl-Z), or whose loop was held up, did not listen meanwhile: when
// it goes on, its timers run out before it has read what waits in its sockets. Such a silence says nothing of the other
// side, and is borne once more from its beginning.

/** Milliseconds by which a timer that is on time may be late. */
const LATE_MS = 250;

export class Patience {
  readonly #over: () => void;
  #timer: NodeJS.Timeout | undefined;
  #ms = 0;
  #from = 0;
  #wasDeaf = false;

  constructor(over: () => void) {
    this.#over = over;
  }

  get hasBegun(): boolean {
    return this.#timer !== undefined;
  }

  /** `ms` milliseconds from now, whatever was before. */
  begin(ms: number): void {
    if (this.#timer === undefined || this.#ms !== ms) {
      clearTimeout(this.#timer);
      this.#ms = ms;
      this.#timer = setTimeout(() => this.#runOut(), ms);
    }
    this.refresh();
  }

  /** Something was heard. */
  refresh(): void {
    this.#wasDeaf = false;
    this.#again();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #again(): void {
    this.#from = performance.now();
    this.#timer?.refresh();
  }

  #runOut(): void {
    const isDeaf = performance.now() - this.#from > this.#ms + LATE_MS;
    if (!isDeaf || this.#wasDeaf) {
      this.#over();
      return;
    }
    this.#wasDeaf = true;
    this.#again();
  }
}
