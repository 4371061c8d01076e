// A tool: what a model may call. It declares itself as data, says of each input what it would touch, and
// reaches the world only through its context, so that it can run in a worker or on another machine.

import type { Address } from './conversation.ts';
import type { Display } from './display.ts';
import type { Event, MemoryLoaded, MemorySaved, Notification } from './event.ts';
import type { Clock, Exec, Files, OpenProcess } from './host.ts';
import type { Jobs } from './job.ts';
import type { InputContent } from './message.ts';
import type { Access, PermissionMode, Verdict, Withheld } from './permission.ts';
import type { Answer, Question } from './question.ts';
import type { JsonObject, JsonSchema } from './schema.ts';

/** Who vouches for a tool: it selects how much its word is trusted. */
export type ToolSource = 'builtin' | 'extension' | 'mcp';

export interface CallPlan {
  readonly access: Access;
  /** May run beside other calls that say the same, and before the message has ended. */
  readonly parallel: boolean;
  /** Running it twice does no harm, so it need not wait until its call is on disk. */
  readonly repeatable: boolean;
}

export interface ToolOutput {
  readonly content: readonly InputContent[];
  readonly isError: boolean;
  readonly display?: Display;
}

export interface Identity {
  readonly agent: string;
  readonly sender: string;
  readonly session: string;
  /** The session is written nowhere, and ends with its process. */
  readonly isPassing?: boolean;
  /** Absolute; where relative paths begin. */
  readonly cwd: string;
  readonly mode: PermissionMode;
  /** Of a task that was passed on: the conversation that the first one came from. */
  readonly origin?: Address;
}

/** Values of one conversation that outlive the process. Values are JSON; a set value is on disk with the call's result. */
export interface ToolState {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** A tool as `tool_search` sees it. */
export interface KnownTool {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly keywords: readonly string[];
  readonly input: JsonSchema;
  /** The model is sent it with every request. */
  readonly isOffered: boolean;
}

/** All that the conversation may use, whether the model is sent it or not. */
export interface ToolDirectory {
  list(): readonly KnownTool[];
  /** From the next request on the model is sent these, too, for the rest of the session. Unknown names are left out. */
  offer(names: readonly string[]): void;
}

/** What a tool may change about its conversation. It takes effect before the next request. */
export interface ToolControl {
  setMode(mode: PermissionMode): Promise<void>;
  setName(name: string): Promise<void>;
  /** Requests leave out most of long tool results that came before this call; the tape keeps them. */
  snip(): Promise<void>;
  /**
   * Goes on in another folder, which is the workspace from then on, or with undefined in the one that the conversation
   * was opened in. Deny rules of that one hold in both. It lasts as long as this process has the conversation open.
   */
  setFolder(path: string | undefined): Promise<void>;
}

/** A task for another agent, which carries it out in a conversation of its own. */
export interface Subrun {
  readonly agent: string;
  readonly prompt: string;
  /** In a few words, for those who look on. */
  readonly title: string;
  /** Where it begins, in place of the caller's folder. Absolute. */
  readonly cwd?: string;
  /** It may outlive the run that began it, so that nobody can be asked. */
  readonly isBackground: boolean;
}

/** Somebody who can be given a task. */
export interface Peer {
  readonly name: string;
  readonly description: string;
}

/** `prompt` is data of the tool's; what the model is to do with it stands in `system`. */
export interface ModelQuestion {
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens: number;
}

export interface ToolContext {
  readonly callId: string;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly exec: Exec;
  readonly open: OpenProcess;
  readonly files: Files;
  readonly jobs: Jobs;
  readonly tools: ToolDirectory;
  readonly control: ToolControl;
  readonly state: ToolState;
  /**
   * Which files a call that may look through a folder must leave out all the same, because a permission rule is about
   * them or their names are those of secrets. Undefined when there are none such.
   */
  withheld(): Promise<Withheld | undefined>;
  /**
   * What rules and mode say, at this moment, of something that turned up in the middle of the call, such as the target of
   * a redirect. Nobody is asked: where it says `ask`, the tool leaves that undone and says so. It may be called for as
   * long as the conversation is open.
   */
  permits(access: Access): Promise<Verdict>;
  /** The run's own folder (mode 0700) for output too long to show; made on first use. */
  scratch(): Promise<string>;
  /** Shown while the call runs, never sent to the model. */
  output(text: string): void;
  progress(display: Display): void;
  /** Reaches the person whatever the channel shows of calls. */
  notify(notification: Omit<Notification, 'type' | 'id'>): void;
  /** Rejects when nobody can be asked. */
  ask(question: QuestionBody): Promise<Answer>;
  readonly peers: readonly Peer[];
  /** The person trusts the project here, so that what it says may be obeyed (law 11). Absent: no. */
  readonly trusted?: boolean;
  /**
   * One question to a model for light work, outside of the conversation: counted and paid like every request of the run.
   * Throws `CrabError`. Absent where there is no such model.
   */
  consult?(question: ModelQuestion): Promise<string>;
  /**
   * Runs a task to its end, of which the last event tells (`runEnd`). It may do no more than the caller, draws on the same
   * budgets, and asks the person who can be asked here. Throws `ToolFailure` when it cannot begin. Aborting cancels it.
   */
  run(subrun: Subrun, signal: AbortSignal): AsyncIterable<readonly Event[]>;
  /** Tells of what a memory was used for. */
  remembered(event: MemoryLoaded | MemorySaved): void;
}

/** A question without what the runtime adds to it. */
export type QuestionBody = Question extends infer Q
  ? Q extends Question
    ? Omit<Q, 'id' | 'callId'>
    : never
  : never;

/**
 * Every method is asynchronous and takes and returns plain data (the context apart), so that the same
 * interface can stand before a worker. Inputs are already coerced and valid against `input`.
 */
export interface Tool {
  /** Lower case, `[a-z0-9_-]{1,64}`. */
  readonly name: string;
  /** Other names that models and rules know it by. */
  readonly aliases?: readonly string[];
  readonly source: ToolSource;
  /** Sent to the model with every request: each sentence must earn its place. */
  readonly description: string;
  /** Words that somebody looks for it by and that its description does without; never sent. */
  readonly keywords?: readonly string[];
  readonly input: JsonSchema;
  /** The model is not sent it until `tool_search` has found it: for what few conversations need. */
  readonly isDeferred?: boolean;
  /** It speaks with the person: not shown where nobody can be asked. */
  readonly asksPerson?: boolean;
  /** The system prompt names the agents that can be turned to. */
  readonly listsAgents?: boolean;
  /** Lines for the system prompt, each a rule about using this tool. */
  readonly guidelines?: readonly string[];
  /** Repairs what models commonly get wrong, before coercion. `called` is the name that the model used; absent: its own. */
  prepare?(input: JsonObject, called?: string): JsonObject;
  plan(input: JsonObject, cwd: string): Promise<CallPlan>;
  /** Throws `ToolFailure` for what the model can put right; anything else it throws is a fault of the tool. */
  run(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
  /** What of its work is still to be done, one a line, once the messages that said so are summarised. */
  open?(state: Pick<ToolState, 'get'>): Promise<readonly string[]>;
  /** The call as a person sees it before it has run. */
  show(input: JsonObject): Promise<Display>;
}

export function textOutput(text: string, display?: Display): ToolOutput {
  return { content: [{ type: 'text', text }], isError: false, ...(display && { display }) };
}

export function errorOutput(text: string): ToolOutput {
  return { content: [{ type: 'text', text }], isError: true };
}
