// The only way that a capability enters: built-in tools and a person's own use the same door. Methods are
// asynchronous and speak plain data, so that an extension may live in a worker.

import type { CommandInfo, Effect } from './command.ts';
import type { SessionInfo } from './conversation.ts';
import type { CompactEnd, Event } from './event.ts';
import type { Jobs } from './job.ts';
import type { Effort, RateLimit } from './model.ts';
import type { Access, Decision, Rule } from './permission.ts';
import type { Rewinding } from './rewind.ts';
import type { JsonObject } from './schema.ts';
import type { FilesTouched, TreeRow } from './tape.ts';
import type { Identity, Tool, ToolContext, ToolOutput } from './tool.ts';
import type { BudgetState, UsageSummary } from './usage.ts';

export interface CallInfo {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** What it declared that it would touch. */
  readonly access: Access;
  readonly identity: Identity;
}

/** What a command may do to its conversation, beside answering. */
export interface CommandContext {
  /** As it is at this moment: a control may have changed it. */
  identity(): Identity;
  session(): SessionInfo;
  /** What was said, on every branch, in the order of writing. */
  tree(): Promise<readonly TreeRow[]>;
  readonly commands: readonly CommandInfo[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    /** The model is sent it; else it has to find it first. */
    readonly isOffered: boolean;
  }[];
  /** The model's name as resolved; throws `CrabError` when there is none. */
  model(): Promise<string>;
  /** What the model's provider last said of its limits; undefined when it was not asked yet. */
  rateLimit(): Promise<RateLimit | undefined>;
  /** Undefined: as the model likes. */
  effort(): Effort | undefined;
  fast(): boolean;
  /** What the session's requests came to, by model, and how its budgets stand. */
  usage(): Promise<SessionUsage>;
  /** The rules and folders that hold at this moment. */
  permissions(): { readonly rules: readonly Rule[]; readonly directories: readonly string[] };
  /** Whether the person trusts the project here, after `decision` if there is one; undefined where nobody keeps that. */
  trust(decision?: boolean): Promise<TrustState | undefined>;
  control(control: Control): Promise<void>;
  /** Going back to an earlier prompt, with or without the files. */
  rewinding(): Promise<Rewinding>;
  /** Compacts at once, and tells of it in events; undefined when there is nothing to compact. */
  compact(focus: string): Promise<CompactEnd | undefined>;
  /** Asks a model for a title of what was said. Throws `CrabError`. */
  title(): Promise<string>;
  /**
   * Has a model tell what was said on the way that a move to `target` would leave; undefined where that is nothing. Throws
   * `CrabError`.
   */
  summariseLeft(
    target: EntryName | null,
    focus: string,
  ): Promise<{ readonly summary: string; readonly files: FilesTouched } | undefined>;
  /**
   * Has a model find what of the conversation will matter in others, and keeps it as notes of the project. Resolves with
   * their names. Throws `CrabError`.
   */
  learn(focus: string): Promise<readonly string[]>;
  /** Has a model find notes that say the same, and merges them. Throws `CrabError`. */
  consolidate(request: ConsolidationRequest): Promise<Consolidation>;
  /** What fills the model's context. */
  contextUse(): Promise<ContextUse>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The background work of the conversation. */
  readonly jobs: Pick<Jobs, 'list' | 'stop'>;
}

export interface ConsolidationRequest {
  readonly scope: 'project' | 'user';
  /** Only to tell what would be merged. */
  readonly dryRun: boolean;
}

export interface Consolidation {
  readonly merges: readonly {
    readonly name: string;
    /** Names of the notes that it takes the place of, its own among them. */
    readonly from: readonly string[];
    readonly content: string;
  }[];
  /** The folder with the notes as they were; absent where nothing was changed. */
  readonly kept?: string;
}

export interface TrustState {
  /** The folder that was decided on, with every link followed. */
  readonly root: string;
  /** Undefined: never decided. */
  readonly trusted: boolean | undefined;
}

