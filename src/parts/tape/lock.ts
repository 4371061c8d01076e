// One writer for one file, across processes: a file beside it, made only where there is none, that names the
// process. A lock outlives a killed process, so whoever finds one asks whether that process still lives, by
// pid and start time, since pids are used again. Taking over a dead lock is itself done under a lock, named
// after the dead one's content: of two that race for it one wins, and a late one finds a different lock there.

import { readFileSync, statSync } from 'node:fs';

import { CrabError, errnoOf } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { checksum, parseObject } from './line.ts';
import { FILE_MODE } from './paths.ts';
import { type SyncFs, storageError, unlinkIfThere, writeWhole } from './sync-fs.ts';

export interface Holder {
  readonly pid: number;
  /** Clock ticks from the boot to the process's start; empty where the system does not tell. */
  readonly start: string;
  readonly host: string;
}

export interface Lock {
  release(): void;
}

export interface LockOptions {
  /**
   * Milliseconds after which another machine's lock is a dead one: for what nobody holds for so long. Its process cannot be
   * looked for, and without this it counts as alive.
   */
  readonly foreignIsDeadMs?: number;
}

export interface Waiting extends LockOptions {
  readonly self: Holder;
  readonly disk: SyncFs;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly waitMs: number;
}

/** Other processes' locks vanish and change while one looks; more often than this is no coincidence. */
const MAX_ATTEMPTS = 20;

/** A lock without its content is one being written, which takes microseconds unless its process is stopped. */
const PAUSE_MS = 5;
const HALF_WRITTEN_IS_DEAD_MS = 1000;
/** Enough to see one that a killed process left half-written die. */
const MAX_PAUSES = (2 * HALF_WRITTEN_IS_DEAD_MS) / PAUSE_MS;

/** Milliseconds between two tries. */
const RETRY_MS = 10;

/** For what is held for a short step: waits for others, and throws as `acquireLock` when they keep it for too long. */
export async function lockWhenFree(path: string, waiting: Waiting): Promise<Lock> {
  const { self, disk, clock, waitMs } = waiting;
  const until = clock.monotonic() + waitMs;
  for (;;) {
    try {
      return acquireLock(path, self, disk, waiting);
    } catch (error) {
      const isHeld = error instanceof CrabError && error.code === 'session-held';
      if (!isHeld || clock.monotonic() > until) throw error;
    }
    await clock.sleep(RETRY_MS);
  }
}

/** Throws `session-held` with the holder's pid. `path` is the file to lock. */
export function acquireLock(path: string, self: Holder, disk: SyncFs, options: LockOptions = {}): Lock {
  const lockPath = lockPathOf(path);
  let holder: Holder | undefined;
  try {
    holder = acquire(lockPath, self, disk, options);
  } catch (error) {
    throw storageError(error, `lock ${path}`);
  }
  if (holder !== undefined) throw held(path, holder, self, lockPath);
  return { release: () => release(lockPath, self, disk) };
}

/** Whether a live process, this one included, holds `path`. A lock that cannot be read counts as held. */
export function isHeld(path: string, self: Holder): boolean {
  const lockPath = lockPathOf(path);
  try {
    const content = readLock(lockPath);
    if (content === undefined) return false;
    const holder = parseHolder(content);
    return holder === undefined ? isBeingWritten(lockPath) : isAlive(holder, self);
  } catch {
    return true;
  }
}

/** The process that `text` tells of, as `holderText` wrote it, lives. False for any other text. */
export function holderLives(text: string, self: Holder): boolean {
  const holder = parseHolder(text);
  return holder !== undefined && isAlive(holder, self);
}

export function holderText({ pid, start, host }: Holder): string {
  return `${JSON.stringify({ pid, start, host })}\n`;
}

export function thisProcess(): Holder {
  return {
    pid: process.pid,
    start: statOf('self')?.start ?? '',
    host: readIfAny('/proc/sys/kernel/hostname')?.trim() ?? '',
  };
}

function lockPathOf(path: string): string {
  return `${path}.lock`;
}

