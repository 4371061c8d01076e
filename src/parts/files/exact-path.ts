// Opens what lies at a path and nothing that a link on the way leads to. Node cannot open relative to a folder it holds, so
// the file is opened first and asked afterwards where it is: Linux tells of an open file by /proc/self/fd, and also
// resolves names below such an entry, which is as good as openat(2). Elsewhere the file is compared by device and inode
// with what the path leads to, which leaves a gap of three system calls that a swap would have to hit in order.

import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { errnoOf, ToolFailure } from '../../core/errors.ts';

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Linux adds this to the path of an open file that was removed or replaced. */
const DELETED = ' (deleted)';

/** Times that a file is opened anew which somebody replaced just then, as editors do when they save. */
const MAX_TRIES = 5;

/**
 * Opens `path`, all of whose links were followed when it was judged. The caller closes the descriptor. Throws system
 * errors, and `ToolFailure` where the path leads elsewhere by now.
 */
export function openExactly(path: string, flags: number): number {
  for (let attempt = 1; ; attempt++) {
    const fd = open(path, flags);
    const place = placeOf(fd, path);
    if (place === path) return fd;
    closeSync(fd);
    if (place !== path + DELETED || attempt >= MAX_TRIES) throw moved(path);
  }
}

function open(path: string, flags: number): number {
  try {
    return openSync(path, flags | NO_FOLLOW);
  } catch (error) {
    // What stands there is a link, or, where a folder is wanted, no folder.
    if (errnoOf(error) === 'ELOOP' || (errnoOf(error) === 'ENOTDIR' && isLink(path))) throw moved(path);
    throw error;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The path of an open file. */
function placeOf(fd: number, path: string): string | undefined {
  try {
    return readlinkSync(held(fd));
  } catch {
    return placeByIdentity(fd, path);
  }
}

function placeByIdentity(fd: number, path: string): string | undefined {
  try {
    const [opened, found] = [fstatSync(fd), lstatSync(path)];
    const isSame = opened.dev === found.dev && opened.ino === found.ino;
    return isSame ? realpathSync.native(path) : undefined;
  } catch {
    return undefined;
  }
}

/** A name for what an open descriptor holds, whatever happens to its path. Linux only. */
export function held(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

export function moved(path: string): ToolFailure {
  return new ToolFailure(
    `${path} leads elsewhere than when this call was judged: a link took its place meanwhile. Nothing was done; try again.`,
  );
}
