// What lies at a path, as far as it can be put back: nothing, a file with its content and permission bits, a link, a
// folder. Times and owners are no part of it. Links are never followed.

import { type BigIntStats, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { errnoOf } from '../../core/errors.ts';

export type FileState =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'file';
      /** SHA-256 in hexadecimal digits; absent where the content is not known. */
      readonly hash?: string;
      /** Bytes. */
      readonly size: number;
      /** Permission bits. */
      readonly mode: number;
    }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  /** A FIFO, socket or device: seen and never touched. */
  | { readonly kind: 'other' };

/** `path` is absolute. */
export interface FileChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

export const ABSENT: FileState = { kind: 'absent' };

export const PERMISSIONS = 0o7777;

/** Undefined when nothing is there. Throws system errors, such as EACCES. */
export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export function kindOf(info: Stats | BigIntStats): 'file' | 'link' | 'folder' | 'other' {
  if (info.isFile()) return 'file';
  if (info.isDirectory()) return 'folder';
  return info.isSymbolicLink() ? 'link' : 'other';
}

/** `content` gives the hash of a regular file, or undefined where it is not to be known. */
export function stateAt(path: string, content: (info: Stats) => string | undefined): FileState {
  const info = look(path);
  if (info === undefined) return ABSENT;
  switch (kindOf(info)) {
    case 'file': {
      const hash = content(info);
      const known = hash === undefined ? {} : { hash };
      return { kind: 'file', ...known, size: info.size, mode: info.mode & PERMISSIONS };
    }
    case 'link':
      return { kind: 'link', target: readlinkSync(path) };
    case 'folder':
      return { kind: 'folder', mode: info.mode & PERMISSIONS };
    case 'other':
      return { kind: 'other' };
  }
}

/** Two files whose content is not known are never the same. */
export function sameState(a: FileState, b: FileState): boolean {
  return sameContent(a, b) && modeOf(a) === modeOf(b);
}

/** The same but for permission bits. */
export function sameContent(a: FileState, b: FileState): boolean {
  if (a.kind === 'file' && b.kind === 'file') return a.hash !== undefined && a.hash === b.hash;
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target;
  return a.kind === b.kind && a.kind !== 'other';
}

export function modeOf(state: FileState): number | undefined {
  return state.kind === 'file' || state.kind === 'folder' ? state.mode : undefined;
}
