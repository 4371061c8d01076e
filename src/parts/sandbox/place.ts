// Where a confined program may go, with every path resolved: made once for a conversation, because what is resolved at
// each call could be moved by what the calls before have written.

import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SandboxPolicy } from '../../core/sandbox.ts';

export interface Place {
  /** Absolute, with links resolved. */
  readonly writable: readonly string[];
  readonly hidden: readonly { readonly path: string; readonly kind: 'file' | 'folder' }[];
  /** Beside the writable ones, the system's among them; absent for everything. */
  readonly readable?: readonly string[];
  /** Absent for any program. */
  readonly executable?: readonly string[];
}

/** What programs need to be started at all, and find everywhere: libraries, the system's own settings, what it says of itself. */
export const SYSTEM_READABLE = [
  '/bin',
  '/etc',
  '/gnu/store',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/sbin',
  '/sys',
  '/usr',
] as const;

/** These have rules of their own, which no list widens. */
const OF_THE_KERNEL = /^\/(?:dev|proc)(?:\/|$)/;

export interface PlaceOptions {
  readonly policy: SandboxPolicy;
  readonly cwd: string;
  /** Further folders of the workspace. */
  readonly directories: readonly string[];
}

export function placeOf({ policy, cwd, directories }: PlaceOptions): Place {
  const roots = [cwd, ...directories, ...policy.writable].flatMap(realFolder);
  const readable = policy.readable?.flatMap(realPath).filter((path) => !OF_THE_KERNEL.test(path));
  return {
    ...(readable !== undefined && !readable.includes('/') && { readable: [...SYSTEM_READABLE, ...readable] }),
    ...(policy.executable !== undefined && { executable: policy.executable.flatMap(realPath) }),
    writable: [...new Set([...roots, ...gitFolders(cwd)])],
    hidden: policy.unreadable.flatMap((path) => {
      const kind = kindOf(path);
      return kind === undefined ? [] : [{ path: realpathSync(path), kind }];
    }),
  };
}

function realPath(path: string): readonly string[] {
  return kindOf(path) === undefined ? [] : [realpathSync(path)];
}

function realFolder(path: string): readonly string[] {
  return kindOf(path) === 'folder' ? [realpathSync(path)] : [];
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}

/**
 * The folders outside that a linked working tree keeps its state in. A `.git` file may have come with the project and may
 * name any folder: only what names this working tree in return is git's own (gitrepository-layout(5)).
 */
function gitFolders(cwd: string): readonly string[] {
  const file = join(cwd, '.git');
  try {
    if (!lstatSync(file).isFile()) return [];
    const named = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    if (named === undefined) return [];
    const own = realpathSync(resolve(cwd, named.trim()));
    const back = resolve(own, readFileSync(join(own, 'gitdir'), 'utf8').trim());
    const common = realpathSync(resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim()));
    const isGits = realpathSync(back) === realpathSync(file) && dirname(dirname(own)) === common;
    return isGits ? [common] : [];
  } catch {
    return [];
  }
}
