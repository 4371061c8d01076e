// Answers of Anthropic's Messages API as chunks. Blocks are numbered anew in the order in which they begin, because
// blocks of kinds that we do not know leave gaps, and a repeated index must not run two blocks together.

import type { StopReason } from '../../core/message.ts';
import type { ModelChunk } from '../../core/model.ts';
import type { JsonObject } from '../../core/schema.ts';
import { NO_TOKENS, type TokenCounts } from '../../core/usage.ts';
import { type AnthropicRates, costOf } from './anthropic-cost.ts';
import { explain } from './anthropic-errors.ts';
import { refused } from './failure.ts';
import type { SseEvent } from './sse.ts';
import { type AnswerDecoder, ComplaintError, type Wire } from './wire.ts';

type Maybe<T> = T | null | undefined;

interface WireUsage {
  readonly input_tokens?: Maybe<number>;
  readonly output_tokens?: Maybe<number>;
  readonly cache_read_input_tokens?: Maybe<number>;
  readonly cache_creation_input_tokens?: Maybe<number>;
  /** The same, by how long it is kept. */
  readonly cache_creation?: Maybe<{
    readonly ephemeral_5m_input_tokens?: Maybe<number>;
    readonly ephemeral_1h_input_tokens?: Maybe<number>;
  }>;
  /** The speed that the answer was made with, which may be less than was asked for. */
  readonly speed?: Maybe<string>;
}

/** The union of all events: any field may be missing or null. */
interface WireEvent {
  readonly type?: Maybe<string>;
  readonly index?: Maybe<number>;
  readonly message?: Maybe<{ id?: Maybe<string>; model?: Maybe<string>; usage?: Maybe<WireUsage> }>;
  readonly content_block?: Maybe<{
    readonly type?: Maybe<string>;
    readonly id?: Maybe<string>;
    readonly name?: Maybe<string>;
    readonly text?: Maybe<string>;
    readonly thinking?: Maybe<string>;
    readonly signature?: Maybe<string>;
    readonly data?: Maybe<string>;
    readonly citations?: Maybe<readonly JsonObject[]>;
    readonly input?: unknown;
  }>;
  readonly delta?: Maybe<{
    readonly type?: Maybe<string>;
    readonly text?: Maybe<string>;
    readonly thinking?: Maybe<string>;
    readonly signature?: Maybe<string>;
    readonly partial_json?: Maybe<string>;
    readonly citation?: Maybe<JsonObject>;
    readonly stop_reason?: Maybe<string>;
    readonly stop_details?: Maybe<{ readonly explanation?: Maybe<string> }>;
  }>;
  readonly usage?: Maybe<WireUsage>;
  readonly error?: unknown;
}

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly index: number;
  /** The call's id. */
  readonly id: string;
  /** A call's input that came whole with its start; used when no delta follows. */
  readonly whole: string;
  signature: string;
  spoke: boolean;
}

export interface DecoderOptions {
  /** With these the cost is said where it is not tokens times the model's price. */
  readonly rates?: AnthropicRates | undefined;
  /** Reads an error event; the API's own errors when absent. */
  readonly explain?: Wire['explain'];
}

/** Reasons to stop that need no word to the person. */
const ORDINARY_STOPS: ReadonlySet<string> = new Set([
  'end_turn',
  'tool_use',
  'stop_sequence',
  'max_tokens',
  'model_context_window_exceeded',
]);

