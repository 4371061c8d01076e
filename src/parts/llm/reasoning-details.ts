// OpenRouter's `reasoning_details` (openrouter.ai/docs, "Preserving reasoning blocks"): opaque pieces that the model
// wants back unchanged and in order. A stream cuts them up; pieces with one index and one type are one detail.

type Detail = Record<string, unknown>;

/** Fields that grow; of all others the last word counts. */
const GROWING = ['text', 'summary', 'data'] as const;

export class ReasoningDetails {
  readonly #all: Detail[] = [];

  /** Returns what of it can be read. */
  add(pieces: unknown): string {
    if (!Array.isArray(pieces)) return '';
    let readable = '';
    for (const piece of pieces) {
      if (typeof piece !== 'object' || piece === null) continue;
      this.#merge(piece);
      const { text, summary } = piece;
      readable += typeof text === 'string' ? text : typeof summary === 'string' ? summary : '';
    }
    return readable;
  }

  /** All of them as JSON, once; undefined when there are none. */
  take(): string | undefined {
    const all = this.#all.splice(0);
    return all.length === 0 ? undefined : JSON.stringify(all);
  }

  #merge(piece: Detail): void {
    const known = this.#all.findLast(({ index, type }) => index === piece['index'] && type === piece['type']);
    // Two encrypted pieces are two secrets: they are never sent in parts.
    if (known === undefined || piece['type'] === 'reasoning.encrypted') {
      this.#all.push({ ...piece });
      return;
    }
    for (const [field, value] of Object.entries(piece)) {
      const before = known[field];
      const grows = (GROWING as readonly string[]).includes(field);
      if (grows && typeof before === 'string' && typeof value === 'string') known[field] = before + value;
      else if (value !== null && value !== undefined) known[field] = value;
    }
  }
}
