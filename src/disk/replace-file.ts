// Small files that are replaced as a whole: settings, keys, indexes. Whoever looks, and whatever stops us, finds the old
// content or the new one. Errors are the system's; who calls knows what the file is to the person.

import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../core/errors.ts';
import { makeFolder } from './make-folder.ts';

const FILE_MODE = 0o600;

/**
 * Durable when it returns, its name as well. Only the user may read it; folders that are missing are made for the user
 * alone. On an error the old content is still there and nothing is left beside it. `temporary` is in the same folder; who
 * has a lock on `path` may give one that is always the same, so that what a killed process left is written over.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  temporary = `${path}.${process.pid}.tmp`,
): void {
  const folder = dirname(path);
  makeFolder(folder);
  try {
    writeDurably(temporary, Buffer.from(content));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(folder);
}

/** The names in a folder are durable when it returns. Throws where the disk itself failed. */
export function syncFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, 'r');
  } catch {
    // Windows opens no folder.
    return;
  }
  try {
    fsyncSync(folder);
  } catch (error) {
    // Some file systems have nothing to sync there, and say so.
    if (errnoOf(error) === 'EIO') throw error;
  } finally {
    closeSync(folder);
  }
}

/** What a person is told of a file that could not be written. */
export function writeFailure(path: string, cause: unknown): CrabError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(errnoOf(cause) ?? '');
  const code = isFull ? 'storage-full' : 'storage-failed';
  return new CrabError(code, `${path} cannot be written: ${messageOf(cause)}.`, { cause });
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', FILE_MODE);
  try {
    // One that was left behind keeps the mode that it had.
    fchmodSync(file, FILE_MODE);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
