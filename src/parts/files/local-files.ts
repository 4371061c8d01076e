// The files of this machine. A read opens without blocking and asks afterwards what it holds, so that neither a
// FIFO nor a swap between check and use can stop the program. Looking up, opening and reading a little is done in
// place: a trip to the thread pool costs several times as much as any of them.

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { errnoOf, ToolFailure } from '../../core/errors.ts';
import type { DirectoryEntry, FileInfo, Files } from '../../core/host.ts';
import type { JudgedPath } from '../../core/permission.ts';
import { bindPaths } from './bound-paths.ts';
import { openExactly } from './exact-path.ts';
import { checkPath, type FileAction, fileFailure } from './file-failure.ts';
import { lazy } from './lazy.ts';

/** Bytes that one read may bring into memory. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** Bytes up to which reading in place is cheaper than a trip to the thread pool. */
const IN_PLACE_BYTES = 64 * 1024;

/** Bytes by which the read of a file grows whose size is not known beforehand, as in /proc. */
const PIECE_BYTES = 64 * 1024;

// Undefined where the platform lacks them; there a plain open does not block either.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

export interface Range {
  readonly offset: number;
  readonly length: number;
}

export function createLocalFiles(): Files {
  const promises = lazy(() => import('node:fs/promises'));
  const paths = lazy(() => import('./resolve-path.ts'));
  const writing = lazy(() => import('./atomic-write.ts'));
  const pinning = lazy(() => import('./pinned-folder.ts'));
  const resolve = async (path: string): Promise<string> => {
    checkPath(path, 'look at');
    // The usual case in one call; what does not exist takes the long way.
    const found = realPath(path);
    if (typeof found === 'string') return found;
    return attempt('look at', path, async () => (await paths()).resolvePath(path));
  };
  const local: Files = {
    resolve,
    async info(path, options) {
      checkPath(path, 'look at');
      const look = options?.follow === false ? lstatSync : statSync;
      try {
        const found = look(path, { throwIfNoEntry: false });
        return found === undefined ? undefined : fileInfo(found);
      } catch (error) {
        if (errnoOf(error) === 'ENOTDIR') return undefined;
        throw await fileFailure(error, 'look at', path);
      }
    },
    async read(path, range) {
      checkPath(path, 'read');
      return attempt('read', path, () => readFile(path, range));
    },
    async write(path, bytes, options) {
      checkPath(path, 'write');
      const target = options?.resolved === true ? path : await resolve(path);
      const [{ atomicWrite }, { inPinnedFolder }] = await Promise.all([writing(), pinning()]);
      await attempt('write', path, () =>
        inPinnedFolder(target, (pinned) => atomicWrite(pinned, bytes, undefined, path)),
      );
    },
    async remove(path) {
      checkPath(path, 'remove');
      const { unlink } = await promises();
      await attempt('remove', path, () => unlink(path));
    },
    async list(path) {
      checkPath(path, 'list');
      const { readdir } = await promises();
      const entries = await attempt('list', path, () => readdir(path, { withFileTypes: true }));
      return entries.map(directoryEntry);
    },
    bound: (paths) => bindFiles(local, paths),
  };
  return local;
}

/** What was judged is opened where it was; what was not goes the usual way. */
function bindFiles(local: Files, paths: readonly JudgedPath[]): Files {
  const binding = bindPaths(paths);
  const exactly = lazy(() => import('./exact-files.ts'));
  return {
    async info(path, options) {
      const real = binding(path);
      if (real === undefined || options?.follow === false) return local.info(path, options);
      return attempt('look at', real, async () => {
        const found = (await exactly()).lookExactly(real);
        return found === undefined ? undefined : fileInfo(found);
      });
    },
    resolve: async (path) => binding(path) ?? local.resolve(path),
    async read(path, range) {
      const real = binding(path);
      if (real === undefined) return local.read(path, range);
      return attempt('read', real, () => readFile(real, range, openExactly));
    },
    async write(path, bytes, options) {
      const real = binding(path);
      if (real === undefined) return local.write(path, bytes, options);
      await attempt('write', real, async () => (await exactly()).writeExactly(real, bytes));
    },
    async remove(path) {
      const real = binding(path);
      if (real === undefined) return local.remove(path);
      await attempt('remove', real, async () => (await exactly()).removeExactly(real));
    },
    async list(path) {
      const real = binding(path);
      if (real === undefined) return local.list(path);
      const entries = await attempt('list', real, async () => (await exactly()).listExactly(real));
      return entries.map(directoryEntry);
    },
  };
}

async function attempt<T>(action: FileAction, path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw await fileFailure(error, action, path);
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

async function readFile(
  path: string,
  range: Range | undefined,
  open: (path: string, flags: number) => number = openSync,
): Promise<Uint8Array> {
  const fd = open(path, OPEN_FLAGS);
  try {
    const info = fstatSync(fd);
    if (info.isDirectory()) throw new ToolFailure(`Cannot read ${path}: it is a folder, not a file.`);
    if (!info.isFile())
      throw new ToolFailure(`Cannot read ${path}: it is a ${otherKind(info)}, not a regular file.`);
    const offset = range?.offset ?? 0;
    const wanted = range?.length ?? Number.POSITIVE_INFINITY;
    // Files of /proc and /sys say that they are empty, whatever they hold.
    if (info.size === 0) return await readToEnd(fd, path, offset, wanted);
    const length = Math.max(0, Math.min(wanted, info.size - offset));
    checkLength(length, path);
    return await readBytes(fd, offset, length);
  } finally {
    closeSync(fd);
  }
}

function checkLength(length: number, path: string): void {
  if (length > MAX_READ_BYTES)
    throw new ToolFailure(
      `Cannot read ${path} at once: ${length} bytes, where at most ${MAX_READ_BYTES} are read; read a part of it.`,
    );
}

/** Fewer bytes than asked for when the file became shorter meanwhile. */
async function readBytes(fd: number, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = await readInto(fd, bytes.subarray(filled), offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled === length ? bytes : bytes.subarray(0, filled);
}

async function readToEnd(fd: number, path: string, offset: number, wanted: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  while (total < wanted) {
    const piece = await readBytes(fd, offset + total, Math.min(PIECE_BYTES, wanted - total));
    if (piece.length === 0) break;
    pieces.push(piece);
    total += piece.length;
    checkLength(total, path);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

function readInto(fd: number, bytes: Uint8Array, position: number): number | Promise<number> {
  if (bytes.length <= IN_PLACE_BYTES) return readSync(fd, bytes, 0, bytes.length, position);
  return new Promise((settle, reject) => {
    read(fd, bytes, 0, bytes.length, position, (error, count) =>
      error === null ? settle(count) : reject(error),
    );
  });
}

function fileInfo(info: Stats): FileInfo {
  const kind = entryKind(info);
  const { size, mtimeMs: modified } = info;
  const base = { kind, size, modified, mode: info.mode & 0o7777 };
  return kind === 'other' ? { ...base, what: otherKind(info) } : base;
}

function directoryEntry(entry: Dirent): DirectoryEntry {
  return { name: entry.name, kind: entryKind(entry) };
}

function entryKind(entry: Stats | Dirent): FileInfo['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function otherKind(info: Stats): string {
  if (info.isFIFO()) return 'FIFO';
  return info.isSocket() ? 'socket' : 'device';
}
