// Every change that the tape makes to a disk, as an argument (law 4), so that a test can record it, tear
// it or take the sync away. Reading needs no such door and uses the file system directly.

import {
  close,
  closeSync,
  existsSync,
  fdatasync,
  fsync,
  ftruncateSync,
  mkdirSync,
  open,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';

/** Errors are those of Node's `fs`: they carry `code`. */
export interface SyncFs {
  /** `a` appends, `x` refuses what exists. */
  open(path: string, flags: 'a' | 'ax', mode: number): number;
  /** Returns the bytes written, which may be fewer than given. */
  write(fd: number, bytes: Uint8Array): number;
  fdatasync(fd: number): Promise<void>;
  truncate(fd: number, length: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Makes missing folders above it too and returns the topmost that it made. */
  mkdir(path: string, mode: number): string | undefined;
  /** Makes the names in a folder durable. */
  fsyncDir(path: string): Promise<void>;
}

/** Answers of file systems that have no sync of folders; there is nothing more to do on them. */
const NO_FOLDER_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES']);

export const nodeSyncFs: SyncFs = {
  open: (path, flags, mode) => openSync(path, flags, mode),
  write: (fd, bytes) => writeSync(fd, bytes),
  fdatasync: (fd) =>
    new Promise((resolve, reject) => {
      fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
    }),
  truncate: (fd, length) => ftruncateSync(fd, length),
  close: (fd) => closeSync(fd),
  rename: (from, to) => renameSync(from, to),
  unlink: (path) => unlinkSync(path),
  mkdir: makeFolders,
  fsyncDir: (path) =>
    new Promise((resolve, reject) => {
      const ended = (error: NodeJS.ErrnoException | null) => {
        if (error === null || NO_FOLDER_SYNC.has(error.code ?? '')) resolve();
        else reject(error);
      };
      open(path, 'r', (failure, fd) => {
        if (failure !== null) return ended(failure);
        fsync(fd, (error) => close(fd, () => ended(error)));
      });
    }),
};

/**
 * Not Node's own `recursive`: it never ends where a folder that exists takes no new ones and calls that ENOENT, as
 * `/proc` does. A folder above that is there after all was made by another process in between: one more try.
 */
function makeFolders(path: string, mode: number): string | undefined {
  const first = tryFolder(path, mode);
  if (first === undefined) return path;
  if (first === 'there') return undefined;
  const above = dirname(path);
  const top = existsSync(above) ? undefined : makeFolders(above, mode);
  const again = tryFolder(path, mode);
  if (again === 'there') return top;
  if (again !== undefined) throw again;
  return top ?? path;
}

/** Nothing when it was made, `there` when it is a folder already, the error when a folder above it is missing. */
function tryFolder(path: string, mode: number): 'there' | Error | undefined {
  try {
    mkdirSync(path, { mode });
    return undefined;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return 'there';
    if (code === 'ENOENT' && error instanceof Error) return error;
    throw error;
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** `doing` completes "Cannot …": `write /path`. */
export function storageError(error: unknown, doing: string): CrabError {
  if (error instanceof CrabError) return error;
  const reason = messageOf(error);
  const code = FULL.has(errnoOf(error) ?? '') ? 'storage-full' : 'storage-failed';
  return new CrabError(code, `Cannot ${doing}: ${reason}`, { cause: error });
}

/** Removes a file that may be gone already. */
export function unlinkIfThere(disk: SyncFs, path: string): void {
  try {
    disk.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** A short write means a full disk: a regular file takes everything or what there is room for. */
export function writeWhole(disk: SyncFs, fd: number, bytes: Uint8Array, path: string): void {
  const written = disk.write(fd, bytes);
  if (written === bytes.length) return;
  throw new CrabError(
    'storage-full',
    `Only ${written} of ${bytes.length} bytes could be written to ${path}.`,
  );
}