/** What fills a model's context. The rows add up to `tokens`. */
export interface ContextUse {
  readonly model?: string;
  readonly window?: number;
  readonly tokens: number;
  /** `tokens` is the provider's count; else an estimate, as the share of each row always is. */
  readonly isCounted: boolean;
  readonly rows: readonly { readonly kind: string; readonly tokens: number }[];
  /** Tokens of the window that are kept free for an answer. */
  readonly reserve: number;
}

export interface SessionUsage {
  readonly models: readonly UsageSummary[];
  readonly budgets: readonly BudgetState[];
}

/** Changes to a conversation that take effect at the next step boundary. */
export type Control =
  | { readonly kind: 'setMode'; readonly mode: string }
  | { readonly kind: 'setModel'; readonly model: string }
  | { readonly kind: 'setEffort'; readonly effort: string }
  | { readonly kind: 'setFast'; readonly fast: boolean }
  | { readonly kind: 'setName'; readonly name: string }
  /** For the rest of the session. Throws `CrabError` (`usage`) for a rule that cannot be read. */
  | { readonly kind: 'addRule'; readonly decision: Decision; readonly rule: string }
  /** Counts as the workspace as long as the conversation is open. Absolute; throws `CrabError` (`usage`) when it is no folder. */
  | { readonly kind: 'addDirectory'; readonly path: string }
  /** Start again from nothing: a new session takes this one's place; the old one stays. */
  | { readonly kind: 'newSession' }
  /** Mark this point; what came before leaves the model's view and stays on the tape. */
  | { readonly kind: 'anchor'; readonly name: string; readonly summary: string }
  /** Put a summary in the place of the older messages. While a run is in flight it happens before its next request. */
  | { readonly kind: 'compact'; readonly focus?: string }
  /** The newest compaction no longer counts: the model sees again what it had taken the place of. */
  | { readonly kind: 'uncompact' }
  /** A new session takes this one's place: this branch up to an entry, or with `everything` every branch. */
  | { readonly kind: 'fork'; readonly at?: EntryName; readonly everything?: boolean }
  /** Go on from an entry; null for the beginning. The summary, if any, is what the model is told of the way left. */
  | {
      readonly kind: 'moveTo';
      readonly target: EntryName | null;
      readonly summary: string;
      /** That were read and changed on the way left. */
      readonly files?: FilesTouched;
    }
  /** Absent: the last message. An empty label takes it away. */
  | { readonly kind: 'label'; readonly target?: EntryName; readonly label: string };

/** An id, one of its ends, or a label; `entry-unknown` is thrown where that names none or several. */
export type EntryName = string;

export interface Command extends CommandInfo {
  run(args: string, context: CommandContext): Promise<Effect>;
}

export interface Extension {
  readonly name: string;
  tools?(): Promise<readonly Tool[]>;
  commands?(): Promise<readonly Command[]>;
  /** A paragraph for the system prompt. */
  prompt?(): Promise<string>;
  /** Replaces a prompt before it enters the conversation; undefined leaves it as it is. */
  preprocess?(text: string, identity: Identity): Promise<string | undefined>;
  /** May refuse a call; the reason is told to the model. */
  beforeCall?(call: CallInfo): Promise<{ readonly block: true; readonly reason: string } | undefined>;
  /** May replace a result; the model waits for it. The context is the one that the call had. */
  afterCall?(call: CallInfo, output: ToolOutput, context: ToolContext): Promise<ToolOutput | undefined>;
  /** The model has nothing more to do: a returned text sends it back to work. */
  beforeStop?(identity: Identity, text: string): Promise<{ readonly retry: string } | undefined>;
  /** Told after the fact; slow listeners delay nobody. */
  onEvents?(events: readonly Event[], identity: Identity): Promise<void>;
  /** The conversation is over: resolves when nothing is left of what was opened for it. */
  close?(identity: Identity): Promise<void>;
}
