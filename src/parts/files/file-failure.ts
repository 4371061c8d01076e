// What the system refuses, in words that a model can act on: the path, the reason, and for a name that does not
// exist the nearest one that does. Looking for it costs a listing, which only a failure pays.

import { promises as fs } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf, ToolFailure } from '../../core/errors.ts';

/** Names looked at for a suggestion; a larger folder is not searched to its end. */
const MAX_NAMES = 2000;

export type FileAction = 'read' | 'write' | 'remove' | 'list' | 'look at';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EISDIR: 'it is a folder, not a file',
  ELOOP: 'too many symbolic links, or links in a circle',
  ENAMETOOLONG: 'the name is too long for the file system',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is a program that is running',
  EFBIG: 'the file would be too large',
  EIO: 'the disk reports an error',
  ENXIO: 'it is a socket or a device, not a file',
  ENODEV: 'it is a device, not a file',
  EAGAIN: 'nothing can be read from it without waiting',
  EINVAL: 'the system does not accept the path',
};

/** The failure to throw for a system error; what is no system error comes back unchanged. */
export async function fileFailure(error: unknown, action: FileAction, path: string): Promise<unknown> {
  const code = errnoOf(error);
  if (error instanceof ToolFailure || code === undefined) return error;
  const reason = REASONS[code] ?? (await missing(code, path)) ?? `the system reports ${code}`;
  return new ToolFailure(`Cannot ${action} ${path}: ${reason}.`, { cause: error });
}

/** Refuses what no system call should see. */
export function checkPath(path: string, action: FileAction): void {
  if (path.includes('\0'))
    throw new ToolFailure(`Cannot ${action} ${JSON.stringify(path)}: a path cannot hold a NUL byte.`);
  if (!path.startsWith('/') && !/^(?:[A-Za-z]:)?[\\/]/.test(path))
    throw new ToolFailure(`Cannot ${action} ${JSON.stringify(path)}: the path is not absolute.`);
}

async function missing(code: string, path: string): Promise<string | undefined> {
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EEXIST') return undefined;
  if (code === 'ENOTDIR' && (await fs.stat(path).catch(() => undefined)) !== undefined)
    return 'it is a file, not a folder';
  let child = path;
  for (let parent = dirname(path); parent !== child; child = parent, parent = dirname(parent)) {
    const found = await fs.stat(parent).catch(() => undefined);
    if (found === undefined) continue;
    if (!found.isDirectory()) return `${parent} is a file, not a folder`;
    const target = await fs.readlink(child).catch(() => undefined);
    if (target !== undefined) {
      const link = child === path ? 'it' : child;
      return `${link} is a link to ${target}, which does not exist`;
    }
    const what = child === path ? 'it does not exist' : `the folder ${child} does not exist`;
    const near = await nearestName(parent, basename(child));
    return near === undefined ? what : `${what}; ${told(parent, near, basename(child))}`;
  }
  return 'it does not exist';
}

/** A name that looks the same cannot be copied from what is shown of it. */
function told(folder: string, near: string, name: string): string {
  if (near.normalize() === name.normalize())
    return 'a name there has the same letters in another Unicode form: a command can name it with a wildcard';
  return `the nearest name there is ${join(folder, near)}`;
}

async function nearestName(folder: string, name: string): Promise<string | undefined> {
  try {
    let best: string | undefined;
    let least = Math.max(1, Math.floor(name.length / 4)) + 1;
    let seen = 0;
    for await (const entry of await fs.opendir(folder)) {
      if (++seen > MAX_NAMES) break;
      const distance = nameDistance(entry.name, name, least);
      if (distance < least) [best, least] = [entry.name, distance];
    }
    return best;
  } catch {
    return undefined;
  }
}

/** Edit distance (Levenshtein), nothing for letter case and little for another extension. */
function nameDistance(left: string, right: string, limit: number): number {
  const [a, b] = [left.normalize().toLowerCase(), right.normalize().toLowerCase()];
  if (a === b) return 0;
  if (stem(a) === stem(b) && stem(a) !== '') return 0.5;
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}

function stem(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}
