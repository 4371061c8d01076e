// Answers of the Chat Completions API as chunks. The format has no block boundaries: they are drawn where the kind
// of content changes. A call ends when the next one begins and its input is whole JSON, since servers that interleave
// calls go on with it later; else it ends with the answer.

import type { StopReason } from '../../core/message.ts';
import type { ModelChunk, ToolSchema } from '../../core/model.ts';
import { NO_TOKENS, type TokenCounts } from '../../core/usage.ts';
import { refused } from './failure.ts';
import { endingOf, explain } from './openai-errors.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';
import { costOf, countsOf, type WireUsage } from './openai-usage.ts';
import { ReasoningDetails } from './reasoning-details.ts';
import type { SseEvent } from './sse.ts';
import { TextCalls } from './text-calls.ts';
import { type Split, ThinkTags } from './think-tags.ts';
import { type AnswerDecoder, ComplaintError } from './wire.ts';

type Maybe<T> = T | null | undefined;

interface WireCall {
  readonly index?: Maybe<number>;
  readonly id?: Maybe<string>;
  readonly function?: Maybe<{ readonly name?: Maybe<string>; readonly arguments?: unknown }>;
}

/** Mistral: thinking and text as parts. */
interface WirePart {
  readonly text?: unknown;
  readonly thinking?: Maybe<readonly Maybe<{ readonly text?: unknown }>[]>;
}

interface WireDelta {
  readonly content?: Maybe<string | readonly Maybe<WirePart>[]>;
  readonly reasoning_content?: Maybe<string>;
  readonly reasoning?: Maybe<string>;
  readonly reasoning_details?: unknown;
  readonly refusal?: Maybe<string>;
  readonly tool_calls?: Maybe<readonly Maybe<WireCall>[]>;
}

interface WireChoice {
  readonly delta?: Maybe<WireDelta>;
  readonly finish_reason?: Maybe<string>;
  /** Moonshot. */
  readonly usage?: Maybe<WireUsage>;
}

interface WireChunk {
  readonly id?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly choices?: Maybe<readonly Maybe<WireChoice>[]>;
  readonly usage?: Maybe<WireUsage>;
  /** Groq. */
  readonly x_groq?: Maybe<{ readonly usage?: Maybe<WireUsage> }>;
  readonly error?: unknown;
}

interface Call {
  readonly id: string;
  /** The id as the server sent it. */
  readonly sentId: string;
  readonly index: number;
  input: string;
  closed: boolean;
}

export interface DecoderOptions {
  readonly callId: (sent: string | undefined) => string;
  readonly quirks: OpenAiQuirks;
  /** Those that are offered. */
  readonly tools: readonly ToolSchema[];
}

