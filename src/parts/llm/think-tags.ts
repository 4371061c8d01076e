// Thinking that a model writes into its text, between tags at the very beginning of the answer. Behind the closing tag
// nothing is looked for: a model that speaks of `<think>` later on means the word.

const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['[THINK]', '[/THINK]'],
  ['<seed:think>', '</seed:think>'],
] as const;

export interface Split {
  readonly thinking: string;
  readonly text: string;
}

const NONE: Split = { thinking: '', text: '' };

export class ThinkTags {
  /** Everything that follows is text. */
  done = false;
  #held = '';
  /** Set while the thinking lasts. */
  #close: string | undefined;
  #closed = false;

  push(delta: string): Split {
    this.#held += delta;
    if (this.#closed) return this.#after('');
    return this.#close === undefined ? this.#before() : this.#inside(this.#close);
  }

  /** The answer is over. */
  end(): Split {
    const held = this.#held;
    this.#held = '';
    this.done = true;
    return this.#close === undefined ? { thinking: '', text: held } : { thinking: held, text: '' };
  }

  #before(): Split {
    const head = this.#held.trimStart();
    for (const [open, close] of TAGS) {
      if (head.startsWith(open)) {
        this.#held = head.slice(open.length).trimStart();
        this.#close = close;
        return this.#inside(close);
      }
      if (open.startsWith(head)) return NONE;
    }
    return this.end();
  }

  #inside(close: string): Split {
    const at = this.#held.indexOf(close);
    if (at < 0) {
      const keep = tailLength(this.#held, close);
      const thinking = this.#held.slice(0, this.#held.length - keep);
      this.#held = this.#held.slice(thinking.length);
      return { thinking, text: '' };
    }
    const thinking = this.#held.slice(0, at).trimEnd();
    this.#held = this.#held.slice(at + close.length);
    this.#close = undefined;
    this.#closed = true;
    return this.#after(thinking);
  }

  /** Blank lines between the thinking and the text belong to neither. */
  #after(thinking: string): Split {
    const text = this.#held.trimStart();
    this.#held = '';
    this.done = text !== '';
    return { thinking, text };
  }
}

/** How many characters at the end of a text may be the beginning of `tag`. */
function tailLength(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (tag.startsWith(text.slice(-length))) return length;
  return 0;
}
