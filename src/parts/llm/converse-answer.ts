// Answers of Bedrock's ConverseStream as chunks. A text block is not announced, so the first delta of an index opens it.

import type { StopReason } from '../../core/message.ts';
import type { ModelChunk } from '../../core/model.ts';
import { NO_TOKENS, type TokenCounts } from '../../core/usage.ts';
import { explainException } from './aws-errors.ts';
import { refused } from './failure.ts';
import type { SseEvent } from './sse.ts';
import { type AnswerDecoder, ComplaintError } from './wire.ts';

type Maybe<T> = T | null | undefined;

/** The union of all events: any field may be missing or null. */
interface WireEvent {
  readonly contentBlockIndex?: Maybe<number>;
  readonly start?: Maybe<{
    readonly toolUse?: Maybe<{ readonly toolUseId?: Maybe<string>; readonly name?: Maybe<string> }>;
  }>;
  readonly delta?: Maybe<{
    readonly text?: Maybe<string>;
    readonly toolUse?: Maybe<{ readonly input?: Maybe<string> }>;
    readonly reasoningContent?: Maybe<{
      readonly text?: Maybe<string>;
      readonly signature?: Maybe<string>;
      readonly redactedContent?: Maybe<string>;
    }>;
  }>;
  readonly stopReason?: Maybe<string>;
  readonly usage?: Maybe<{
    readonly inputTokens?: Maybe<number>;
    readonly outputTokens?: Maybe<number>;
    readonly cacheReadInputTokens?: Maybe<number>;
    readonly cacheWriteInputTokens?: Maybe<number>;
  }>;
}

interface OpenBlock {
  readonly index: number;
  readonly callId?: string;
}

const REFUSALS: ReadonlySet<string> = new Set(['guardrail_intervened', 'content_filtered']);
const LIMITS: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);
const ORDINARY_STOPS: ReadonlySet<string> = new Set(['end_turn', 'tool_use', 'stop_sequence', ...LIMITS]);

export class ConverseDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  readonly #blocks = new Map<number, OpenBlock>();
  #start: ModelChunk | undefined;
  #next = 0;
  #calls = 0;
  #stopReason = 'end_turn';

  /** The API says nothing of the model that answers, and gives the answer no id. */
  constructor(model: string, callId: (sent: string | undefined) => string) {
    this.#callId = callId;
    this.#start = { type: 'messageStart', id: '', model };
  }

  decode({ event, data }: SseEvent, out: ModelChunk[]): void {
    const body = JSON.parse(data) as WireEvent;
    const at = body.contentBlockIndex ?? 0;
    switch (event) {
      case 'contentBlockStart':
        if (body.start?.toolUse) this.#call(at, body.start.toolUse, out);
        return;
      case 'contentBlockDelta':
        this.#delta(at, body.delta, out);
        return;
      case 'contentBlockStop':
        this.#blockStop(at, out);
        return;
      case 'messageStop':
        this.#stopReason = body.stopReason ?? this.#stopReason;
        this.progress = 'complete';
        return;
      case 'metadata':
        this.#count(body.usage);
        if (this.progress === 'complete') this.progress = 'done';
        return;
      case 'error':
        throw new ComplaintError(explainException(body) ?? { message: data });
    }
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    for (const at of [...this.#blocks.keys()]) this.#blockStop(at, out);
    const tokens = this.tokens ?? NO_TOKENS;
    const reason = this.#stopReason;
    if (REFUSALS.has(reason)) {
      out.push({ type: 'failure', error: refused(reason.replaceAll('_', ' ')), tokens });
      return;
    }
    if (!ORDINARY_STOPS.has(reason)) {
      out.push({ type: 'notice', text: `The provider ended its answer early (${reason.slice(0, 40)}).` });
    }
    out.push({ type: 'end', stopReason: this.#stop(), tokens });
  }

  #stop(): StopReason {
    if (LIMITS.has(this.#stopReason)) return 'length';
    return this.#calls > 0 ? 'toolUse' : 'stop';
  }

  #call(
    at: number,
    { toolUseId, name }: { readonly toolUseId?: Maybe<string>; readonly name?: Maybe<string> },
    out: ModelChunk[],
  ): void {
    this.#blockStop(at, out);
    const id = this.#callId(toolUseId ?? undefined);
    const index = this.#next++;
    this.#blocks.set(at, { index, callId: id });
    this.#calls++;
    this.#flushStart(out);
    out.push({ type: 'toolUseStart', index, id, name: name ?? '' });
  }

  #delta(at: number, delta: WireEvent['delta'], out: ModelChunk[]): void {
    if (delta?.text) {
      out.push({ type: 'contentDelta', index: this.#speak(at, out), delta: delta.text });
      return;
    }
    const input = delta?.toolUse?.input;
    const id = this.#blocks.get(at)?.callId;
    if (input && id !== undefined) {
      out.push({ type: 'toolUseDelta', id, delta: input });
      return;
    }
    const thought = delta?.reasoningContent;
    if (thought?.text) out.push({ type: 'thinkingDelta', index: this.#speak(at, out), delta: thought.text });
    if (thought?.signature)
      out.push({ type: 'thinkingSignature', index: this.#speak(at, out), signature: thought.signature });
    if (thought?.redactedContent) {
      const signature = thought.redactedContent;
      out.push({ type: 'thinkingSignature', index: this.#speak(at, out), signature, redacted: true });
    }
  }

  /** The index of the text or thinking block here, which is opened by being spoken in. */
  #speak(at: number, out: ModelChunk[]): number {
    let block = this.#blocks.get(at);
    if (block === undefined || block.callId !== undefined) {
      this.#blockStop(at, out);
      block = { index: this.#next++ };
      this.#blocks.set(at, block);
    }
    this.#flushStart(out);
    return block.index;
  }

  #blockStop(at: number, out: ModelChunk[]): void {
    const block = this.#blocks.get(at);
    if (block === undefined) return;
    this.#blocks.delete(at);
    out.push({ type: 'contentBlockStop', index: block.index });
  }

  #flushStart(out: ModelChunk[]): void {
    if (this.#start === undefined) return;
    out.push(this.#start);
    this.#start = undefined;
  }

  #count(usage: WireEvent['usage']): void {
    if (!usage) return;
    this.tokens = {
      input: usage.inputTokens ?? 0,
      output: usage.outputTokens ?? 0,
      cacheRead: usage.cacheReadInputTokens ?? 0,
      cacheWrite: usage.cacheWriteInputTokens ?? 0,
    };
  }
}
