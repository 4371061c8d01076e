// A tool: what a model may call. It declares itself as data, says of each input what it would touch, and
// reaches the world only through its context, so that it can run in a worker or on another machine.

import type { Display } from './display.ts';
import type { Exec, Files } from './host.ts';
import type { InputContent } from './message.ts';
import type { Access, PermissionMode } from './permission.ts';
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
  /** Absolute; where relative paths begin. */
  readonly cwd: string;
  readonly mode: PermissionMode;
}

/** Values of one conversation that outlive the process. Values are JSON; a set value is on disk with the call's result. */
export interface ToolState {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

export interface ToolContext {
  readonly callId: string;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  readonly exec: Exec;
  readonly files: Files;
  readonly state: ToolState;
  /**
   * Which files a call that may look through a folder must leave out all the same, because a permission rule is about
   * them: a test of absolute paths with every link followed. Undefined when there is no such rule.
   */
  withheld(): Promise<((path: string) => boolean) | undefined>;
  /** The run's own folder (mode 0700) for output too long to show; made on first use. */
  scratch(): Promise<string>;
  /** Shown while the call runs, never sent to the model. */
  output(text: string): void;
  progress(display: Display): void;
  /** Rejects when nobody can be asked. */
  ask(question: QuestionBody): Promise<Answer>;
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
  readonly input: JsonSchema;
  /** Lines for the system prompt, each a rule about using this tool. */
  readonly guidelines?: readonly string[];
  /** Repairs what models commonly get wrong, before coercion. */
  prepare?(input: JsonObject): JsonObject;
  plan(input: JsonObject, cwd: string): Promise<CallPlan>;
  /** Throws `ToolFailure` for what the model can put right; anything else it throws is a fault of the tool. */
  run(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
  /** The call as a person sees it before it has run. */
  show(input: JsonObject): Promise<Display>;
}

export function textOutput(text: string, display?: Display): ToolOutput {
  return { content: [{ type: 'text', text }], isError: false, ...(display && { display }) };
}

export function errorOutput(text: string): ToolOutput {
  return { content: [{ type: 'text', text }], isError: true };
}
