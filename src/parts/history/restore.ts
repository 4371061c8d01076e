// Carries out a plan. Every step is checked once more right before it is taken, so that what changed meanwhile is left
// alone, and taking the same steps again finishes what was interrupted. Files are replaced in one step each.

import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf, messageOf } from '../../core/errors.ts';
import type { ContentStore } from './content-store.ts';
import { ABSENT, type FileChange, type FileState, look, sameState } from './file-state.ts';
import { currentState, unsafeWay } from './restore-plan.ts';

export interface Restored {
  /** The steps that were taken, now or before an interruption. */
  readonly done: readonly FileChange[];
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

/** `beforeStep` lets a test stop in the middle. */
export function restore(
  steps: readonly FileChange[],
  store: ContentStore,
  beforeStep: () => void = () => {},
): Restored {
  const done: FileChange[] = [];
  const left: { path: string; why: string }[] = [];
  const attempt = (step: FileChange, action: () => string | undefined) => {
    beforeStep();
    let why: string | undefined;
    try {
      why = unsafeWay(step.path) ?? action();
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      why = messageOf(error);
    }
    if (why !== undefined) left.push({ path: step.path, why });
    return why === undefined;
  };
  const failed = new Set<FileChange>();
  const removed = new Set<FileChange>();
  const isGone = ({ before, after }: FileChange) => before.kind !== 'absent' && before.kind !== after.kind;
  // What goes makes room for what comes, from the inside out; folders come before what is in them.
  for (const step of steps.filter(isGone).sort(deepestFirst))
    if (!attempt(step, () => remove(step, store))) failed.add(step);
    else if (step.after.kind === 'absent') done.push(step);
    else removed.add(step);
  for (const step of steps
    .filter(({ after }) => after.kind !== 'absent')
    .sort((a, b) => deepestFirst(b, a))) {
    if (failed.has(step)) continue;
    if (attempt(step, () => create(step, store))) done.push(step);
    // What made room for something that could not come is gone all the same: only its record brings it back.
    else if (removed.has(step)) done.push({ ...step, after: ABSENT });
  }
  for (const { path, after } of done)
    if (after.kind === 'folder' && look(path)?.isDirectory() === true) chmodSync(path, after.mode);
  return { done, left };
}

function deepestFirst(a: FileChange, b: FileChange): number {
  return depth(b.path) - depth(a.path) || (a.path < b.path ? 1 : -1);
}

function depth(path: string): number {
  return path.split('/').length;
}

const CHANGED = 'it changed meanwhile';

function remove({ path, before, after }: FileChange, store: ContentStore): string | undefined {
  const now = currentState(path, store);
  if (typeof now === 'string') return now;
  if (now.kind === 'absent' || sameState(now, after)) return undefined;
  if (now.kind === 'folder' && before.kind === 'folder') return removeFolder(path);
  if (!sameState(now, before)) return CHANGED;
  unlinkSync(path);
  return undefined;
}

function removeFolder(path: string): string | undefined {
  try {
    rmdirSync(path);
    return undefined;
  } catch (error) {
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return 'it holds something else';
    throw error;
  }
}

function create({ path, before, after }: FileChange, store: ContentStore): string | undefined {
  const now = currentState(path, store);
  if (typeof now === 'string') return now;
  if (sameState(now, after)) return undefined;
  const isFree = now.kind === 'absent' && before.kind !== after.kind;
  const isFolder = now.kind === 'folder' && after.kind === 'folder';
  if (!isFree && !isFolder && !sameState(now, before)) return CHANGED;
  if (after.kind === 'folder') {
    // Its own mode comes last: one that cannot be written could not be filled.
    if (!isFolder) mkdirSync(path, { mode: 0o700 });
    else chmodSync(path, after.mode | 0o700);
    return undefined;
  }
  if (after.kind === 'link') {
    if (now.kind !== 'absent') unlinkSync(path);
    symlinkSync(after.target, path);
    return undefined;
  }
  return after.kind === 'file' ? writeFile(path, after, store) : undefined;
}

function writeFile(
  path: string,
  { hash, mode }: Extract<FileState, { kind: 'file' }>,
  store: ContentStore,
): string | undefined {
  const bytes = hash === undefined ? undefined : store.get(hash);
  if (bytes === undefined) return 'its content is no longer kept';
  const old = look(path);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(
    dirname(path),
    `.crab-${process.pid}-${Math.random().toString(36).slice(2, 12)}.tmp`,
  );
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      if (old !== undefined) keepOwner(fd, old);
      fchmodSync(fd, mode);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  return undefined;
}

function keepOwner(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    // Only root may give a file away.
    if (errnoOf(error) !== 'EPERM') throw error;
  }
}
