// What a crash left half-written behind the last good line is moved into a file beside it before anything is
// appended, so that it is never lost and no new line is ever merged with it.

import { closeSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';

import { FILE_MODE } from './paths.ts';
import { type SyncFs, storageError, writeWhole } from './sync-fs.ts';

const COPY_BYTES = 1024 * 1024;

/** Moves what lies behind `goodLength` into a file of its own. Returns its path. The copy is durable first. */
export async function setTailAside(
  path: string,
  goodLength: number,
  time: number,
  disk: SyncFs,
): Promise<string> {
  const aside = await copyBeside(path, goodLength, 'torn', time, disk);
  try {
    const file = disk.open(path, 'a', FILE_MODE);
    try {
      disk.truncate(file, goodLength);
      await disk.fdatasync(file);
    } finally {
      disk.close(file);
    }
  } catch (error) {
    throw storageError(error, `set the torn end of ${path} aside as ${aside}`);
  }
  return aside;
}

/** Copies what stands from `offset` on into a file beside it. Returns its path; the copy is durable. */
export async function copyBeside(
  path: string,
  offset: number,
  what: 'torn' | 'damaged',
  time: number,
  disk: SyncFs,
): Promise<string> {
  const aside = `${path}.${what}-${new Date(time).toISOString().replace(/[:.]/g, '-')}`;
  try {
    const from = openSync(path, 'r');
    const to = disk.open(aside, 'a', FILE_MODE);
    try {
      copyRest(from, offset, (block) => writeWhole(disk, to, block, aside));
      await disk.fdatasync(to);
    } finally {
      closeSync(from);
      disk.close(to);
    }
    await disk.fsyncDir(dirname(path));
  } catch (error) {
    throw storageError(error, `set what is damaged of ${path} aside as ${aside}`);
  }
  return aside;
}

function copyRest(from: number, offset: number, write: (block: Uint8Array) => void): void {
  const block = Buffer.allocUnsafe(COPY_BYTES);
  let at = offset;
  for (;;) {
    const count = readSync(from, block, 0, block.length, at);
    if (count === 0) return;
    write(block.subarray(0, count));
    at += count;
  }
}
