// Looking, listing and writing at a path whose links were followed when it was judged. Each holds the folder open and works
// below what it holds, so that a folder which is swapped for a link meanwhile is left alone.

import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  readlinkSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import * as promises from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import { atomicWrite } from './atomic-write.ts';
import { held, moved, openExactly } from './exact-path.ts';

// Linux opens a folder as a mere place with it (`O_PATH`, open(2)), for which no right to list it is needed.
const PLACE = process.platform === 'linux' ? 0o10000000 : 0;

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);

/** Undefined when nothing is there. */
export function lookExactly(path: string): Stats | undefined {
  try {
    const found = withFolder(dirname(path), (folder) => lstatSync(`${folder}/${basename(path)}`));
    if (found.isSymbolicLink()) throw moved(path);
    return found;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export async function listExactly(path: string): Promise<readonly Dirent[]> {
  const fd = openExactly(path, FOLDER);
  try {
    return await promises.readdir(nameOf(fd, path), { withFileTypes: true });
  } finally {
    closeSync(fd);
  }
}

/** Replaces the file in one step; missing folders are made. */
export async function writeExactly(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  const fd = openOrMakeFolder(folder);
  try {
    const target = `${nameOf(fd, folder)}/${basename(path)}`;
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) throw moved(path);
    // A link that comes later is replaced by the rename and not followed.
    await atomicWrite(target, bytes, promises, path);
  } finally {
    closeSync(fd);
  }
}

export function removeExactly(path: string): void {
  withFolder(dirname(path), (folder) => unlinkSync(`${folder}/${basename(path)}`));
}

function openOrMakeFolder(path: string): number {
  try {
    return openExactly(path, FOLDER | PLACE);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const parent = openOrMakeFolder(dirname(path));
    try {
      makeFolder(`${nameOf(parent, dirname(path))}/${basename(path)}`);
    } finally {
      closeSync(parent);
    }
    return openExactly(path, FOLDER | PLACE);
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function withFolder<T>(path: string, use: (name: string) => T): T {
  const fd = openExactly(path, FOLDER | PLACE);
  try {
    return use(nameOf(fd, path));
  } finally {
    closeSync(fd);
  }
}

/** Names the open folder in a way that no swap can change, where the system has one. */
function nameOf(fd: number, path: string): string {
  try {
    readlinkSync(held(fd));
    return held(fd);
  } catch {
    return path === '/' ? '' : path;
  }
}