export class AnthropicDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  readonly #blocks = new Map<number, OpenBlock>();
  #start: ModelChunk | undefined;
  #next = 0;
  #calls = 0;
  #stopReason: string | undefined;
  #explanation = '';
  #isFast = false;
  #longLived = 0;
  readonly #rates: AnthropicRates | undefined;
  readonly #explain: Wire['explain'];

  constructor(callId: (sent: string | undefined) => string, options: DecoderOptions = {}) {
    this.#callId = callId;
    this.#rates = options.rates;
    this.#explain = options.explain ?? explain;
  }

  decode({ data }: SseEvent, out: ModelChunk[]): void {
    const event = JSON.parse(data) as Maybe<WireEvent>;
    switch (event?.type) {
      case 'content_block_delta':
        this.#delta(event, out);
        return;
      case 'content_block_start':
        this.#blockStart(event, out);
        return;
      case 'content_block_stop':
        this.#blockStop(event.index ?? 0, out);
        return;
      case 'message_start':
        this.#count(event.message?.usage);
        this.#start ??= {
          type: 'messageStart',
          id: event.message?.id ?? '',
          model: event.message?.model ?? '',
        };
        return;
      case 'message_delta':
        this.#count(event.usage);
        this.#stopReason = event.delta?.stop_reason ?? this.#stopReason;
        this.#explanation = event.delta?.stop_details?.explanation ?? this.#explanation;
        return;
      case 'message_stop':
        this.progress = 'done';
        return;
      case 'error':
        throw new ComplaintError(this.#explain(event) ?? { message: data });
    }
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    for (const index of [...this.#blocks.keys()]) this.#blockStop(index, out);
    const tokens = this.tokens ?? NO_TOKENS;
    if (this.#stopReason === 'refusal') {
      out.push({ type: 'failure', error: refused(this.#explanation), tokens });
      return;
    }
    const reason = this.#stopReason;
    if (reason !== undefined && !ORDINARY_STOPS.has(reason)) {
      out.push({ type: 'notice', text: `The provider ended its answer early (${reason.slice(0, 40)}).` });
    }
    const costUsd = costOf(tokens, this.#rates, { longLived: this.#longLived, isFast: this.#isFast });
    out.push({
      type: 'end',
      stopReason: this.#stop(),
      tokens,
      ...(costUsd !== undefined && { costUsd }),
    });
  }

  #stop(): StopReason {
    if (this.#stopReason === 'max_tokens' || this.#stopReason === 'model_context_window_exceeded') {
      return 'length';
    }
    return this.#calls > 0 ? 'toolUse' : 'stop';
  }

  #delta(event: WireEvent, out: ModelChunk[]): void {
    const { delta } = event;
    const at = event.index ?? 0;
    const block = this.#blocks.get(at);
    switch (delta?.type) {
      case 'text_delta':
        this.#text(at, block, delta.text, out);
        return;
      case 'thinking_delta':
        this.#thinking(at, block, delta.thinking, out);
        return;
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += delta.signature ?? '';
        return;
      case 'input_json_delta':
        if (block?.kind !== 'tool' || !delta.partial_json) return;
        block.spoke = true;
        out.push({ type: 'toolUseDelta', id: block.id, delta: delta.partial_json });
        return;
      case 'citations_delta':
        if (block?.kind === 'text') this.#cite(block, delta.citation, out);
    }
  }

  #cite({ index }: OpenBlock, citation: Maybe<JsonObject>, out: ModelChunk[]): void {
    if (!citation) return;
    this.#flushStart(out);
    out.push({ type: 'citation', index, citation });
  }

  /** Text without a block of its own opens one: some servers leave the start of a block out. */
  #text(at: number, block: OpenBlock | undefined, delta: Maybe<string>, out: ModelChunk[]): void {
    if (!delta) return;
    const { index } = block?.kind === 'text' ? block : this.#open(at, 'text', out);
    this.#flushStart(out);
    out.push({ type: 'contentDelta', index, delta });
  }

  #thinking(at: number, block: OpenBlock | undefined, delta: Maybe<string>, out: ModelChunk[]): void {
    if (!delta) return;
    const { index } = block?.kind === 'thinking' ? block : this.#open(at, 'thinking', out);
    this.#flushStart(out);
    out.push({ type: 'thinkingDelta', index, delta });
  }

  #blockStart(event: WireEvent, out: ModelChunk[]): void {
    const at = event.index ?? 0;
    const content = event.content_block;
    switch (content?.type) {
      case 'text': {
        const block = this.#open(at, 'text', out);
        this.#text(at, block, content.text, out);
        for (const citation of content.citations ?? []) this.#cite(block, citation, out);
        return;
      }
      case 'thinking': {
        const block = this.#open(at, 'thinking', out);
        block.signature = content.signature ?? '';
        this.#thinking(at, block, content.thinking, out);
        return;
      }
      case 'redacted_thinking': {
        const { index } = this.#open(at, 'thinking', out);
        this.#flushStart(out);
        out.push({ type: 'thinkingSignature', index, signature: content.data ?? '', redacted: true });
        return;
      }
      case 'tool_use': {
        const id = this.#callId(content.id ?? undefined);
        const block = this.#open(at, 'tool', out, id, wholeInput(content.input));
        this.#calls++;
        this.#flushStart(out);
        out.push({ type: 'toolUseStart', index: block.index, id, name: content.name ?? '' });
        return;
      }
      default:
        this.#blockStop(at, out);
    }
  }

  #open(at: number, kind: OpenBlock['kind'], out: ModelChunk[], id = '', whole = ''): OpenBlock {
    this.#blockStop(at, out);
    const block = { kind, index: this.#next++, id, whole, signature: '', spoke: false };
    this.#blocks.set(at, block);
    return block;
  }

  #blockStop(at: number, out: ModelChunk[]): void {
    const block = this.#blocks.get(at);
    if (block === undefined) return;
    this.#blocks.delete(at);
    this.#flushStart(out);
    const { index, signature } = block;
    if (signature !== '') out.push({ type: 'thinkingSignature', index, signature });
    if (!block.spoke && block.whole !== '') {
      out.push({ type: 'toolUseDelta', id: block.id, delta: block.whole });
    }
    out.push({ type: 'contentBlockStop', index });
  }

  #flushStart(out: ModelChunk[]): void {
    if (this.#start === undefined) return;
    out.push(this.#start);
    this.#start = undefined;
  }

  /** Later counts replace earlier ones; the API repeats what it has counted. */
  #count(usage: Maybe<WireUsage>): void {
    if (!usage) return;
    const before = this.tokens ?? NO_TOKENS;
    const split = usage.cache_creation;
    const short = split?.ephemeral_5m_input_tokens;
    const long = split?.ephemeral_1h_input_tokens;
    const written = short == null && long == null ? undefined : (short ?? 0) + (long ?? 0);
    this.#longLived = long ?? this.#longLived;
    if (usage.speed) this.#isFast = usage.speed === 'fast';
    this.tokens = {
      input: usage.input_tokens ?? before.input,
      output: usage.output_tokens ?? before.output,
      cacheRead: usage.cache_read_input_tokens ?? before.cacheRead,
      cacheWrite: usage.cache_creation_input_tokens ?? written ?? before.cacheWrite,
    };
  }
}

function wholeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null || Object.keys(input).length === 0) return '';
  return JSON.stringify(input);
}
