// Everything that a run says, in one union. Channels, hosts and tapes live on it; each of its outward
// forms is one total mapping in `faces`, so that a new event fails to compile until every face has an answer.

import type { Effect } from './command.ts';
import type { Display } from './display.ts';
import type { ErrorData } from './errors.ts';
import type { AssistantMessage, ToolResultMessage, UserMessage } from './message.ts';
import type { ModelRetry } from './model.ts';
import type { PermissionMode } from './permission.ts';
import type { Question } from './question.ts';
import type { SandboxViolation } from './sandbox.ts';
import type { ModelUsage, Usage } from './usage.ts';

export type Event =
  | RunStart
  | JobFired
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
  /** The sandbox kept a call from something; its result says so, too. */
  | SandboxViolated
  | (ModelRetry & { readonly model: string })
  | RequestEnd
  | Recovery
  | ContextUsage
  | CompactStart
  | CompactEnd
  | ScopeViolation
  | AgentWorkerStarted
  | AgentWorkerCompleted
  | MemoryLoaded
  | MemorySaved
  | SessionResumed
  | SessionSaved
  | SessionNamed
  | ContextUpgraded
  | Notification
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

/** What a call has to say or to give to the person beside the answer. */
export interface Notification {
  readonly type: 'notification';
  /** The call. */
  readonly id: string;
  readonly text: string;
  /** Absolute paths of files that are meant for the person; each was there when it was said. */
  readonly files: readonly string[];
  /** The person may be looking elsewhere: ring the bell. */
  readonly urgent: boolean;
}

/** A call named what its agent has no grant for, and was refused whatever the rules say. Its `toolResult` follows. */
export interface ScopeViolation {
  readonly type: 'scopeViolation';
  readonly id: string;
  readonly agent: string;
  /** As the model named it. */
  readonly tool: string;
}

/** A task was given to another agent. */
export interface AgentWorkerStarted {
  readonly type: 'agentWorkerStarted';
  /** Of the task: its conversation is that of `agent` with `delegate:ID`. */
  readonly id: string;
  /** The call. */
  readonly callId: string;
  readonly agent: string;
  readonly task: string;
}

/** A task is over. One in the background is told of with the next request, or at the end of the run. */
export interface AgentWorkerCompleted {
  readonly type: 'agentWorkerCompleted';
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly outcome: Outcome;
  /** Its last words. */
  readonly result: string;
  /** All its requests together. Budgets count them, and so does the `runEnd` of the run that gave the task and waited. */
  readonly usage: Usage;
  /** The same by model. Absent where no run waited, whose own it would be. */
  readonly models?: ModelUsage;
  readonly durationMs: number;
}

/** A search brought memories into the conversation. */
export interface MemoryLoaded {
  readonly type: 'memoryLoaded';
  readonly count: number;
}

export interface MemorySaved {
  readonly type: 'memorySaved';
  /** Of the entry. */
  readonly name: string;
}

/** The run goes on with a session that had something in it when it was opened. Once, with the first run. */
export interface SessionResumed {
  readonly type: 'sessionResumed';
  readonly session: string;
  readonly messages: number;
}

/** Everything that was said in the run is durable. Before `runEnd`; never for a session that is kept in memory. */
export interface SessionSaved {
  readonly type: 'sessionSaved';
  readonly session: string;
}

/** The session is called so from here on. */
export interface SessionNamed {
  readonly type: 'sessionNamed';
  readonly session: string;
  readonly name: string;
}

/** The next request goes to a model that can take more than the one before. */
export interface ContextUpgraded {
  readonly type: 'contextUpgraded';
  /** `PROVIDER/ID`. */
  readonly from: string;
  readonly to: string;
  /** Tokens. */
  readonly oldWindow: number;
  readonly newWindow: number;
}

/** What made a prompt that nobody typed: it was due, or an event of the bus brought it. */
export interface Trigger {
  readonly by: 'wakeup' | 'event';
  /** Of an event. */
  readonly source?: string;
}

/** A prompt that nobody typed begins. Before `runStart`. */
export interface JobFired extends Trigger {
  readonly type: 'jobFired';
}

export interface RunStart {
  readonly type: 'runStart';
  readonly agent: string;
  /** The guest who answers in place of the agent. */
  readonly guest?: string;
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

export interface SandboxViolated extends SandboxViolation {
  readonly type: 'sandboxViolation';
  /** The call. */
  readonly id: string;
  readonly tool: string;
}

/**
 * What a request was sent for: a step of the loop, another try of the same request, the next model of the chain, a
 * repaired request, the value that the run must end with, the summary of a compaction, a title, or a question beside the
 * conversation.
 */
export type RequestCause =
  | 'turn'
  | 'retry'
  | 'fallback'
  | 'recovery'
  | 'structured'
  | 'compaction'
  | 'title'
  | 'memory'
  | 'aside';

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
  /** What the model sees in the place of the messages. */
  readonly summary?: string;
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
