// Answers of OpenAI's Responses API as chunks. A response is a list of output items, each of which becomes one block:
// a message its text, reasoning its thinking, a function call a call. Items of other kinds are passed over. Whatever an
// item says only at its end counts too, because servers that imitate the API leave out the pieces, or the beginning.

import type { ModelChunk } from '../../core/model.ts';
import { NO_TOKENS, type TokenCounts, thought } from '../../core/usage.ts';
import { refused } from './failure.ts';
import { explainEvent } from './openai-responses-errors.ts';
import type { SseEvent } from './sse.ts';
import { type AnswerDecoder, ComplaintError } from './wire.ts';

type Maybe<T> = T | null | undefined;

interface WireText {
  readonly type?: Maybe<string>;
  readonly text?: Maybe<string>;
  readonly refusal?: Maybe<string>;
}

interface WireItem {
  readonly type?: Maybe<string>;
  readonly id?: Maybe<string>;
  readonly phase?: Maybe<string>;
  readonly call_id?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly arguments?: Maybe<string>;
  readonly content?: Maybe<readonly Maybe<WireText>[]>;
  readonly summary?: Maybe<readonly Maybe<WireText>[]>;
  readonly encrypted_content?: Maybe<string>;
}

interface WireUsage {
  readonly input_tokens?: Maybe<number>;
  readonly output_tokens?: Maybe<number>;
  readonly output_tokens_details?: Maybe<{ readonly reasoning_tokens?: Maybe<number> }>;
  readonly input_tokens_details?: Maybe<{
    readonly cached_tokens?: Maybe<number>;
    readonly cache_write_tokens?: Maybe<number>;
  }>;
}

interface WireResponse {
  readonly id?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly output?: Maybe<readonly Maybe<WireItem>[]>;
  readonly usage?: Maybe<WireUsage>;
  readonly error?: unknown;
  readonly incomplete_details?: Maybe<{ readonly reason?: Maybe<string> }>;
}

/** The union of all events: any field may be missing or null. */
interface WireEvent {
  readonly type?: Maybe<string>;
  readonly sequence_number?: Maybe<number>;
  readonly output_index?: Maybe<number>;
  readonly summary_index?: Maybe<number>;
  readonly content_index?: Maybe<number>;
  readonly delta?: Maybe<string>;
  readonly arguments?: Maybe<string>;
  readonly item?: Maybe<WireItem>;
  readonly response?: Maybe<WireResponse>;
  readonly error?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

type Kind = 'text' | 'thinking' | 'tool' | 'other';

interface Item {
  readonly kind: Kind;
  readonly sentId: string;
  /** The block's, once there is one: text and thinking have none before they say something. */
  index: number | undefined;
  /** The call's. */
  callId: string;
  /** A call's input so far. */
  input: string;
  /** What was last passed on as the signature of a text. */
  signature: string;
  /** The part that a text was last told of; parts of thinking are paragraphs. */
  part: string;
  closed: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  message: 'text',
  reasoning: 'thinking',
  function_call: 'tool',
};

export class ResponsesDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  /** By their place in the response. */
  readonly #items = new Map<number, Item>();
  #start: ModelChunk | undefined;
  #begun = false;
  #next = 0;
  #calls = 0;
  #lastNumber = 0;
  #cut: string | undefined;
  #refusal = '';

  constructor(callId: (sent: string | undefined) => string) {
    this.#callId = callId;
  }

