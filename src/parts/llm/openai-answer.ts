// Answers of the Chat Completions API as chunks. The format has no block boundaries: they are drawn where the kind
// of content changes. A call ends when the next one begins and its input is whole JSON, since servers that interleave
// calls go on with it later; else it ends with the answer.

import type { StopReason } from '../../core/message.ts';
import type { ModelChunk } from '../../core/model.ts';
import { NO_TOKENS, type TokenCounts } from '../../core/usage.ts';
import { refused } from './failure.ts';
import { explain } from './openai-errors.ts';
import type { SseEvent } from './sse.ts';
import { type AnswerDecoder, ComplaintError } from './wire.ts';

type Maybe<T> = T | null | undefined;

interface WireCall {
  readonly index?: Maybe<number>;
  readonly id?: Maybe<string>;
  readonly function?: Maybe<{ readonly name?: Maybe<string>; readonly arguments?: unknown }>;
}

interface WireDelta {
  readonly content?: Maybe<string>;
  readonly reasoning_content?: Maybe<string>;
  readonly reasoning?: Maybe<string>;
  readonly refusal?: Maybe<string>;
  readonly tool_calls?: Maybe<readonly Maybe<WireCall>[]>;
}

interface WireUsage {
  readonly prompt_tokens?: Maybe<number>;
  readonly completion_tokens?: Maybe<number>;
  readonly prompt_tokens_details?: Maybe<{ readonly cached_tokens?: Maybe<number> }>;
}

interface WireChunk {
  readonly id?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly choices?: Maybe<
    readonly Maybe<{ readonly delta?: Maybe<WireDelta>; readonly finish_reason?: Maybe<string> }>[]
  >;
  readonly usage?: Maybe<WireUsage>;
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

export class OpenAiDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  readonly #calls: Call[] = [];
  /** The call that pieces with a wire index belong to. */
  readonly #byIndex = new Map<number, Call>();
  #start: ModelChunk | undefined;
  #begun = false;
  #next = 0;
  #textKind: 'contentDelta' | 'thinkingDelta' | undefined;
  #textIndex = 0;
  #finishReason: string | undefined;
  #refusal = '';

  constructor(callId: (sent: string | undefined) => string) {
    this.#callId = callId;
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
    if (chunk.usage) this.tokens = countsOf(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return;
    if (choice.delta) this.#delta(choice.delta, out);
    if (choice.finish_reason) {
      this.#finishReason = choice.finish_reason;
      this.#closeAll(out);
      // Usage follows the reason, so the answer may end here but need not.
      this.progress = 'complete';
    }
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    this.#closeAll(out);
    const tokens = this.tokens ?? NO_TOKENS;
    if (this.#finishReason === 'content_filter' || this.#refusal !== '') {
      out.push({ type: 'failure', error: refused(this.#refusal), tokens });
    } else {
      out.push({ type: 'end', stopReason: this.#stopReason(), tokens });
    }
  }

  #stopReason(): StopReason {
    if (this.#finishReason === 'length') return 'length';
    return this.#calls.length > 0 ? 'toolUse' : 'stop';
  }

  #delta(delta: WireDelta, out: ModelChunk[]): void {
    this.#text('thinkingDelta', delta.reasoning_content || delta.reasoning, out);
    this.#text('contentDelta', delta.content, out);
    if (typeof delta.refusal === 'string') this.#refusal += delta.refusal;
    if (!delta.tool_calls) return;
    for (const piece of delta.tool_calls) if (piece) this.#callPiece(piece, out);
  }

  #text(type: 'contentDelta' | 'thinkingDelta', delta: Maybe<string>, out: ModelChunk[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    if (this.#textKind !== type) {
      this.#closeText(out);
      this.#flushStart(out);
      this.#textKind = type;
      this.#textIndex = this.#next++;
    }
    out.push({ type, index: this.#textIndex, delta });
  }

  #callPiece(piece: WireCall, out: ModelChunk[]): void {
    const call = this.#callOf(piece) ?? this.#begin(piece, out);
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

  #closeAll(out: ModelChunk[]): void {
    this.#closeText(out);
    for (const call of this.#calls) if (!call.closed) this.#close(call, out);
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

/** The provider counts what it read from its cache as part of the prompt. */
function countsOf(usage: WireUsage): TokenCounts {
  const prompt = usage.prompt_tokens ?? 0;
  const cacheRead = Math.min(usage.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  return { input: prompt - cacheRead, output: usage.completion_tokens ?? 0, cacheRead, cacheWrite: 0 };
}