/** Returns the live process that has the lock, or undefined when this one has got it. */
function acquire(
  lockPath: string,
  self: Holder,
  disk: SyncFs,
  options: LockOptions = {},
): Holder | undefined {
  let pauses = 0;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (tryCreate(lockPath, self, disk)) return undefined;
    let found = readLock(lockPath);
    while (isHalf(found) && isBeingWritten(lockPath) && pauses++ < MAX_PAUSES) {
      pause();
      found = readLock(lockPath);
    }
    if (found === undefined) continue;
    const holder = parseHolder(found);
    if (holder !== undefined && isAlive(holder, self) && !isOutdated(lockPath, holder, self, options))
      return holder;
    if (takeOver(lockPath, found, self, disk)) return undefined;
  }
  throw new CrabError('session-held', `Other processes keep taking ${lockPath}.`);
}

function isHalf(content: string | undefined): boolean {
  return content !== undefined && parseHolder(content) === undefined;
}

function tryCreate(lockPath: string, self: Holder, disk: SyncFs): boolean {
  let fd: number;
  try {
    fd = disk.open(lockPath, 'ax', FILE_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeWhole(disk, fd, Buffer.from(holderText(self)), lockPath);
  } catch (error) {
    unlinkIfThere(disk, lockPath);
    throw error;
  } finally {
    disk.close(fd);
  }
  // Somebody may have taken an empty lock for a dead one while this process was stopped in between.
  return readLock(lockPath) === holderText(self);
}

/** False when the lock was no longer the dead one. */
function takeOver(lockPath: string, dead: string, self: Holder, disk: SyncFs): boolean {
  const guardPath = `${lockPath}.${checksum(dead)}`;
  if (acquire(guardPath, self, disk) !== undefined) {
    // Whoever has the guard may find that it came too late itself, so it is not the one to name.
    pause();
    return false;
  }
  try {
    if (readLock(lockPath) !== dead) return false;
    const temporary = `${guardPath}.new`;
    unlinkIfThere(disk, temporary);
    if (!tryCreate(temporary, self, disk)) return false;
    disk.rename(temporary, lockPath);
    return true;
  } finally {
    release(guardPath, self, disk);
  }
}

function release(lockPath: string, self: Holder, disk: SyncFs): void {
  if (readLock(lockPath) === holderText(self)) unlinkIfThere(disk, lockPath);
}

function readLock(lockPath: string): string | undefined {
  try {
    return readFileSync(lockPath, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isBeingWritten(lockPath: string): boolean {
  return ageOf(lockPath) < HALF_WRITTEN_IS_DEAD_MS;
}

function isOutdated(
  lockPath: string,
  holder: Holder,
  self: Holder,
  { foreignIsDeadMs }: LockOptions,
): boolean {
  return foreignIsDeadMs !== undefined && holder.host !== self.host && ageOf(lockPath) > foreignIsDeadMs;
}

/** A file's own time is the system's, so its age is measured by the system's clock. */
function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/** Blocks: locks are taken inside an append, which does not wait for anybody. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

function parseHolder(content: string): Holder | undefined {
  const { pid, start, host }: Partial<Holder> = parseObject(content) ?? {};
  if (!Number.isSafeInteger(pid) || pid === undefined || pid < 1) return undefined;
  return typeof start === 'string' && typeof host === 'string' ? { pid, start, host } : undefined;
}

/** What cannot be known counts as alive: another machine's process, a start time that nobody tells. */
function isAlive(holder: Holder, self: Holder): boolean {
  if (holder.host !== self.host) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false;
  }
  const stat = statOf(String(holder.pid));
  if (stat === undefined) return true;
  const isGone = stat.state === 'Z' || stat.state === 'X';
  return !isGone && (holder.start === '' || holder.start === stat.start);
}

/** proc(5): the state is field 3 and the start time field 22; the name before them may hold anything. */
function statOf(pid: string): { readonly state: string; readonly start: string } | undefined {
  const text = readIfAny(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function readIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function held(what: string, holder: Holder, self: Holder, lockPath: string): CrabError {
  const where = holder.host === self.host ? '' : ` on ${holder.host}`;
  const hint = `Close the other process, or start a session of your own; if it is gone, remove ${lockPath}.`;
  return new CrabError('session-held', `${what} is open in process ${holder.pid}${where}.`, { hint });
}
