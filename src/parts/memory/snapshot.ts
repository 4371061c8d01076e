// The file of a memory, replaced as a whole: a temporary file beside it, synced, renamed over it, and the folder synced,
// so that a crash at any moment leaves either the old file or the new one. The system's calls are an argument, so that a test
// can take them away.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { type Database, decode, EMPTY, encode } from './crmem.ts';

export interface SnapshotFs {
  open(path: string, flags: string, mode: number): number;
  write(descriptor: number, bytes: Uint8Array): void;
  sync(descriptor: number): void;
  close(descriptor: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  makeFolder(path: string): void;
}

export const nodeSnapshotFs: SnapshotFs = {
  open: openSync,
  write(descriptor, bytes) {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  },
  sync: fsyncSync,
  close: closeSync,
  rename: renameSync,
  unlink: unlinkSync,
  makeFolder,
};

/** Without waiting for somebody at the other end, should a pipe stand in its place. */
const TO_LOOK = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Beyond this a memory is not what it was made for, and reading it would take the machine's. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface Snapshot {
  readonly database: Database;
  /** Changes whenever the file does; undefined while there is none. */
  readonly stamp: string | undefined;
}

/** Throws `CrabError`: `memory-damaged`, `storage-failed`. A missing file is an empty memory. */
export function readSnapshot(path: string): Snapshot {
  let descriptor: number;
  try {
    descriptor = openSync(path, TO_LOOK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { database: EMPTY, stamp: undefined };
    throw failed(error, 'read', path);
  }
  try {
    const info = fstatSync(descriptor, { bigint: true });
    if (!info.isFile()) throw new CrabError('memory-damaged', `${path} is no regular file.`);
    if (info.size > MAX_BYTES)
      throw new CrabError(
        'memory-damaged',
        `${path} has ${info.size} bytes; a memory has at most ${MAX_BYTES}.`,
      );
    return { database: decode(readFileSync(descriptor), path), stamp: stampFrom(info) };
  } catch (error) {
    throw error instanceof CrabError ? error : failed(error, 'read', path);
  } finally {
    closeSync(descriptor);
  }
}

/** The stamp that `readSnapshot` would give; undefined where there is no file. */
export function stampOf(path: string): string | undefined {
  try {
    const descriptor = openSync(path, TO_LOOK);
    try {
      return stampFrom(fstatSync(descriptor, { bigint: true }));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw failed(error, 'read', path);
  }
}

function stampFrom({
  ino,
  size,
  mtimeNs,
}: {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}): string {
  return `${ino}:${size}:${mtimeNs}`;
}

/** Durable when it returns. Throws `CrabError`: `storage-full`, `storage-failed`; then the old file is still there. */
export function writeSnapshot(path: string, database: Database, fs: SnapshotFs = nodeSnapshotFs): void {
  writeWhole(path, encode(database), 0o600, fs);
}

/** A file as a whole, as `writeSnapshot` does. */
export function writeWhole(
  path: string,
  bytes: Uint8Array,
  mode: number,
  fs: SnapshotFs = nodeSnapshotFs,
): void {
  const temporary = `${path}.tmp`;
  try {
    fs.makeFolder(dirname(path));
    const descriptor = openNew(temporary, mode, fs);
    try {
      fs.write(descriptor, bytes);
      fs.sync(descriptor);
    } finally {
      fs.close(descriptor);
    }
    fs.rename(temporary, path);
    syncFolder(dirname(path), fs);
  } catch (error) {
    try {
      fs.unlink(temporary);
    } catch {
      // It was renamed, or never made.
    }
    throw failed(error, 'write', path);
  }
}

/** A file of our own: what stands there, be it left by a crash or a link that somebody planted, is not written through. */
function openNew(path: string, mode: number, fs: SnapshotFs): number {
  try {
    return fs.open(path, 'wx', mode);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    fs.unlink(path);
    return fs.open(path, 'wx', mode);
  }
}

function syncFolder(path: string, fs: SnapshotFs): void {
  // Windows opens no folders and needs no such thing.
  if (process.platform === 'win32') return;
  const descriptor = fs.open(path, 'r', 0);
  try {
    fs.sync(descriptor);
  } finally {
    fs.close(descriptor);
  }
}

export function failed(error: unknown, what: 'read' | 'write', path: string): CrabError {
  const code = errnoOf(error);
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const text = `The memory ${path} could not be ${what === 'read' ? 'read' : 'written'}: ${messageOf(error)}.`;
  return new CrabError(full ? 'storage-full' : 'storage-failed', text, { cause: error });
}