export class OpenAiDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  readonly #quirks: OpenAiQuirks;
  readonly #calls: Call[] = [];
  /** The call that pieces with a wire index belong to. */
  readonly #byIndex = new Map<number, Call>();
  readonly #thinkTags: ThinkTags | undefined;
  readonly #textCalls: TextCalls | undefined;
  readonly #details: ReasoningDetails | undefined;
  #start: ModelChunk | undefined;
  #begun = false;
  #next = 0;
  #textKind: 'contentDelta' | 'thinkingDelta' | undefined;
  #textIndex = 0;
  /** The block that details of reasoning belong to. */
  #thinkingIndex: number | undefined;
  #finishReason: string | undefined;
  #refusal = '';
  #costUsd: number | undefined;

  constructor({ callId, quirks, tools }: DecoderOptions) {
    this.#callId = callId;
    this.#quirks = quirks;
    this.#thinkTags = quirks.thinkTags === true ? new ThinkTags() : undefined;
    this.#textCalls = quirks.textCalls === true && tools.length > 0 ? new TextCalls(tools) : undefined;
    this.#details = quirks.replayThinking === 'reasoning_details' ? new ReasoningDetails() : undefined;
  }

  decode({ event, data }: SseEvent, out: ModelChunk[]): void {
    if (data.startsWith('[DONE]')) {
      this.progress = 'done';
      return;
    }
    const chunk = JSON.parse(data) as Maybe<WireChunk>;
    if (!chunk || typeof chunk !== 'object') return;
    if (chunk.error || event === 'error') throw new ComplaintError(explain(chunk) ?? { message: data });
    if (!this.#begun) {
      this.#begun = true;
      this.#start = { type: 'messageStart', id: chunk.id ?? '', model: chunk.model ?? '' };
    }
    if (chunk.usage) this.#count(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return;
    if (choice.delta) this.#delta(choice.delta, out);
    if (choice.finish_reason) this.#finished(choice.finish_reason, chunk, choice, out);
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    this.#settle(out);
    const tokens = this.tokens ?? NO_TOKENS;
    if (endingOf(this.#finishReason) === 'refused' || this.#refusal !== '') {
      out.push({ type: 'failure', error: refused(this.#refusal), tokens });
    } else {
      const cost = this.#costUsd === undefined ? {} : { costUsd: this.#costUsd };
      out.push({ type: 'end', stopReason: this.#stopReason(), tokens, ...cost });
    }
  }

  #finished(reason: string, chunk: WireChunk, choice: WireChoice, out: ModelChunk[]): void {
    const ending = endingOf(reason);
    if (typeof ending === 'object') throw new ComplaintError(ending);
    const usage = choice.usage ?? chunk.x_groq?.usage;
    if (usage && !chunk.usage) this.#count(usage);
    this.#finishReason = reason;
    this.#settle(out);
    // Usage follows the reason, so the answer may end here but need not.
    this.progress = 'complete';
  }

  #count(usage: WireUsage): void {
    this.tokens = countsOf(usage);
    this.#costUsd = costOf(usage, this.#quirks) ?? this.#costUsd;
  }

  #stopReason(): StopReason {
    if (endingOf(this.#finishReason) === 'length') return 'length';
    return this.#calls.length > 0 ? 'toolUse' : 'stop';
  }

  #delta(delta: WireDelta, out: ModelChunk[]): void {
    const details = this.#details?.add(delta.reasoning_details);
    this.#text('thinkingDelta', delta.reasoning_content || delta.reasoning || details, out);
    if (delta.content) this.#content(delta.content, out);
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    if (!delta.tool_calls) return;
    for (const piece of delta.tool_calls) if (piece) this.#callPiece(piece, out);
  }

  #content(content: string | readonly Maybe<WirePart>[], out: ModelChunk[]): void {
    if (typeof content === 'string') {
      const tags = this.#thinkTags;
      if (tags === undefined || tags.done) this.#say(content, out);
      else this.#split(tags.push(content), out);
    } else if (Array.isArray(content)) {
      for (const part of content) this.#part(part, out);
    }
  }

  #part(part: Maybe<WirePart>, out: ModelChunk[]): void {
    for (const piece of part?.thinking ?? [])
      if (typeof piece?.text === 'string') this.#text('thinkingDelta', piece.text, out);
    if (typeof part?.text === 'string') this.#say(part.text, out);
  }

  #split({ thinking, text }: Split, out: ModelChunk[]): void {
    this.#text('thinkingDelta', thinking, out);
    if (text !== '') this.#say(text, out);
  }

  #say(text: string, out: ModelChunk[]): void {
    const calls = this.#textCalls;
    this.#text('contentDelta', calls === undefined ? text : calls.push(text), out);
  }

  #text(type: 'contentDelta' | 'thinkingDelta', delta: Maybe<string>, out: ModelChunk[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    if (this.#textKind !== type) {
      this.#closeText(out);
      this.#flushStart(out);
      this.#textKind = type;
      this.#textIndex = this.#next++;
      if (type === 'thinkingDelta') this.#thinkingIndex ??= this.#textIndex;
    }
    out.push({ type, index: this.#textIndex, delta });
  }

  /** `whole`: it is a call by itself, whatever came before. */
  #callPiece(piece: WireCall, out: ModelChunk[], whole = false): void {
    const call = (whole ? undefined : this.#callOf(piece)) ?? this.#begin(piece, out);
    const input = piece.function?.arguments;
    const delta = typeof input === 'string' ? input : input ? JSON.stringify(input) : '';
    if (delta === '' || call.closed) return;
    call.input += delta;
    out.push({ type: 'toolUseDelta', id: call.id, delta });
  }

  /** The call that a piece goes on with; undefined when it begins one. Some servers send no index, or always 0. */
  #callOf({ index, id, function: said }: WireCall): Call | undefined {
    const known = typeof index === 'number' ? this.#byIndex.get(index) : this.#calls.at(-1);
    if (known === undefined || !id || id === known.sentId) return known;
    return said?.name || typeof index !== 'number' ? undefined : known;
  }

  #begin(piece: WireCall, out: ModelChunk[]): Call {
    this.#closeText(out);
    this.#flushStart(out);
    for (const call of this.#calls) if (!call.closed && isWhole(call.input)) this.#close(call, out);
    const sentId = piece.id ?? '';
    const call: Call = {
      id: this.#callId(sentId),
      sentId,
      index: this.#next++,
      input: '',
      closed: false,
    };
    this.#calls.push(call);
    if (typeof piece.index === 'number') this.#byIndex.set(piece.index, call);
    out.push({ type: 'toolUseStart', index: call.index, id: call.id, name: piece.function?.name ?? '' });
    return call;
  }

  #close(call: Call, out: ModelChunk[]): void {
    call.closed = true;
    out.push({ type: 'contentBlockStop', index: call.index });
  }

  #closeText(out: ModelChunk[]): void {
    if (this.#textKind === undefined) return;
    this.#textKind = undefined;
    out.push({ type: 'contentBlockStop', index: this.#textIndex });
  }

  /** Everything has been said: what was held back is told, and every block ends. */
  #settle(out: ModelChunk[]): void {
    if (this.#thinkTags?.done === false) this.#split(this.#thinkTags.end(), out);
    if (this.#textCalls !== undefined) this.#recover(this.#textCalls, out);
    this.#closeText(out);
    this.#sign(out);
    for (const call of this.#calls) if (!call.closed) this.#close(call, out);
  }

  /** Calls that were printed count only where there are no others: some servers pass on both. */
  #recover(printed: TextCalls, out: ModelChunk[]): void {
    this.#text('contentDelta', printed.end(), out);
    const found = printed.found.splice(0);
    if (this.#calls.length > 0) return;
    for (const { name, input } of found)
      this.#callPiece({ id: '', function: { name, arguments: JSON.stringify(input) } }, out, true);
  }

  #sign(out: ModelChunk[]): void {
    const signature = this.#details?.take();
    if (signature === undefined) return;
    const hidden = this.#thinkingIndex === undefined;
    this.#flushStart(out);
    const index = this.#thinkingIndex ?? this.#next++;
    out.push({ type: 'thinkingSignature', index, signature, ...(hidden && { redacted: true }) });
    if (hidden) out.push({ type: 'contentBlockStop', index });
  }

  #flushStart(out: ModelChunk[]): void {
    if (this.#start === undefined) return;
    out.push(this.#start);
    this.#start = undefined;
  }
}

function isWhole(input: string): boolean {
  if (!input.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(input);
    return true;
  } catch {
    return false;
  }
}