  decode({ data }: SseEvent, out: ModelChunk[]): void {
    if (data.startsWith('[DONE]')) return;
    const event = JSON.parse(data) as Maybe<WireEvent>;
    if (!event || typeof event !== 'object' || this.#isRepeated(event.sequence_number)) return;
    switch (event.type) {
      case 'response.output_text.delta':
        this.#text(this.#itemOf(event, 'text', out), event.delta, out);
        return;
      case 'response.function_call_arguments.delta':
        this.#input(this.#items.get(event.output_index ?? 0), event.delta, out);
        return;
      case 'response.reasoning_summary_text.delta':
        this.#thinking(event, `summary ${event.summary_index ?? 0}`, out);
        return;
      case 'response.reasoning_text.delta':
        this.#thinking(event, `content ${event.content_index ?? 0}`, out);
        return;
      case 'response.refusal.delta':
        this.#refusal += event.delta ?? '';
        return;
      case 'response.function_call_arguments.done':
        this.#rest(this.#items.get(event.output_index ?? 0), event.arguments, out);
        return;
      case 'response.output_item.added':
        if (event.item) this.#added(event.output_index ?? 0, event.item, out);
        return;
      case 'response.output_item.done':
        if (event.item) this.#done(event.output_index ?? 0, event.item, out);
        return;
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#begin(event.response);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        this.#complete(event.response, out);
        return;
      case 'response.failed':
      case 'response.cancelled':
        this.#count(event.response?.usage);
        throw new ComplaintError(explainEvent(event.response?.error) ?? { message: data });
      case 'error':
        throw new ComplaintError(explainEvent(event.error ?? event) ?? { message: data });
    }
    if (!event.type && event.error) throw new ComplaintError(explainEvent(event.error) ?? { message: data });
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    for (const item of this.#items.values()) this.#close(item, out);
    const tokens = this.tokens ?? NO_TOKENS;
    if (this.#refusal !== '') out.push({ type: 'failure', error: refused(this.#refusal), tokens });
    else if (this.#cut === 'content_filter') {
      out.push({ type: 'failure', error: refused('its answer was held back by a content filter'), tokens });
    } else if (this.#cut !== undefined) out.push({ type: 'end', stopReason: 'length', tokens });
    else out.push({ type: 'end', stopReason: this.#calls > 0 ? 'toolUse' : 'stop', tokens });
  }

  /** Events are numbered; servers that do not count them say zero each time. */
  #isRepeated(number: Maybe<number>): boolean {
    if (!number) return false;
    const repeated = number === this.#lastNumber;
    this.#lastNumber = number;
    return repeated;
  }

  #begin(response: Maybe<WireResponse>): void {
    if (this.#begun || !response) return;
    this.#begun = true;
    this.#start = { type: 'messageStart', id: response.id ?? '', model: response.model ?? '' };
  }

  #complete(response: Maybe<WireResponse>, out: ModelChunk[]): void {
    this.#begin(response ?? {});
    if (this.#items.size === 0) {
      for (const [at, item] of (response?.output ?? []).entries()) if (item) this.#done(at, item, out);
    }
    this.#count(response?.usage);
    this.#cut = response?.incomplete_details?.reason ?? undefined;
    this.progress = 'done';
  }

  #added(at: number, item: WireItem, out: ModelChunk[]): Item {
    const known = this.#items.get(at);
    const kind = KINDS[item.type ?? ''] ?? 'other';
    const sentId = item.id ?? '';
    if (known?.kind === kind && (sentId === '' || known.sentId === sentId)) return known;
    if (known !== undefined) this.#close(known, out);
    const made: Item = {
      ...{ kind, sentId, index: undefined, callId: '', input: '' },
      ...{ signature: kind === 'text' ? textSignature(item) : '', part: '', closed: false },
    };
    this.#items.set(at, made);
    if (kind === 'tool') this.#openCall(made, item, out);
    return made;
  }

  #openCall(made: Item, item: WireItem, out: ModelChunk[]): void {
    const id = this.#callId(item.call_id ?? item.id ?? undefined);
    const index = this.#open(made, out);
    made.callId = id;
    this.#calls++;
    out.push({ type: 'toolUseStart', index, id, name: item.name ?? '' });
    if (made.sentId !== '') out.push({ type: 'thoughtSignature', index, signature: made.sentId });
  }

  /** The item that a piece belongs to; one that was not announced begins with it. */
  #itemOf(event: WireEvent, kind: 'text' | 'thinking', out: ModelChunk[]): Item {
    const at = event.output_index ?? 0;
    const type = kind === 'text' ? 'message' : 'reasoning';
    return this.#items.get(at) ?? this.#added(at, { type }, out);
  }

  #text(item: Item, delta: Maybe<string>, out: ModelChunk[]): void {
    if (!delta || item.kind !== 'text' || item.closed) return;
    if (item.index === undefined) {
      const index = this.#open(item, out);
      // At once, not at the end: a text that is cut short must still be known as the item that it was.
      if (item.signature !== '') out.push({ type: 'textSignature', index, signature: item.signature });
    }
    out.push({ type: 'contentDelta', index: item.index ?? 0, delta });
  }

