// Brings the index up to what the session files say, newest first and no longer than there is time: what is left is
// counted, and the next one goes on from there. Between transactions others get their turn, in this process and elsewhere.

import { basename } from 'node:path';
import { isBusy, isDamaged } from './database.ts';
import { readSession } from './read-session.ts';
import { listSessionFiles } from './session-files.ts';
import type { FileState, SessionIndex } from './session-index.ts';

/** Bytes that one transaction takes in together, and files. */
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_FILES = 64;

export interface CatchUp {
  /** Files with something that is not indexed yet. */
  readonly pending: number;
  /** Of these, what cannot be read: files, and folders of them. */
  readonly unreadable?: number;
  /** All files, and the folders that cannot be looked into. */
  readonly files: number;
}

export interface CatchUpOptions {
  /** The folder of all sessions. */
  readonly sessions: string;
  /** False ends it behind the transaction that it is in. */
  readonly goOn: () => boolean;
  /** Called now and then with what is left. */
  readonly onProgress?: (pending: number) => void;
}

/** Throws what SQLite throws when the database is damaged. */
export async function catchUp(index: SessionIndex, options: CatchUpOptions): Promise<CatchUp> {
  const { goOn, onProgress } = options;
  const { files, unreadable: unlisted } = listSessionFiles(options.sessions);
  const known = new Map(index.files().map((file) => [file.path, file]));
  const unread = files.filter((file) => !isSame(known.get(file.path), file));
  unread.sort((a, b) => b.modified - a.modified || (a.path < b.path ? 1 : -1));
  for (const { path } of files) known.delete(path);
  const gone = unlisted === 0 ? [...known.keys()] : [];
  let unreadable = unlisted;
  while ((gone.length > 0 || unread.length > 0) && goOn()) {
    try {
      if (gone.length > 0) removeSome(index, gone);
      else unreadable += readSome(index, unread);
    } catch (error) {
      // Whoever writes at this moment indexes as we would.
      if (isBusy(error)) break;
      throw error;
    }
    onProgress?.(unread.length);
    await turnOfOthers();
  }
  return {
    pending: unread.length + unreadable,
    ...(unreadable > 0 && { unreadable }),
    files: files.length + unlisted,
  };
}

function isSame(known: FileState | undefined, { size, modified, inode }: FileState): boolean {
  return known?.size === size && known.modified === modified && known.inode === inode;
}

/** Takes from `gone` what it removed. */
function removeSome(index: SessionIndex, gone: string[]): void {
  const some = gone.slice(-BATCH_FILES);
  index.transaction(() => {
    for (const path of some) {
      const session = index.find(path);
      if (session !== undefined) index.removeSession(session.id);
    }
  });
  gone.length -= some.length;
}

/** Takes from `unread` what is read to its end. Returns how many of these could not be read. */
function readSome(index: SessionIndex, unread: FileState[]): number {
  let bytes = 0;
  let count = 0;
  while (count < unread.length && count < BATCH_FILES && bytes < BATCH_BYTES)
    bytes += unread[count++]?.size ?? 0;
  const batch = unread.slice(0, count);
  const unfinished: FileState[] = [];
  let unreadable = 0;
  index.transaction(() => {
    // FTS5 writes what it holds in memory whenever ids go down, and names begin with the time.
    for (const file of batch.toSorted(byName))
      try {
        if (!readSession(index, file.path)) unfinished.push(file);
      } catch (error) {
        if (isBusy(error) || isDamaged(error)) throw error;
        unreadable++;
      }
  });
  unread.splice(0, count, ...unfinished);
  return unreadable;
}

function byName(a: FileState, b: FileState): number {
  const [one, other] = [basename(a.path), basename(b.path)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
