// The engine's view of a language model: one function from a request to batches of chunks. It never
// throws (law 2): whatever goes wrong is its last chunk, so that a loop needs no second error path.

import type { CrabError } from './errors.ts';
import type { Message, StopReason } from './message.ts';
import type { JsonSchema } from './schema.ts';
import type { Price, TokenCounts } from './usage.ts';

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

export type Effort = 'off' | 'low' | 'medium' | 'high' | 'max';

export interface ModelRequest {
  /** The provider's own id, without the provider's name. */
  readonly model: string;
  readonly system: string;
  /** Provider-valid (law 1). Messages are immutable: a wire may cache what it made of one. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  /** The most tokens the model may write. */
  readonly maxTokens: number;
  readonly effort?: Effort;
  /** The name of the tool that the model must call. */
  readonly toolChoice?: string;
}

/**
 * What a provider says while it answers. `index` is the content block's place in the message. The delta
 * and stop chunks have the shape of the events that they become, so that the engine passes them on as they are.
 */
export type ModelChunk =
  | { readonly type: 'messageStart'; readonly id: string; readonly model: string }
  | { readonly type: 'contentDelta'; readonly index: number; readonly delta: string }
  | { readonly type: 'thinkingDelta'; readonly index: number; readonly delta: string }
  | {
      readonly type: 'thinkingSignature';
      readonly index: number;
      readonly signature: string;
      readonly redacted?: boolean;
    }
  | {
      readonly type: 'toolUseStart';
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | { readonly type: 'toolUseDelta'; readonly id: string; readonly delta: string }
  | { readonly type: 'contentBlockStop'; readonly index: number }
  | ModelRetry
  | { readonly type: 'end'; readonly stopReason: StopReason; readonly tokens: TokenCounts }
  | { readonly type: 'failure'; readonly error: CrabError; readonly tokens?: TokenCounts };

/** The request is tried again after `delayMs`; nothing of an answer had arrived. */
export interface ModelRetry {
  readonly type: 'retry';
  /** The number of the try that failed, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  /** The HTTP status, absent when no answer came. */
  readonly status?: number;
  readonly reason: string;
}

export interface ModelInfo {
  readonly provider: string;
  readonly id: string;
  /** The wire format, such as `anthropic-messages`. */
  readonly api: string;
  /** Tokens; absent where nobody told us. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  readonly price?: Price;
}

/** Streams one answer. Batches are what one network read produced, never delayed and never empty. */
export type StreamModel = (
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<readonly ModelChunk[]>;

export interface Model {
  readonly info: ModelInfo;
  readonly stream: StreamModel;
}

/** Finds the model that a name means. Throws `CrabError` (`model-unknown`, `auth-missing`, …). */
export interface Models {
  /** `PROVIDER/ID`, `ID`, or nothing for the default of the first provider whose credential is found. */
  resolve(name?: string): Promise<Model>;
}
