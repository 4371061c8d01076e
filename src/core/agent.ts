// An agent: a named declaration of who answers and what it may use. The declaration is the grant (law 8).

import type { Effort } from './model.ts';
import type { PermissionMode, Rule } from './permission.ts';
import type { SandboxPolicy } from './sandbox.ts';
import type { JsonObject, JsonSchema } from './schema.ts';
import type { BudgetSettings } from './settings.ts';

export const DEFAULT_AGENT = 'crab';

export interface Agent {
  readonly name: string;
  /** `PROVIDER/ID` or `ID`, as the other models; absent where the person named none. */
  readonly model?: string;
  readonly effort?: Effort;
  /** What holds where neither the person nor the session says otherwise. */
  readonly defaults?: { readonly model?: string; readonly effort?: Effort };
  /** Where to turn, in order, when the model fails. */
  readonly fallbackModels?: readonly string[];
  /** In place of `model` while the permission mode is `plan`. */
  readonly planModel?: string;
  /** For light work. */
  readonly smallModel?: string;
  readonly fast?: boolean;
  /** The tools it may see, by any of their names, `*` standing for any letters; absent for all of them. */
  readonly tools?: readonly string[];
  /** The tools that it may not see all the same, named in the same way. */
  readonly withoutTools?: readonly string[];
  /** The skills it may load; absent for all of them. */
  readonly skills?: readonly string[];
  /** The servers it brings, by name. */
  readonly mcps?: Readonly<Record<string, JsonObject>>;
}

/** An agent as others may turn to it, whole and by value: a guest who answers, or somebody who is given a task. */
export interface AgentProfile {
  readonly agent: Agent;
  /** When to turn to it. One line. */
  readonly description: string;
  /** In place of the built-in system prompt; empty for that one. */
  readonly prompt: string;
  /** The most that it may: of this mode and that of whoever turns to it the more careful one holds. */
  readonly mode?: PermissionMode;
  readonly limits?: AgentLimits;
  /** It has no grant of its own: of its tools it may use those that whoever gives it a task may use, too. */
  readonly borrows?: boolean;
  /** What its file asks for and does not get, in sentences: whoever turns to it is told. */
  readonly notes?: readonly string[];
}

export interface AgentLimits {
  readonly turns?: number;
  readonly maxTokens?: number;
  readonly runUsd?: number;
}

/** Bounds of one run, chosen at the edge and enforced by the engine before each request. */
export interface Limits {
  /** Exchanges with the model. */
  readonly turns?: number;
  /** Of a task that is given to another agent; `turns` where it is absent. */
  readonly delegatedTurns?: number;
  readonly budget?: BudgetSettings;
  /** Tokens that the model may write in one message. */
  readonly maxTokens?: number;
  readonly context?: ContextLimits;
}

/** How full a model's context may become, chosen at the edge. Shares are of the model's window, between 0 and 1. */
export interface ContextLimits {
  /** From here on requests leave out most of old tool results; the tape keeps them. */
  readonly snipAt?: number;
  /** A model is asked for a line in the place of each old result that is left out as a whole. */
  readonly tellsResults?: boolean;
  /** Tokens of the newest messages that a compaction leaves as they are, by estimate. 0: it leaves the summary alone. */
  readonly keepRecentTokens?: number;
  /** When more tokens than this are used, the next request waits a moment for somebody to ask for a compaction. */
  readonly pauseAt?: { readonly share: number; readonly reserveTokens: number };
}

/** A file of instructions that was found for this folder, nearest last. */
export interface InstructionFile {
  readonly path: string;
  readonly text: string;
}

export interface Instructions {
  /** The person gave `system` or `append` with this command; what a session recorded earlier does not count then. */
  readonly given: boolean;
  /** Takes the place of the built-in prompt. */
  readonly system?: string;
  readonly append: readonly string[];
  readonly files: readonly InstructionFile[];
  /** Facts about where we are, one a line: date, folder, branch. */
  readonly environment: readonly string[];
}

/** Everything that was decided at the edge about one conversation, as one plain value. */
export interface Declaration {
  readonly agent: Agent;
  readonly mode: PermissionMode;
  /** The most that the mode may become. Absent for no bound. */
  readonly modeCeiling?: PermissionMode;
  readonly rules: readonly Rule[];
  /** Folders beside the working directory that count as inside. Absolute. */
  readonly directories: readonly string[];
  /** How programs that tools start are confined, and where file tools may write. */
  readonly sandbox: SandboxPolicy;
  /** Tool names that are not offered at all; `*` stands for any letters. */
  readonly withoutTools: readonly string[];
  /** What is offered of the agent's tools: somebody narrowed them for this conversation. Absent for all of them. */
  readonly onlyTools?: readonly string[];
  /** Those that may be turned to, beside the ones that Crab brings. Absent for none. */
  readonly agents?: readonly AgentProfile[];
  readonly limits: Limits;
  readonly instructions: Instructions;
  /** The person trusts the project here, so that what it says may be obeyed (law 11). Absent: no. */
  readonly trusted?: boolean;
  /** Whether somebody can answer questions. If not, what would be asked is refused (law 3). */
  readonly canAsk: boolean;
  /** The run must end with a value of this shape. */
  readonly outputSchema?: JsonSchema;
}
