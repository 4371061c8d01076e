// Deleting a session, which only a person does: its files move to `sessions/.trash`, into the folders that they had
// below `sessions`, and come back from there. Nothing is ever unlinked.

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';

import { CrabError } from '../../core/errors.ts';
import type { FileContext } from './file-storage.ts';
import { acquireLock } from './lock.ts';
import { sessionsFolder, trashFolder } from './paths.ts';
import { storageError } from './sync-fs.ts';

/** Returns where it lies then. `session-held` while another process writes to it. */
export async function discardSession(path: string, home: string, context: FileContext): Promise<string> {
  const inside = placeIn(sessionsFolder(home), path);
  const lock = acquireLock(path, context.self(), context.disk);
  try {
    return await moveAll(path, join(trashFolder(home), inside), context);
  } finally {
    lock.release();
  }
}

/** Returns where it lies then. */
export async function restoreSession(path: string, home: string, context: FileContext): Promise<string> {
  return await moveAll(path, join(sessionsFolder(home), placeIn(trashFolder(home), path)), context);
}

/** Where a session that is there lies below `root`; anything else is left where it is. */
function placeIn(root: string, path: string): string {
  const inside = relative(root, path);
  const isOurs = !inside.startsWith('.') && inside.split(sep).length === 3;
  if (isOurs && existsSync(path)) return inside;
  throw new CrabError('session-unknown', `${path} is no session in ${root}.`);
}

/** The file first: what lies beside it is of no use without it, and no harm. */
async function moveAll(from: string, to: string, { disk, folders }: FileContext): Promise<string> {
  if (existsSync(to)) throw new CrabError('storage-failed', `Cannot move ${from}: there is a file ${to}.`);
  try {
    folders.make(dirname(to));
    // A name in a folder that is not durable itself would be lost with it.
    await folders.sync(dirname(to));
    disk.rename(from, to);
    for (const name of readdirSync(dirname(from))) {
      const isBeside = name.startsWith(`${basename(from)}.`) && !name.includes('.lock');
      if (isBeside) disk.rename(join(dirname(from), name), join(dirname(to), name));
    }
    await Promise.all([disk.fsyncDir(dirname(to)), disk.fsyncDir(dirname(from))]);
  } catch (error) {
    throw storageError(error, `move ${from} to ${to}`);
  }
  return to;
}
