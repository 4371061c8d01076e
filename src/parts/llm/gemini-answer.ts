// Answers of Google's Gemini API as chunks. An event is a piece of the whole response, and has no block boundaries:
// they are drawn where the kind of content changes. Calls come whole. There is no last event: an answer is complete
// once it says why it stopped, and ends with its body.

import type { StopReason } from '../../core/message.ts';
import type { ModelChunk } from '../../core/model.ts';
import { NO_TOKENS, type TokenCounts, thought } from '../../core/usage.ts';
import { refused } from './failure.ts';
import { explain } from './gemini-errors.ts';
import type { SseEvent } from './sse.ts';
import { type AnswerDecoder, ComplaintError } from './wire.ts';

type Maybe<T> = T | null | undefined;

interface WirePart {
  readonly text?: Maybe<string>;
  readonly thought?: Maybe<boolean>;
  readonly thoughtSignature?: Maybe<string>;
  readonly functionCall?: Maybe<{
    readonly id?: Maybe<string>;
    readonly name?: Maybe<string>;
    readonly args?: Maybe<object>;
  }>;
}

interface WireCandidate {
  readonly content?: Maybe<{ readonly parts?: Maybe<readonly Maybe<WirePart>[]> }>;
  readonly finishReason?: Maybe<string>;
  readonly finishMessage?: Maybe<string>;
}

interface WireUsage {
  readonly promptTokenCount?: Maybe<number>;
  readonly cachedContentTokenCount?: Maybe<number>;
  readonly toolUsePromptTokenCount?: Maybe<number>;
  readonly candidatesTokenCount?: Maybe<number>;
  readonly thoughtsTokenCount?: Maybe<number>;
}

interface WireChunk {
  readonly responseId?: Maybe<string>;
  readonly modelVersion?: Maybe<string>;
  readonly candidates?: Maybe<readonly Maybe<WireCandidate>[]>;
  readonly usageMetadata?: Maybe<WireUsage>;
  readonly promptFeedback?: Maybe<{
    readonly blockReason?: Maybe<string>;
    readonly blockReasonMessage?: Maybe<string>;
  }>;
  readonly error?: unknown;
}

/** Reasons for which an answer, or the rest of it, is withheld. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER'],
]);

/** Reasons that are faults of the model, which may not happen again. */
const FAULTS: ReadonlySet<string> = new Set([
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'],
  ...['MISSING_THOUGHT_SIGNATURE', 'OTHER'],
]);

interface Block {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly index: number;
}

export class GeminiDecoder implements AnswerDecoder {
  progress: AnswerDecoder['progress'] = 'open';
  tokens: TokenCounts | undefined;
  readonly #callId: (sent: string | undefined) => string;
  #start: ModelChunk | undefined;
  #begun = false;
  #calls = 0;
  #next = 0;
  /** The block that is open. */
  #block: Block | undefined;
  readonly #said = new Set<string>();
  /** Thinking whose signature is known: a second one would be joined to it. */
  readonly #signed = new Set<number>();
  #finishReason: string | undefined;
  #refusal: string | undefined;

  constructor(callId: (sent: string | undefined) => string) {
    this.#callId = callId;
  }

  decode({ data }: SseEvent, out: ModelChunk[]): void {
    if (data.startsWith('[DONE]')) return;
    const chunk = JSON.parse(data) as Maybe<WireChunk>;
    if (!chunk || typeof chunk !== 'object') return;
    if (chunk.error) throw new ComplaintError(explain(chunk) ?? { message: data });
    if (!this.#begun) {
      this.#begun = true;
      const [id, model] = [chunk.responseId ?? '', chunk.modelVersion ?? ''];
      this.#start = { type: 'messageStart', id, model };
    }
    if (chunk.usageMetadata) this.tokens = countsOf(chunk.usageMetadata);
    const { promptFeedback } = chunk;
    if (promptFeedback?.blockReason) {
      const why = promptFeedback.blockReasonMessage || promptFeedback.blockReason;
      this.#refusal = `the prompt was blocked (${why})`;
      this.progress = 'complete';
    }
    const candidate = chunk.candidates?.[0];
    if (!candidate) return;
    for (const part of candidate.content?.parts ?? []) if (part) this.#part(part, out);
    if (candidate.finishReason) this.#finished(candidate.finishReason, candidate.finishMessage ?? '');
  }

