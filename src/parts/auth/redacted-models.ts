// Models whose words hold no secret that is known (law 10): a provider may echo a key in an error, and a model repeats
// what it once read. Everything behind it, events, tape and error messages, needs no care of its own. What passes
// unchanged passes as the object that it was.

import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Model, ModelChunk, Models, StreamModel } from '../../core/model.ts';
import { REDACTED, redactedValue, type Secrets, type TextFilter } from '../../core/redact.ts';

export function redactedModels(models: Models, secrets: Secrets): Models {
  const known = new WeakMap<Model, Model>();
  return {
    async resolve(name) {
      let model: Model;
      try {
        model = await models.resolve(name);
      } catch (thrown) {
        throw await redactedError(asCrabError(thrown), secrets);
      }
      const redacted = known.get(model) ?? redactedModel(model, secrets);
      known.set(model, redacted);
      return redacted;
    },
    async list(provider) {
      try {
        return redactedValue(await models.list(provider), secrets.redact);
      } catch (thrown) {
        throw await redactedError(asCrabError(thrown), secrets);
      }
    },
  };
}

/** What is known of a model may grow, so its facts are not copied. */
function redactedModel(model: Model, secrets: Secrets): Model {
  return {
    ...model,
    get info() {
      return model.info;
    },
    stream: redactedStream(model.stream, secrets),
  };
}

/** The same error with a message and a hint that may be shown. */
export async function redactedError(error: CrabError, secrets: Pick<Secrets, 'redact'>): Promise<CrabError> {
  const { maskShapes } = await import('../../core/secret-shapes.ts');
  const clean = (text: string) => maskShapes(secrets.redact(text));
  const [message, hint] = [clean(error.message), clean(error.hint)];
  if (message === error.message && hint === error.hint) return error;
  const { code, status, retryAfterMs, retryable } = error;
  return new CrabError(code, message, { hint, status, retryAfterMs, retryable });
}

export function redactedStream(stream: StreamModel, secrets: Secrets): StreamModel {
  return async function* redacted(request, signal) {
    const answer = new RedactedAnswer(secrets);
    for await (const batch of stream(request, signal)) {
      const clean: ModelChunk[] = [];
      for (const chunk of batch) {
        answer.take(chunk, clean);
        if (chunk.type === 'failure') {
          clean.push({ ...chunk, error: await redactedError(chunk.error, secrets) });
        } else if (chunk.type === 'retry') {
          const { maskShapes } = await import('../../core/secret-shapes.ts');
          clean.push({ ...chunk, reason: maskShapes(secrets.redact(chunk.reason)) });
        }
      }
      if (clean.length > 0) yield clean;
    }
  };
}

/** A text that comes in pieces: its filter, and the chunk that a held back end goes out with. */
interface Text {
  readonly filter: TextFilter;
  readonly chunk: (delta: string) => ModelChunk;
}

class RedactedAnswer {
  readonly #secrets: Secrets;
  readonly #texts = new Map<string, Text>();
  readonly #callAt = new Map<number, string>();
  readonly #redact: (text: string) => string;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
    this.#redact = secrets.redact;
  }

  /** Appends what may be heard of the chunk, behind what was held back. What went wrong is for the caller to word. */
  take(chunk: ModelChunk, out: ModelChunk[]): void {
    switch (chunk.type) {
      case 'contentDelta':
      case 'thinkingDelta': {
        const { type, index } = chunk;
        this.#add(`${type} ${index}`, chunk, (delta) => ({ type, index, delta }), out);
        return;
      }
      case 'toolUseDelta': {
        const { type, id } = chunk;
        this.#add(id, chunk, (delta) => ({ type, id, delta }), out);
        return;
      }
      case 'toolUseStart': {
        this.#callAt.set(chunk.index, chunk.id);
        // A name goes back in the history, where providers take letters, digits and dashes alone.
        const name = this.#redact(chunk.name).replaceAll(REDACTED, 'redacted');
        out.push(name === chunk.name ? chunk : { ...chunk, name });
        return;
      }
      case 'contentBlockStop':
        this.#endBlock(chunk.index, out);
        break;
      case 'thinkingSignature':
        // It proves words that were not passed on; with others beside it the provider would refuse the history.
        if (this.#texts.get(`thinkingDelta ${chunk.index}`)?.filter.changed === true) return;
        out.push(chunk);
        return;
      case 'textSignature':
      case 'thoughtSignature':
        // Opaque: one that was changed is worth nothing.
        out.push(chunk);
        return;
      case 'failure':
        this.#endAll(out);
        return;
      case 'retry':
        return;
      case 'end':
        this.#endAll(out);
        break;
    }
    out.push(redactedValue(chunk, this.#redact));
  }

  #add(
    key: string,
    chunk: ModelChunk & { readonly delta: string },
    make: Text['chunk'],
    out: ModelChunk[],
  ): void {
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = { filter: this.#secrets.filter(), chunk: make };
      this.#texts.set(key, text);
    }
    const delta = text.filter.push(chunk.delta);
    if (delta === chunk.delta) out.push(chunk);
    else if (delta !== '') out.push(make(delta));
  }

  #endBlock(index: number, out: ModelChunk[]): void {
    for (const key of [`contentDelta ${index}`, `thinkingDelta ${index}`, this.#callAt.get(index) ?? ''])
      this.#endText(key, out);
  }

  #endAll(out: ModelChunk[]): void {
    for (const key of [...this.#texts.keys()]) this.#endText(key, out);
  }

  #endText(key: string, out: ModelChunk[]): void {
    const text = this.#texts.get(key);
    const rest = text?.filter.end() ?? '';
    if (text !== undefined && rest !== '') out.push(text.chunk(rest));
    this.#texts.delete(key);
  }
}
