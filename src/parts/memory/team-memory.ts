// The memory that the people of a project share: a folder in the repository with a Markdown file for each note, so that git
// merges notes that two people wrote, and shows in a diff who taught the agents what. It is what others wrote: links are
// not followed, a file that cannot be read costs nobody the others, and nothing that looks like a secret is written.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Memory, MemoryEntry, MemoryOperation } from '../../core/memory.ts';
import { secretIn } from '../../core/secret-shapes.ts';
import type { Database } from './crmem.ts';
import { malformed } from './entry-page.ts';
import { readNote, slugOf, writtenNote } from './note-file.ts';
import { applied, check, entryNamed } from './operations.ts';
import { failed, writeWhole } from './snapshot.ts';
import { WordIndex } from './word-index.ts';

export interface TeamMemoryOptions {
  /** Absolute; it need not be there. */
  readonly folder: string;
  readonly clock: Clock;
  /** As in `FileMemoryOptions`. */
  lock(): Promise<() => void>;
  /** Takes the secrets that are known out of a text. */
  redact?(text: string): string;
}

const NOTE = { type: 'project' };
const ENDING = '.md';
/** Files that are no notes. */
const OTHERS = new Set(['MEMORY.md', 'README.md']);
const MAX_FILES = 2_000;

interface Held {
  /** What the files were when they were read. */
  readonly stamp: string;
  readonly database: Database;
  readonly files: ReadonlyMap<bigint, string>;
  readonly faults: readonly string[];
}

export function openTeamMemory(options: TeamMemoryOptions): Memory {
  const { folder, clock } = options;
  let held: Held | undefined;
  let index: { readonly of: Database; readonly words: WordIndex } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function current(): Held {
    const listed = notesIn(folder);
    if (held?.stamp !== listed.stamp) held = readAll(folder, listed);
    return held;
  }

  function exclusively<T>(change: (before: Held) => T): Promise<T> {
    const result = last.then(async () => {
      const release = await options.lock();
      try {
        return change(current());
      } finally {
        held = undefined;
        release();
      }
    });
    last = result.catch(() => {});
    return result;
  }

  /** Notes that go are removed last, so that a disk that fails leaves too much rather than too little. */
  function write(before: Held, after: Database): void {
    requirePlain(folder);
    const known = new Set(before.database.entries);
    const changed = after.entries.filter((entry) => !known.has(entry));
    for (const entry of changed) requireShareable(entry, options);
    const left = new Set(after.entries.map(({ id }) => id));
    const taken = new Set(listFiles(folder).map((file) => file.slice(0, -ENDING.length).toLowerCase()));
    for (const entry of changed) {
      const file = before.files.get(entry.id) ?? `${slugOf(entry.name, taken)}${ENDING}`;
      taken.add(file.slice(0, -ENDING.length));
      writeWhole(join(folder, file), new TextEncoder().encode(writtenNote(entry, NOTE)), 0o644);
    }
    for (const [id, file] of before.files) if (!left.has(id)) remove(join(folder, file));
  }

  return {
    entries: async () => current().database.entries,
    find: async (name) => entryNamed(current().database.entries, name),
    faults: async () => current().faults,
    async search(query, limit) {
      const { database } = current();
      if (index?.of !== database) index = { of: database, words: new WordIndex(database.entries) };
      return index.words.search(query, limit);
    },
    apply: (...operations) =>
      exclusively((before) => {
        const now = BigInt(Math.floor(clock.now() / 1000));
        let { database } = before;
        let entry: MemoryEntry | undefined;
        for (const operation of operations)
          ({ database, entry } = applied(database, notesOnly(operation), now));
        write(before, database);
        return entry;
      }),
    replace: (entries) =>
      exclusively((before) => {
        const made: MemoryEntry[] = [];
        let { nextId } = before.database;
        const ids = new Map(before.database.entries.map(({ name, id }) => [name, id]));
        for (const entry of entries) {
          // A note that is there keeps its file.
          const numbered = { ...entry, id: ids.get(entry.name) ?? nextId++ };
          notesOnly({ type: 'add', ...entry });
          check(numbered, made);
          made.push(numbered);
        }
        write(before, { nextId, entries: made });
      }),
    checkpoint: async () => {},
  };
}

