// The index's database: a cache of what the session files say, which may be deleted at any time. What cannot be used, be
// it damaged, of another version or locked for good, is set aside and begun anew; where nothing can be written at all,
// the index lives in memory. The only file that knows which SQLite this is: `node:sqlite`, which Bun has as well.

import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CrabError, messageOf } from '../../core/errors.ts';
import { makeFolder } from '../../disk/make-folder.ts';

/** Another number means another layout, and a database with it is not read. */
const FORMAT = 1;

/** Milliseconds that a statement waits for another process. */
export const BUSY_MS = 500;
/** A checkpoint waits for the disk, so it comes seldom: every 16 MB. */
const CHECKPOINT_PAGES = 4096;

/** Documents of one session: its name and summary are number 0, its messages follow. */
export const SLOTS = 2 ** 21;

/**
 * `doc` is the session's id times `SLOTS` plus the message's index plus 1. Words come from `core/words.ts`, and FTS5's
 * `ascii` tokenizer leaves them alone: it splits at spaces and takes every other byte of them for a letter.
 */
const SCHEMA = `
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    sender TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT NOT NULL,
    opening TEXT NOT NULL,
    summary TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    tail BLOB NOT NULL,
    size INTEGER NOT NULL,
    modified REAL NOT NULL,
    inode REAL NOT NULL
  ) STRICT;
  CREATE TABLE messages (
    doc INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    length INTEGER NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(
    summary, title, user, assistant, tool,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_$'"
  );
  PRAGMA user_version = ${FORMAT};
`;

/** Never fails for anything that is the matter with the file at `path`. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await loadSqlite();
  const open = (file: string) => prepared(new DatabaseSync(file));
  try {
    makeFolder(dirname(path));
    try {
      return await patiently(() => open(path));
    } catch {
      setAside(path);
      return open(path);
    }
  } catch {
    return open(':memory:');
  }
}

const OPEN_TRIES = 4;
const PAUSE_MS = 50;

/** Two that make the database at once refuse each other without waiting, as SQLite does rather than to deadlock. */
async function patiently<T>(task: () => T): Promise<T> {
  for (let left = OPEN_TRIES; ; left--)
    try {
      return task();
    } catch (error) {
      if (left === 0 || !isBusy(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

const SUFFIXES = ['', '-wal', '-shm'] as const;

/** Moves the database out of the way, over one that was set aside before. Processes that have it open keep it. */
export function setAside(path: string): void {
  for (const suffix of SUFFIXES) {
    rmSync(`${path}.aside${suffix}`, { force: true });
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.aside${suffix}`);
  }
}

/** Removes the database, and the one that was set aside. Throws `CrabError storage-failed`. */
export function removeDatabase(path: string): void {
  try {
    for (const suffix of SUFFIXES)
      for (const file of [path + suffix, `${path}.aside${suffix}`]) rmSync(file, { force: true });
  } catch (cause) {
    throw new CrabError('storage-failed', `The index cannot be made anew: ${messageOf(cause)}.`, { cause });
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  try {
    database.exec(`
      PRAGMA busy_timeout = ${BUSY_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA cache_size = -16384;
      PRAGMA temp_store = MEMORY;
    `);
    makeSchema(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeSchema(database: DatabaseSync): void {
  if (formatOf(database) === FORMAT) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have made it in between.
    const format = formatOf(database);
    if (format === 0) database.exec(SCHEMA);
    else if (format !== FORMAT) throw new Error(`the index has format ${format}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function formatOf(database: DatabaseSync): unknown {
  return database.prepare('PRAGMA user_version').get()?.['user_version'];
}

/** Node 22 calls it experimental on standard error, which is the person's. */
async function loadSqlite() {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return await import('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

const BUSY = 5;
const LOCKED = 6;

/** Another process is writing, and did not end in time. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === BUSY || code === LOCKED;
}

const UNUSABLE = new Set([1, 10, 11, 26]);

/** The database is damaged, or is not what we made: nothing but beginning anew helps. */
export function isDamaged(error: unknown): boolean {
  return UNUSABLE.has(codeOf(error));
}

/** SQLite's primary result code (sqlite.org/rescode.html); -1 for what is none. */
function codeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : -1;
}
