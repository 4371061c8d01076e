// What an agent keeps across conversations: named entries, found by name or by words. The store is handed to whoever
// remembers, compacts or lists; what it is made of is a part's own affair.

export type MemoryKind = 'note' | 'archive';

export interface MemoryEntry {
  /** Given when the entry is made, and never again. */
  readonly id: bigint;
  /** Unique among all names and aliases. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly content: string;
  /** A note is written on purpose; an archive is what compaction left. */
  readonly kind: MemoryKind;
  /** Seconds since the epoch. */
  readonly createdAt: bigint;
}

/** A change. Entries are named by name or alias. */
export type MemoryOperation =
  | {
      readonly type: 'add';
      readonly name: string;
      readonly content: string;
      readonly kind: MemoryKind;
      readonly aliases?: readonly string[];
    }
  /** The aliases stay when none are given. */
  | {
      readonly type: 'update';
      readonly name: string;
      readonly content: string;
      /** The content that it must still have; `memory-taken` where it has another. */
      readonly was?: string;
      readonly aliases?: readonly string[];
    }
  | { readonly type: 'rename'; readonly name: string; readonly to: string }
  /** Adds aliases. */
  | { readonly type: 'alias'; readonly name: string; readonly aliases: readonly string[] }
  | { readonly type: 'remove'; readonly name: string; readonly was?: string };

/** What a note is told apart by from what it was before, short enough to be kept for each. */
export function noteMark({ id, name, content }: Pick<MemoryEntry, 'id' | 'name' | 'content'>): string {
  return `${id}:${content.length}:${name}`;
}

export interface MemoryHit {
  readonly entry: MemoryEntry;
  /** Greater is better; the cutoff is the caller's. */
  readonly score: number;
}

/** One memory. Everything throws `CrabError`: `memory-damaged`, `memory-unknown`, `memory-taken`, `storage-full`, `storage-failed`. */
export interface Memory {
  /** In the order in which they were made. */
  entries(): Promise<readonly MemoryEntry[]>;
  find(name: string): Promise<MemoryEntry | undefined>;
  /** The best `limit` entries that share a word with the query, best first. */
  search(query: string, limit: number): Promise<readonly MemoryHit[]>;
  /** All of the changes or none; durable when it resolves. Returns the entry of the last one, where it left one. */
  apply(...operations: readonly MemoryOperation[]): Promise<MemoryEntry | undefined>;
  /** Replaces everything by entries that are new, in one step. */
  replace(entries: readonly Omit<MemoryEntry, 'id'>[]): Promise<void>;
  /** Why parts of it could not be read, in sentences; absent where it is read as a whole or not at all. */
  faults?(): Promise<readonly string[]>;
  /** Writes what is held, whether or not it changed. */
  checkpoint(): Promise<void>;
}