function notesOnly(operation: MemoryOperation): MemoryOperation {
  if (operation.type === 'add' && operation.kind === 'archive')
    throw new CrabError('usage', 'A shared memory holds notes only, and no archives of conversations.');
  return operation;
}

function requireShareable(entry: MemoryEntry, { redact, folder }: TeamMemoryOptions): void {
  const { name, aliases, content } = entry;
  const text = [name, ...aliases, content].join('\n');
  const shape =
    secretIn(text) ?? (redact !== undefined && redact(text) !== text ? 'key of yours' : undefined);
  if (shape === undefined) return;
  throw new CrabError(
    'usage',
    `The note ${JSON.stringify(name)} was not written to ${folder}: something in it looks like a secret (${shape}).`,
    { hint: 'Leave the secret out: everybody who has the repository reads this memory.' },
  );
}

interface Listed {
  readonly files: readonly string[];
  readonly faults: readonly string[];
  readonly stamp: string;
}

function notesIn(folder: string): Listed {
  let files: readonly string[];
  try {
    requirePlain(folder);
    files = listFiles(folder);
  } catch (error) {
    return { files: [], faults: [messageOf(error)], stamp: messageOf(error) };
  }
  const read = files.slice(0, MAX_FILES);
  const more = files.length - read.length;
  const faults = more > 0 ? [`${folder} has ${files.length} notes; the first ${MAX_FILES} are read.`] : [];
  return { files: read, faults, stamp: read.map((file) => stampOf(folder, file)).join('\n') };
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(ENDING) && !file.startsWith('.') && !OTHERS.has(file))
      .sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw failed(error, 'read', folder);
  }
}

/** A file that is written anew has another inode or time. */
function stampOf(folder: string, file: string): string {
  const info = lstatSync(join(folder, file), { bigint: true, throwIfNoEntry: false });
  return `${file} ${info?.ino}:${info?.size}:${info?.mtimeNs}`;
}

/** The folder, and the one that it is in, as they are and no links: those may lead to what nobody meant to share. */
function requirePlain(folder: string): void {
  for (const path of [dirname(folder), folder]) {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info !== undefined && !info.isDirectory())
      throw new CrabError('memory-damaged', `${path} is no folder, or a link to one.`, {
        hint: 'Make it a folder of the repository itself.',
      });
  }
}

/** What two developers merged and did not look at. */
const UNMERGED = /^<{7} [\s\S]*^>{7} /m;

function readAll(folder: string, { files, faults, stamp }: Listed): Held {
  const found: { readonly entry: MemoryEntry; readonly file: string }[] = [];
  const told = [...faults];
  const others: MemoryEntry[] = [];
  for (const file of files)
    try {
      const entry = { ...readNote(join(folder, file), NOTE), id: 0n };
      if (UNMERGED.test(entry.content))
        throw malformed(join(folder, file), 'it has the marks of an unfinished merge');
      check(entry, others);
      others.push(entry);
      found.push({ entry, file });
    } catch (error) {
      const path = join(folder, file);
      const why = messageOf(error);
      told.push(`A note is passed over: ${why.startsWith(path) ? why : `${path}: ${why}`}`);
    }
  found.sort((a, b) => Number(a.entry.createdAt - b.entry.createdAt) || (a.file < b.file ? -1 : 1));
  const entries = found.map(({ entry }, at) => ({ ...entry, id: BigInt(at + 1) }));
  return {
    stamp,
    database: { nextId: BigInt(entries.length + 1), entries },
    files: new Map(found.map(({ file }, at) => [BigInt(at + 1), file])),
    faults: told,
  };
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw failed(error, 'write', path);
  }
}
