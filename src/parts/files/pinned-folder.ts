// Holds on to the folder of a file while something is done there. Between the moment in which a path was resolved and
// judged and the moment in which it is written, a program may have put a link in the place of any folder on the way.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf, ToolFailure } from '../../core/errors.ts';

/** Of Linux (fcntl.h), and not among Node's: a place to hold on to, for which no right to read is needed. */
const O_PATH = 0o10000000;

/** `target` is resolved. `act` is handed a path that leads to the same file whatever is moved meanwhile. */
export async function inPinnedFolder<T>(target: string, act: (path: string) => Promise<T>): Promise<T> {
  // Only Linux has a path for an open folder.
  if (process.platform !== 'linux') return act(target);
  const folder = dirname(target);
  const handle = await openFolder(folder);
  try {
    const path = `/proc/self/fd/${handle.fd}`;
    const real = await readlink(path);
    if (real !== folder)
      throw new ToolFailure(`Cannot write ${target}: ${folder} was moved or replaced at the same moment.`);
    return await act(join(path, basename(target)));
  } finally {
    await handle.close();
  }
}

async function openFolder(folder: string): Promise<FileHandle> {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    return await open(folder, flags);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true });
    return open(folder, flags);
  }
}
