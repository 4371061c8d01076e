// A memory in a file that several processes may use. Every change is made under a lock and on what the file holds at that
// moment; a reader looks whether the file changed since it last read it. A change that could not be written stays in this
// process and goes out with the next that can.

import type { Clock } from '../../core/host.ts';
import type { Memory, MemoryEntry, MemoryOperation } from '../../core/memory.ts';
import type { Database } from './crmem.ts';
import { applied, check, entryNamed } from './operations.ts';
import { readSnapshot, type SnapshotFs, stampOf, writeSnapshot } from './snapshot.ts';
import { WordIndex } from './word-index.ts';

export interface FileMemoryOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Resolves when no other process can change the file, with what lets others again. */
  lock(path: string): Promise<() => void>;
  readonly fs?: SnapshotFs;
}

export function openMemory({ path, clock, lock, fs }: FileMemoryOptions): Memory {
  let held: { readonly database: Database; readonly stamp: string | undefined } | undefined;
  /** Changes that the file does not have. */
  let unwritten: readonly MemoryOperation[] = [];
  let index: { readonly of: Database; readonly words: WordIndex } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const now = () => BigInt(Math.floor(clock.now() / 1000));

  /** The file as it is, with what it should have had by now. */
  function current(): Database {
    if (held !== undefined && held.stamp === stampOf(path)) return held.database;
    const read = readSnapshot(path);
    const database = unwritten.reduce(again, read.database);
    held = { database, stamp: read.stamp };
    return database;
  }

  /** What another process made impossible in between is not done. */
  function again(database: Database, operation: MemoryOperation): Database {
    try {
      return applied(database, operation, now()).database;
    } catch {
      return database;
    }
  }

  /** One change at a time, in this process and among all. */
  function exclusively<T>(change: () => T): Promise<T> {
    const result = last.then(async () => {
      const release = await lock(path);
      try {
        return change();
      } finally {
        release();
      }
    });
    last = result.catch(() => {});
    return result;
  }

  function write(database: Database): void {
    writeSnapshot(path, database, fs);
    held = { database, stamp: stampOf(path) };
    unwritten = [];
  }

  return {
    entries: async () => current().entries,
    find: async (name) => entryNamed(current().entries, name),
    async search(query, limit) {
      const database = current();
      if (index?.of !== database) index = { of: database, words: new WordIndex(database.entries) };
      return index.words.search(query, limit);
    },
    apply: (...operations) =>
      exclusively(() => {
        let database = current();
        let entry: MemoryEntry | undefined;
        for (const operation of operations) ({ database, entry } = applied(database, operation, now()));
        // From here on the change holds, whether or not the disk takes it.
        held = { database, stamp: held?.stamp };
        unwritten = [...unwritten, ...operations];
        write(database);
        return entry;
      }),
    replace: (entries) =>
      exclusively(() => {
        const before = current();
        const made: MemoryEntry[] = [];
        let nextId = before.nextId;
        for (const entry of entries) {
          const numbered = { ...entry, id: nextId++ };
          check(numbered, made);
          made.push(numbered);
        }
        write({ nextId, entries: made });
      }),
    checkpoint: () => exclusively(() => write(current())),
  };
}
