// That somebody asked for a compaction, until it is carried out. Two wishes before that are one: the later says what
// the summary is to look at.

export class CompactionWish {
  #focus: string | undefined;
  #waiting: (() => void)[] = [];

  get isAsked(): boolean {
    return this.#focus !== undefined;
  }

  ask(focus: string): void {
    this.#focus = focus;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when there is a wish. */
  asked(): Promise<void> {
    if (this.isAsked) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What the summary is to look at; the wish is fulfilled. */
  take(): string {
    const focus = this.#focus ?? '';
    this.#focus = undefined;
    return focus;
  }
}
