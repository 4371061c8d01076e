// Everything that a run says, in one union. Channels, hosts and tapes live on it; each of its outward
// forms is one total mapping in `faces`, so that a new event fails to compile until every face has an answer.

import type { Effect } from './command.ts';
import type { Display } from './display.ts';
import type { ErrorData } from './errors.ts';
import type { AssistantMessage, ToolResultMessage, UserMessage } from './message.ts';
import type { ModelRetry } from './model.ts';
import type { PermissionMode } from './permission.ts';
import type { Question } from './question.ts';
import type { Usage } from './usage.ts';

export type Event =
  | RunStart
  /** The prompt is on disk: it will not be lost from here on. */
  | { readonly type: 'promptAccepted'; readonly message: UserMessage }
  /** One exchange with the model begins; `turn` counts from 1. */
  | { readonly type: 'turnStart'; readonly turn: number }
  | { readonly type: 'messageStart'; readonly id: string; readonly model: string }
  | { readonly type: 'contentDelta'; readonly index: number; readonly delta: string }
  | { readonly type: 'thinkingDelta'; readonly index: number; readonly delta: string }
  | { readonly type: 'toolUseStart'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'toolUseDelta'; readonly id: string; readonly delta: string }
  | { readonly type: 'contentBlockStop'; readonly index: number }
  /** The answer is complete and on disk; it replaces the deltas before it. */
  | { readonly type: 'messageEnd'; readonly message: AssistantMessage }
  /** A call passed every check and runs. */
  | {
      readonly type: 'toolStart';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly display: Display;
    }
  | { readonly type: 'toolOutputDelta'; readonly id: string; readonly delta: string }
  | { readonly type: 'toolProgress'; readonly id: string; readonly display: Display }
  | {
      readonly type: 'toolResult';
      readonly message: ToolResultMessage;
      readonly display?: Display;
      readonly durationMs: number;
    }
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'questionAnswered'; readonly id: string; readonly allowed?: boolean }
  /** A call was refused before it ran. Its `toolResult` follows. */
  | PermissionDenied
  | (ModelRetry & { readonly model: string })
  | RequestEnd
  | Recovery
  | ContextUsage
  | CompactStart
  | CompactEnd
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string }
  /** The outcome of a line that was a command. */
  | { readonly type: 'commandResult'; readonly name: string; readonly effect: Effect }
  | { readonly type: 'shellStart'; readonly command: string }
  | { readonly type: 'shellOutput'; readonly delta: string }
  | {
      readonly type: 'shellEnd';
      readonly command: string;
      readonly exitCode: number | null;
      readonly timedOut: boolean;
    }
  | RunEnd;

export type EventType = Event['type'];

export interface RunStart {
  readonly type: 'runStart';
  readonly agent: string;
  readonly sender: string;
  readonly session: string;
  readonly cwd: string;
  /** Absent when no model is needed. */
  readonly model?: { readonly provider: string; readonly id: string };
  /** Where the key comes from, as in `Model.credential`. */
  readonly credential?: string;
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
}

export interface PermissionDenied {
  readonly type: 'permissionDenied';
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason: string;
}

/**
 * What a request was sent for: a step of the loop, another try of the same request, the next model of the chain, a
 * repaired request, the value that the run must end with, or the summary of a compaction.
 */
export type RequestCause = 'turn' | 'retry' | 'fallback' | 'recovery' | 'structured' | 'compaction';

/** `retried`: the try failed and another follows. `aborted`: somebody stopped it. */
export type RequestOutcome = 'done' | 'retried' | 'failed' | 'aborted';

/** Who said what a request cost: the provider itself, or the table of prices; `unknown` counts as zero. */
export type Priced = 'provider' | 'table' | 'unknown';

/** One try of one request to a model is over, however it ended. */
export interface RequestEnd {
  readonly type: 'requestEnd';
  readonly provider: string;
  readonly model: string;
  readonly cause: RequestCause;
  readonly outcome: RequestOutcome;
  /** The HTTP status of a failure. */
  readonly status?: number;
  /** What the provider had counted; nothing where it did not say. */
  readonly usage: Usage;
  readonly priced: Priced;
  /** An estimate of what an answer that broke off cost beside `usage`, in US dollars: budgets count it, sums do not. */
  readonly unreportedUsd?: number;
  /** Milliseconds until the answer began; absent when it never did. */
  readonly ttftMs?: number;
  readonly durationMs: number;
  /** Output tokens for each second from the beginning of the answer to its end. */
  readonly tokensPerSecond?: number;
}

/** After each answer: how full the model's context is, by the provider's own count. */
export interface ContextUsage {
  readonly type: 'contextUsage';
  readonly tokens: number;
  readonly window?: number;
  /** More is used than `Limits.context.pauseAt` allows: the next request is held back for a moment, for a `compact`. */
  readonly waiting?: boolean;
}

/** `summary`: everything said so far is summarised. `hybrid`: the newest messages stay as they are. */
export interface CompactStart {
  readonly type: 'compactStart';
  readonly strategy: 'summary' | 'hybrid';
  /** By the provider's count of the last request; 0 where it has not counted yet. */
  readonly tokensBefore: number;
  /** Messages that the summary takes the place of. */
  readonly messages: number;
}

/** The model sees the summary from here on; it is on disk. `failed` and `aborted`: nothing has changed. */
export interface CompactEnd {
  readonly type: 'compactEnd';
  readonly outcome: 'done' | 'failed' | 'aborted';
  readonly tokensBefore: number;
  /** An estimate, since only the next request is counted. */
  readonly tokensAfter: number;
  readonly removedMessages: number;
  /** Who wrote the summary: a model, or patterns in the text where no model could. Absent when there is none. */
  readonly writtenBy?: 'model' | 'patterns';
  /** The first sentence of the summary, at most 60 characters. */
  readonly title?: string;
  /** The memory that holds the summary. */
  readonly archiveName?: string;
}

/** The engine mended something by itself, within its bounds; `attempt` counts from 1. */
export interface Recovery {
  readonly type: 'recovery';
  readonly cause: 'promptTooLong' | 'outputLimit' | 'fallbackModel' | 'stopHook';
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly detail: string;
}

/** Why a run ended. `done`: the model had nothing more to do. `command`: no model was needed. */
export type Outcome = 'done' | 'command' | 'cancelled' | 'turnLimit' | 'budget' | 'refused' | 'failed';

export interface RunEnd {
  readonly type: 'runEnd';
  readonly outcome: Outcome;
  readonly error?: ErrorData;
  /** The text of the last assistant message; for a command or a shell line, its output. */
  readonly text: string;
  readonly turns: number;
  /** All requests of the run together. */
  readonly usage: Usage;
  readonly durationMs: number;
  /** Milliseconds spent waiting for providers. */
  readonly apiMs: number;
  readonly denials: readonly PermissionDenied[];
  /** The value that a `--json-schema` run ended with. */
  readonly structured?: unknown;
}
