// The tape: the append-only tree of entries that is a session, in pi's session format version 3 with our
// own fields beside it. What the runtime, the engine and tests know of storage is this and no more.

import type { Address, SessionInfo } from './conversation.ts';
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
  /** The file that this session was forked from, or whose agent gave it its task. */
  readonly parentSession?: string;
  /** Where this session was before it was imported. */
  readonly origin?: Origin;
}

export interface Origin {
  /** The program that wrote it, in a word. */
  readonly kind: string;
  /** Its id there. */
  readonly id?: string;
  readonly path: string;
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
    readonly carried?: CarriedLines;
  };
}

/** What every later compaction carries on, in the words that were used, the oldest first. */
export interface CarriedLines {
  readonly decisions: readonly string[];
  /** What the person wants always, or never. */
  readonly rules: readonly string[];
  /** What was said to be open; some of it may be done by now. */
  readonly unfinished: readonly string[];
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

/** What is known of an entry without reading it. */
export interface Outline {
  readonly id: string;
  readonly parentId: string | null;
  /** As in `EntryBody`, or that of an entry which this version does not know. */
  readonly type: string;
  /** Of a `message` its role, of `custom` and `custom_message` the custom type; else empty. */
  readonly detail: string;
}

/** One entry of the tree as a person is shown it. */
export interface TreeRow {
  readonly id: string;
  /** The nearest entry above that is shown, too. */
  readonly parentId: string | null;
  /** `user`, `assistant`, `toolResult`, or the entry's type or custom type. */
  readonly kind: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** One line. */
  readonly text: string;
  readonly label?: string;
  readonly isOnBranch: boolean;
}

export interface BranchPart {
  /** The entry that the branch ends with; the head when absent, nothing when null. */
  readonly to?: string | null;
  /** The first entry; the root when absent, nothing when it is not on the branch. */
  readonly from?: string;
  /** Entries that it refuses are not read. */
  wanted?(outline: Outline): boolean;
}

/**
 * One session as it can be read. Only where the entries are is in memory: each is read when it is asked for, and
 * iterations read as they go on. Reading throws `CrabError` (`storage-failed`, `session-damaged`).
 */
export interface TapeReader {
  readonly header: TapeHeader;
  /** Undefined for a tape in memory. */
  readonly path: string | undefined;
  /** What opening it had to mend or to pass over, in sentences for the person. */
  readonly notices: readonly string[];
  /** The entry that the next one hangs from. */
  readonly leafId: string | null;
  info(): SessionInfo;
  has(id: string): boolean;
  entry(id: string): Entry | undefined;
  /** From the root to the head, in order. */
  branch(part?: BranchPart): Iterable<Entry>;
  /** The way up from an entry (default: the head) to the root. */
  ancestry(id?: string | null): Iterable<Outline>;
  /** Every entry, none of them read. */
  outlines(): Iterable<Outline>;
  /** Every entry in the order of writing, parents before children. */
  entries(wanted?: (outline: Outline) => boolean): Iterable<Entry>;
  /** By entry. */
  labels(): ReadonlyMap<string, string>;
}

/** One session, open for writing by this process alone. */
export interface Tape extends TapeReader {
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
  readonly parentSession?: string;
}

/** A session that begins with entries of another. */
export interface TapeCopy extends NewTape {
  /** With their ids, parents before children; the last one is the head. */
  readonly entries: Iterable<Entry>;
  /** By entry; written behind the entries. An empty one takes a label away. */
  readonly labels?: ReadonlyMap<string, string>;
  readonly origin?: Origin;
  /** ISO 8601: when the session began, where that was not now. */
  readonly timestamp?: string;
}

/** What a list tells of a session, taken from the ends of its file. */
export interface SessionMeta extends SessionInfo {
  readonly path: string;
  readonly agent?: string;
  readonly sender?: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly updated: number;
  /** The title of the newest compaction, at most 60 characters. */
  readonly summary?: string;
  /** The beginning of what was said first, in a line, where it stands near the start of the file. */
  readonly firstPrompt?: string;
  readonly origin?: Origin;
}

export interface SessionFilter {
  readonly agent?: string;
  readonly cwd?: string;
  /** How many of the newest to pass over. */
  readonly offset?: number;
  readonly limit?: number;
  /** Those that were deleted, in place of those that are there. */
  readonly discarded?: boolean;
}

/** For whoever waits while many sessions are looked at. */
export interface ListWatch {
  /** Told as it goes on: sessions looked at so far, of so many. */
  onProgress?(read: number, all: number): void;
  /** Ends it: the list rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What is wrong with a line. `torn`: bytes behind the last whole line. */
export type TapeFault =
  | 'header'
  | 'checksum'
  | 'no-json'
  | 'no-entry'
  | 'duplicate'
  | 'parent'
  | 'target'
  | 'too-long'
  | 'torn';

export interface TapeFinding {
  /** From 1. */
  readonly line: number;
  readonly fault: TapeFault;
  /** A sentence for the person. */
  readonly text: string;
}

export interface Verification {
  readonly path: string;
  readonly bytes: number;
  readonly lines: number;
  readonly entries: number;
  /** Lines of other writers, which carry no checksum. */
  readonly unsealed: number;
  /** The first of them; `faults` is how many there are. */
  readonly findings: readonly TapeFinding[];
  readonly faults: number;
}

export interface Repair {
  /** `tail`: what stood behind the last good line was moved away. `rewritten`: the file holds what was good, and no more. */
  readonly did: 'nothing' | 'tail' | 'rewritten';
  /** The file with what was there before. */
  readonly kept?: string;
  readonly entries: number;
  /** Lines that are in `kept` alone. */
  readonly lost: readonly number[];
}

/** Where sessions are kept. Every method throws `CrabError` of the session and storage families. */
export interface Tapes {
  /** Nothing is written until the first append. */
  create(options: NewTape): Promise<Tape>;
  /** All of the entries are durable when it resolves; when it rejects, nothing of them is there. */
  copy(options: TapeCopy): Promise<Tape>;
  /** Opens and locks a file: `session-held` names the process that has it. */
  open(path: string): Promise<Tape>;
  /** Reads a file that others may have open, as far as it is written; changes nothing. */
  read(path: string): Promise<TapeReader>;
  /** The file of the session with this id or name, or whose id begins so. */
  find(text: string, filter?: Pick<SessionFilter, 'discarded'>): Promise<string>;
  /** `session-damaged` for a file that is none. */
  meta(path: string): Promise<SessionMeta>;
  /** Every session file, those included that cannot be read. */
  paths(): Promise<readonly string[]>;
  /** Checks every line of a file; changes nothing, and needs no lock. */
  verify(path: string): Promise<Verification>;
  /** Makes a damaged file sound again and keeps what it was beside it. `cwd` is for one that has lost its header. */
  repair(path: string, cwd: string): Promise<Repair>;
  /** Only ever for a person who asked for it: moves the session's files to the trash. Returns where it lies then. */
  discard(path: string): Promise<string>;
  /** Takes a file back from the trash. Returns where it lies then. */
  restore(path: string): Promise<string>;
  /** The file of the newest session of a folder that no live process holds. */
  latest(agent: string, cwd: string): Promise<string | undefined>;
  /** The last written first. */
  list(filter?: SessionFilter, watch?: ListWatch): Promise<readonly SessionMeta[]>;
  /** The id of the session that a conversation is at; undefined when it has none. */
  head(address: Address): Promise<string | undefined>;
  /** Durable when it resolves. */
  moveHead(address: Address, sessionId: string): Promise<void>;
}
