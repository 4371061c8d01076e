// An agent: a named declaration of who answers and what it may use. The declaration is the grant (law 8).

import type { Effort } from './model.ts';
import type { PermissionMode, Rule } from './permission.ts';
import type { JsonSchema } from './schema.ts';
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
  /** The tools it may see; absent for all of them. */
  readonly tools?: readonly string[];
}

/** Bounds of one run, chosen at the edge and enforced by the engine before each request. */
export interface Limits {
  /** Exchanges with the model. */
  readonly turns?: number;
  readonly budget?: BudgetSettings;
  /** Tokens that the model may write in one message. */
  readonly maxTokens?: number;
  readonly context?: ContextLimits;
}

/** How full a model's context may become, chosen at the edge. Shares are of the model's window, between 0 and 1. */
export interface ContextLimits {
  /** From here on requests leave out most of old tool results; the tape keeps them. */
  readonly snipAt?: number;
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
  readonly rules: readonly Rule[];
  /** Folders beside the working directory that count as inside. Absolute. */
  readonly directories: readonly string[];
  /** Tool names that are not offered at all. */
  readonly withoutTools: readonly string[];
  readonly limits: Limits;
  readonly instructions: Instructions;
  /** Whether somebody can answer questions. If not, what would be asked is refused (law 3). */
  readonly canAsk: boolean;
  /** The run must end with a value of this shape. */
  readonly outputSchema?: JsonSchema;
}
