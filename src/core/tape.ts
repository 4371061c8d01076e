// The tape: the append-only tree of entries that is a session, in pi's session format version 3 with our
// own fields beside it. What the runtime, the engine and tests know of storage is this and no more.

import type { SessionInfo } from './conversation.ts';
import type { Message, UserMessage } from './message.ts';
import type { Usage } from './usage.ts';

export const TAPE_VERSION = 3;

/** The first line of a file. */
export interface TapeHeader {
  readonly type: 'session';
  readonly version: number;
  readonly id: string;
  /** ISO 8601, as in every entry. */
  readonly timestamp: string;
  readonly cwd: string;
  readonly agent?: string;
  readonly sender?: string;
  /** The file that this session was forked from. */
  readonly parentSession?: string;
}

interface EntryBase {
  readonly id: string;
  /** Null for the first entry of a branch that starts from nothing. */
  readonly parentId: string | null;
  readonly timestamp: string;
}

/** What is appended; the tape adds id, parent and time. */
export type EntryBody =
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'model_change'; readonly provider: string; readonly modelId: string }
  | { readonly type: 'thinking_level_change'; readonly thinkingLevel: string }
  | { readonly type: 'session_info'; readonly name: string }
  | { readonly type: 'label'; readonly targetId: string; readonly label: string | undefined }
  | { readonly type: 'active_tools_change'; readonly tools: readonly string[] }
  | CompactionBody
  /** What was said on a branch that was left, told where the conversation went on. */
  | {
      readonly type: 'branch_summary';
      readonly fromId: string;
      readonly summary: string;
      readonly details?: FilesTouched;
    }
  /** A message of an extension that the model sees. */
  | {
      readonly type: 'custom_message';
      readonly customType: string;
      readonly content: UserMessage['content'];
      /** Whether a person sees it, too. */
      readonly display: boolean;
      readonly details?: unknown;
    }
  /** Moves the head of the tree: the next entry's parent is `targetId`. */
  | { readonly type: 'leaf'; readonly targetId: string | null }
  /** Data of an extension or of Crab's own; not part of what the model sees unless its type says so. */
  | { readonly type: 'custom'; readonly customType: string; readonly data: unknown };

/** From here on the model sees the summary, and what follows from `firstKeptEntryId` on; the tape keeps everything. */
export interface CompactionBody {
  readonly type: 'compaction';
  readonly summary: string;
  readonly firstKeptEntryId: string;
  /** By the provider's count of the request before. */
  readonly tokensBefore: number;
  readonly details?: FilesTouched & {
    /** The first sentence of the summary, at most 60 characters. */
    readonly title?: string;
    /** The memory that holds the summary. */
    readonly archiveName?: string;
    /** ISO 8601. */
    readonly archivedAt?: string;
  };
}

/** Paths, as the calls named them. */
export interface FilesTouched {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

export type Entry = EntryBase & EntryBody;

export interface Appended {
  readonly entries: readonly Entry[];
  /** Resolves when the entries are durable (law 4); rejects with `CrabError` when they never will be. */
  readonly synced: Promise<void>;
}

/** One session, open for writing by this process alone. */
export interface Tape {
  readonly header: TapeHeader;
  /** Undefined for a tape in memory. */
  readonly path: string | undefined;
  /** What opening it had to mend, in sentences for the person. */
  readonly notices: readonly string[];
  /** The entry that the next one hangs from. */
  readonly leafId: string | null;
  info(): SessionInfo;
  /** From the root to the head, in order. The array is the tape's own and grows with it. */
  branch(): readonly Entry[];
  /**
   * Writes entries in one step, in order, and starts their sync at once. Throws `CrabError`
   * (`storage-full`, `storage-failed`); then nothing of them is on the tape.
   */
  append(bodies: readonly EntryBody[]): Appended;
  /** The text of a message that is still arriving, kept unsynced beside the file until the next append of a message. */
  partial(message: PartialMessage): void;
  /** Resolves when everything appended so far is durable. */
  settled(): Promise<void>;
  /** Settles, releases the lock. Appending afterwards throws. */
  close(): Promise<void>;
}

/** What opening turns into an interrupted assistant message when the process died in the middle of it. */
export interface PartialMessage {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly text: string;
  readonly usage?: Usage;
}

export interface NewTape {
  readonly agent: string;
  /** Given the session's id, since a client of its own is named after it. */
  readonly sender: (sessionId: string) => string;
  readonly cwd: string;
  /** A ULID of the caller's choice. */
  readonly id?: string;
  readonly name?: string;
}

/** Where sessions are kept. Every method throws `CrabError` of the session and storage families. */
export interface Tapes {
  /** Nothing is written until the first append. */
  create(options: NewTape): Promise<Tape>;
  /** Opens and locks a file: `session-held` names the process that has it. */
  open(path: string): Promise<Tape>;
  /** The file whose id begins with `id`. */
  find(id: string): Promise<string>;
  /** The file of the newest session of a folder that no live process holds. */
  latest(agent: string, cwd: string): Promise<string | undefined>;
  list(filter?: { readonly agent?: string; readonly cwd?: string }): Promise<readonly SessionInfo[]>;
}
