// The engine's view of a language model: one function from a request to batches of chunks. It never
// throws (law 2): whatever goes wrong is its last chunk, so that a loop needs no second error path.

import type { CrabError, ErrorData } from './errors.ts';
import type { Message, StopReason } from './message.ts';
import type { JsonObject, JsonSchema } from './schema.ts';
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
  /** The answer must be JSON of this shape; only for models whose `structured` says so. */
  readonly output?: { readonly name: string; readonly schema: JsonSchema };
  /** Answer sooner for more money, where the provider sells that. */
  readonly fast?: boolean;
  /** The same for every request of a conversation, for caches that are found by a key. */
  readonly conversation?: string;
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
  /** Belongs to the text block, or to the call, at `index`. */
  | { readonly type: 'textSignature'; readonly index: number; readonly signature: string }
  | { readonly type: 'thoughtSignature'; readonly index: number; readonly signature: string }
  | { readonly type: 'citation'; readonly index: number; readonly citation: JsonObject }
  /** What the person should know about the answer, such as that the server cut the prompt. */
  | { readonly type: 'notice'; readonly text: string }
  | {
      readonly type: 'toolUseStart';
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | { readonly type: 'toolUseDelta'; readonly id: string; readonly delta: string }
  | { readonly type: 'contentBlockStop'; readonly index: number }
  | ModelRetry
  | {
      readonly type: 'end';
      readonly stopReason: StopReason;
      readonly tokens: TokenCounts;
      /** US dollars, where the provider itself says what the answer cost. */
      readonly costUsd?: number;
    }
  | { readonly type: 'failure'; readonly error: CrabError; readonly tokens?: TokenCounts };

/** The request is tried again after `delayMs`; nothing of an answer had arrived. */
export interface ModelRetry {
  readonly type: 'retry';
  /** The number of the try that failed, from 1; 0 when the provider's limit holds back the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  /** The HTTP status, absent when no answer came. */
  readonly status?: number;
  readonly reason: string;
  /** What the provider had counted before the try failed. */
  readonly tokens?: TokenCounts;
}

/** What is known of a model; each absent where nobody told us. */
export interface ModelFacts {
  /** Tokens. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  /** All zero for a server of one's own. */
  readonly price?: Price;
  /** What it can be shown beside text. */
  readonly input?: readonly ('image' | 'pdf')[];
  /** Whether it thinks before it answers. */
  readonly reasoning?: boolean;
  /** Whether `ModelRequest.output` is understood. */
  readonly structured?: boolean;
}

export interface ModelInfo extends ModelFacts {
  readonly provider: string;
  readonly id: string;
  /** The wire format, such as `anthropic-messages`. */
  readonly api: string;
  /** Runs on this machine: it costs nothing and may need minutes to load. */
  readonly local?: boolean;
}

/** What a provider last said of its limits; each absent where it said nothing. Times are milliseconds since the epoch. */
export interface RateLimit {
  readonly remainingRequests?: number;
  readonly remainingTokens?: number;
  /** When the limit that is reached first is lifted. */
  readonly resetAt?: number;
}

/** Streams one answer. Batches are what one network read produced, never delayed and never empty. */
export type StreamModel = (
  request: ModelRequest,
  signal: AbortSignal,
) => AsyncIterable<readonly ModelChunk[]>;

export interface Model {
  /** Read it when it is needed: what only the server knows may be learned with the first answer. */
  readonly info: ModelInfo;
  readonly stream: StreamModel;
  /** Where the key comes from, such as `ANTHROPIC_API_KEY`; never the key. */
  readonly credential?: string;
  rateLimit?(): RateLimit | undefined;
  /** `open`: the provider failed again and again, and for a while each request gets a single try. */
  health?(): 'ok' | 'open';
}

/** Finds the model that a name means. Throws `CrabError` (`model-unknown`, `auth-missing`, …). */
export interface Models {
  /** `PROVIDER/ID`, `ID`, or nothing for the default of the first provider whose credential is found. */
  resolve(name?: string): Promise<Model>;
  /** Every provider, or the one of this name, with what it offers; asks the servers that say so themselves. */
  list(provider?: string): Promise<readonly ProviderListing[]>;
}

/** A provider and what it offers, as far as that could be found out. */
export interface ProviderListing {
  readonly provider: string;
  readonly api: string;
  readonly baseUrl: string;
  readonly local: boolean;
  /** Why no request could be made; absent when one could. */
  readonly missing?: string;
  /** Why its own list could not be had; `models` is what is known without it. */
  readonly failure?: ErrorData;
  readonly models: readonly ModelListing[];
}

export interface ModelListing extends ModelFacts {
  readonly id: string;
  /** Who says that it is there: our table, the provider itself, or the person's settings. */
  readonly source: 'catalogue' | 'server' | 'settings';
  /** The one that is asked when nobody names any. At most one of all listings. */
  readonly isDefault: boolean;
}