  finish(out: ModelChunk[]): void {
    this.#flushStart(out);
    this.#close(out);
    const tokens = this.tokens ?? NO_TOKENS;
    if (this.#refusal !== undefined) out.push({ type: 'failure', error: refused(this.#refusal), tokens });
    else out.push({ type: 'end', stopReason: this.#stopReason(), tokens });
  }

  #stopReason(): StopReason {
    if (this.#finishReason === 'MAX_TOKENS') return 'length';
    return this.#calls > 0 ? 'toolUse' : 'stop';
  }

  #finished(reason: string, message: string): void {
    if (FAULTS.has(reason)) {
      const text = message || 'The model broke off its answer.';
      throw new ComplaintError({ type: reason, message: text, code: 'provider-failed' });
    }
    if (REFUSALS.has(reason)) this.#refusal ??= message === '' ? reason : `${message} (${reason})`;
    this.#finishReason = reason;
    this.progress = 'complete';
  }

  #part(part: WirePart, out: ModelChunk[]): void {
    const { text, functionCall, thoughtSignature } = part;
    if (functionCall) {
      if (!this.#call(functionCall, out)) return;
    } else if (typeof text === 'string' && text !== '') this.#text(part.thought === true, text, out);
    if (thoughtSignature) this.#sign(thoughtSignature, out);
    if (functionCall) this.#close(out);
  }

  #text(isThought: boolean, delta: string, out: ModelChunk[]): void {
    const { index } = this.#open(isThought ? 'thinking' : 'text', out);
    out.push({ type: isThought ? 'thinkingDelta' : 'contentDelta', index, delta });
  }

  /** False for a call that was said before: a part that comes twice, its id included, is one call. */
  #call({ id: sent, name, args }: NonNullable<WirePart['functionCall']>, out: ModelChunk[]): boolean {
    const input = args && Object.keys(args).length > 0 ? textOfArguments(args) : '';
    const said = JSON.stringify([sent, name, input]);
    if (sent && this.#said.has(said)) return false;
    this.#said.add(said);
    this.#close(out);
    const id = this.#callId(sent ?? undefined);
    const { index } = this.#open('tool', out);
    this.#calls++;
    out.push({ type: 'toolUseStart', index, id, name: name ?? '' });
    if (input !== '') out.push({ type: 'toolUseDelta', id, delta: input });
    return true;
  }

  /** A signature belongs to what it came with, or, in a part that holds nothing else, to what came before. */
  #sign(signature: string, out: ModelChunk[]): void {
    const { kind, index } = this.#block ?? this.#open('thinking', out);
    if (kind === 'tool') out.push({ type: 'thoughtSignature', index, signature });
    else if (kind === 'text') out.push({ type: 'textSignature', index, signature });
    else if (!this.#signed.has(index)) {
      this.#signed.add(index);
      out.push({ type: 'thinkingSignature', index, signature });
    }
  }

  /** The block that goes on, or a new one. */
  #open(kind: Block['kind'], out: ModelChunk[]): Block {
    if (this.#block?.kind === kind) return this.#block;
    this.#close(out);
    this.#flushStart(out);
    this.#block = { kind, index: this.#next++ };
    return this.#block;
  }

  #close(out: ModelChunk[]): void {
    if (this.#block !== undefined) out.push({ type: 'contentBlockStop', index: this.#block.index });
    this.#block = undefined;
  }

  #flushStart(out: ModelChunk[]): void {
    if (this.#start === undefined) return;
    out.push(this.#start);
    this.#start = undefined;
  }
}

/** The provider counts what it read from its cache as part of the prompt, and thinking apart from the answer. */
function countsOf(usage: WireUsage): TokenCounts {
  const prompt = usage.promptTokenCount ?? 0;
  const cacheRead = Math.min(usage.cachedContentTokenCount ?? 0, prompt);
  return {
    input: prompt - cacheRead + (usage.toolUsePromptTokenCount ?? 0),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    cacheRead,
    cacheWrite: 0,
    ...thought(usage.thoughtsTokenCount ?? 0),
  };
}

/** What is nested too deep to be written is no JSON, so that the call is answered with an error and never run. */
function textOfArguments(args: object): string {
  try {
    return JSON.stringify(args);
  } catch {
    return 'nested too deep';
  }
}