  #thinking(event: WireEvent, part: string, out: ModelChunk[]): void {
    const item = this.#itemOf(event, 'thinking', out);
    if (!event.delta || item.kind !== 'thinking' || item.closed) return;
    const delta = item.part === '' || item.part === part ? event.delta : `\n\n${event.delta}`;
    item.part = part;
    out.push({ type: 'thinkingDelta', index: this.#open(item, out), delta });
  }

  #input(item: Item | undefined, delta: Maybe<string>, out: ModelChunk[]): void {
    if (!delta || item?.kind !== 'tool' || item.closed) return;
    item.input += delta;
    out.push({ type: 'toolUseDelta', id: item.callId, delta });
  }

  /** What the whole input has beyond the pieces that came. */
  #rest(item: Item | undefined, whole: Maybe<string>, out: ModelChunk[]): void {
    if (item === undefined || !whole?.startsWith(item.input)) return;
    this.#input(item, whole.slice(item.input.length), out);
  }

  #done(at: number, item: WireItem, out: ModelChunk[]): void {
    const known = this.#items.get(at) ?? this.#added(at, item, out);
    if (known.closed) return;
    switch (known.kind) {
      case 'text':
        this.#textDone(known, item, out);
        break;
      case 'thinking':
        this.#thinkingDone(known, item, at, out);
        break;
      case 'tool':
        this.#rest(known, item.arguments, out);
    }
    this.#close(known, out);
  }

  #textDone(known: Item, item: WireItem, out: ModelChunk[]): void {
    const signature = textSignature(item);
    if (known.index === undefined) {
      known.signature = signature;
      this.#text(known, item.content?.map((part) => part?.text ?? '').join(''), out);
    } else if (signature !== '' && signature !== known.signature) {
      out.push({ type: 'textSignature', index: known.index, signature });
    }
    if (this.#refusal === '') for (const part of item.content ?? []) this.#refusal += part?.refusal ?? '';
  }

  #thinkingDone(known: Item, item: WireItem, at: number, out: ModelChunk[]): void {
    if (known.index === undefined) {
      const parts = item.summary?.length ? item.summary : (item.content ?? []);
      const delta = parts.flatMap((part) => (part?.text ? [part.text] : [])).join('\n\n');
      this.#thinking({ output_index: at, delta }, 'whole', out);
    }
    // Of use only where it can be sent back: the server keeps nothing that it was not told to store.
    if (!item.encrypted_content && !item.content?.length) return;
    out.push({
      type: 'thinkingSignature',
      index: this.#open(known, out),
      signature: JSON.stringify(item),
    });
  }

  #open(item: Item, out: ModelChunk[]): number {
    if (item.index === undefined) {
      this.#flushStart(out);
      item.index = this.#next++;
    }
    return item.index;
  }

  #close(item: Item, out: ModelChunk[]): void {
    if (item.closed) return;
    item.closed = true;
    if (item.index !== undefined) out.push({ type: 'contentBlockStop', index: item.index });
  }

  #flushStart(out: ModelChunk[]): void {
    if (this.#start === undefined) return;
    out.push(this.#start);
    this.#start = undefined;
  }

  /** What was read from and written to the cache is part of the input that the provider counts. */
  #count(usage: Maybe<WireUsage>): void {
    if (!usage) return;
    const details = usage.input_tokens_details;
    const all = usage.input_tokens ?? 0;
    const cacheRead = Math.min(details?.cached_tokens ?? 0, all);
    const cacheWrite = Math.min(details?.cache_write_tokens ?? 0, all - cacheRead);
    const input = all - cacheRead - cacheWrite;
    const reasoning = usage.output_tokens_details?.reasoning_tokens ?? 0;
    this.tokens = { input, output: usage.output_tokens ?? 0, cacheRead, cacheWrite, ...thought(reasoning) };
  }
}

/** The item that a text was, in the form in which pi's session format keeps it. */
function textSignature({ id, phase }: WireItem): string {
  if (!id) return '';
  return JSON.stringify({ v: 1, id, ...(phase && { phase }) });
}
