// Going back: to any prompt of a conversation, with the files that were changed since, or with one of the two alone. What
// the runtime offers its commands; how the files are kept is a part's own affair.

/** What goes back: the files, the conversation, or both. */
export type RewindWhat = 'both' | 'files' | 'conversation';

/** A prompt that can be gone back to: everything from it on is undone. */
export interface RewindPoint {
  /** 1 for the last prompt. */
  readonly number: number;
  /** The id of its entry. */
  readonly entry: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly text: string;
  /** Files and folders that were changed from this prompt to the next. */
  readonly files: number;
}

export interface RewindRequest {
  readonly what: RewindWhat;
  /** Only tell what would change. */
  readonly dryRun: boolean;
}

/** What going back did, or would do. Paths are absolute. */
export interface RewindReport {
  /** Put back as they were; `merged`: with what the person changed in between. */
  readonly restored: readonly { readonly path: string; readonly how: 'restored' | 'merged' | 'removed' }[];
  /** The person's file is as it was; `beside` holds the other version, where there is one. */
  readonly conflicts: readonly { readonly path: string; readonly why: string; readonly beside?: string }[];
  /** Left as they are, because what they were is not kept, or the way to them is not safe. */
  readonly unavailable: readonly { readonly path: string; readonly why: string }[];
  /** What commands may have changed unseen since then, in sentences. */
  readonly uncovered: readonly string[];
  /** The text of the prompt that was gone back to; absent where the conversation stayed. */
  readonly prompt?: string;
}

/** Throws `CrabError`: `rewind-unknown` for a point that is not there. */
export interface Rewinding {
  /** The last prompt first. */
  points(): Promise<readonly RewindPoint[]>;
  /** To before the prompt, by its number or the beginning of its entry's id. */
  rewind(to: string, request: RewindRequest): Promise<RewindReport>;
  /** Undoes the last rewind, unless the conversation went on since. */
  redo(options: { readonly dryRun: boolean }): Promise<RewindReport>;
  /** What is kept of this workspace and what is not. */
  coverage(): Promise<HistoryCoverage>;
}

export interface HistoryCoverage {
  /** False where nothing is kept: the session leaves nothing behind, or the person turned it off. */
  readonly enabled: boolean;
  /** Bytes on disk for this workspace and for all of them, and how many there may be. */
  readonly workspaceBytes: number;
  readonly totalBytes: number;
  readonly quotaBytes: number;
  /** Files whose content is kept before a command runs; absent until one has run. */
  readonly files?: number;
  /** What commands can change without it being kept, relative to the workspace. */
  readonly uncovered: readonly { readonly path: string; readonly why: string }[];
}
