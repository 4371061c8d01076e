// Files that only the person may read: replaced in one step and synced, so that whoever looks, and whatever stops us,
// finds the old content or the new one. The temporary name is always the same; the lock around a write sees to it
// that there is one writer, and what a killed one left behind is written over by the next.

import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';

/** Bytes: many times what the tokens of all providers need. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Undefined when there is no such file. Throws `auth-failed`. */
export function readPrivate(path: string): string | undefined {
  try {
    const info = statSync(path);
    if (!info.isFile()) throw new Error('it is no regular file');
    if (info.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT' || errnoOf(cause) === 'ENOTDIR') return undefined;
    throw new CrabError('auth-failed', `${path} could not be read: ${messageOf(cause)}.`, { cause });
  }
}

/** Mode 0700, whatever it was before. Throws `auth-failed`. */
export function privateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((statSync(path).mode & 0o77) !== 0) chmodSync(path, 0o700);
  } catch (cause) {
    throw new CrabError('auth-failed', `${path} could not be made: ${messageOf(cause)}.`, { cause });
  }
}

/** Durable when it returns. Mode 0600. Throws `auth-failed`; then the old content is still there. */
export function writePrivate(path: string, text: string): void {
  try {
    const temporary = `${path}.new`;
    const file = openSync(temporary, 'w', 0o600);
    try {
      fchmodSync(file, 0o600);
      writeWhole(file, Buffer.from(text));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } catch (cause) {
    throw new CrabError('auth-failed', `${path} could not be written: ${messageOf(cause)}.`, { cause });
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function syncFolder(path: string): void {
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
    if (errnoOf(error) === 'EIO') throw error;
  } finally {
    closeSync(folder);
  }
}
