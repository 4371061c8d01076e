// One process at a time for the stored credentials. A refresh token is good for one use: two processes that used it
// at once would log the person out. The lock is a file that names its process, by pid and start time since pids are
// used again. One whose process is gone is taken away under a lock of its own, named after the dead one's content: of
// two that find it one looks again and removes it, and a live lock, whose content differs, is never touched.

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';

export interface LockOptions {
  readonly clock: Clock;
  /** Milliseconds to wait for others. */
  readonly waitMs?: number;
}

/** A refresh takes at most half of it, and those that wait behind find a fresh token and ask for nothing. */
const WAIT_MS = 60_000;
const PAUSE_MS = 20;
/** A lock without content is one that is being written, unless its process was killed in that moment. */
const EMPTY_IS_DEAD_MS = 1000;
/** Another machine's process cannot be looked for; nobody holds this lock for so long. */
const FOREIGN_IS_DEAD_MS = 120_000;

interface Holder {
  readonly pid: number;
  readonly start: string;
  readonly host: string;
}

/** Returns how to let go of it. Throws `auth-failed` when others keep it for too long. */
export async function acquireLock(
  path: string,
  { clock, waitMs = WAIT_MS }: LockOptions,
): Promise<() => void> {
  const self = thisProcess();
  const content = `${JSON.stringify({ ...self, nonce: randomBytes(8).toString('hex') })}\n`;
  const until = clock.monotonic() + waitMs;
  for (;;) {
    if (create(path, content)) return () => release(path, content);
    const found = read(path);
    if (found !== undefined && isDead(path, found, self)) await takeAway(path, found, { clock, waitMs });
    else if (clock.monotonic() > until) throw held(path, found);
    else await clock.sleep(PAUSE_MS * (1 + Math.random()));
  }
}

function create(path: string, content: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false;
    throw new CrabError('auth-failed', `${path} could not be made: ${messageOf(cause)}.`, { cause });
  }
  try {
    writeSync(file, content);
  } finally {
    closeSync(file);
  }
  // One that was stopped before it could write may have been taken for dead meanwhile.
  return read(path) === content;
}

async function takeAway(path: string, dead: string, options: LockOptions): Promise<void> {
  const name = createHash('sha256').update(dead).digest('hex').slice(0, 16);
  const letGo = await acquireLock(`${path}.${name}`, options);
  try {
    if (read(path) === dead) rmSync(path, { force: true });
  } finally {
    letGo();
  }
}

function release(path: string, content: string): void {
  if (read(path) === content) rmSync(path, { force: true });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isDead(path: string, content: string, self: Holder): boolean {
  const holder = parse(content);
  if (holder === undefined) return ageOf(path) > EMPTY_IS_DEAD_MS;
  if (holder.host !== self.host) return ageOf(path) > FOREIGN_IS_DEAD_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
  const stat = statOf(String(holder.pid));
  if (stat === undefined) return false;
  return stat.state === 'Z' || stat.state === 'X' || (holder.start !== '' && holder.start !== stat.start);
}

function parse(content: string): Holder | undefined {
  try {
    const { pid, start, host } = JSON.parse(content) as Partial<Holder>;
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
    return typeof start === 'string' && typeof host === 'string' ? { pid, start, host } : undefined;
  } catch {
    return undefined;
  }
}

/** The file's time is the system's, so its age is measured by the system's clock. */
function ageOf(path: string): number {
  const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return modified === undefined ? 0 : Date.now() - modified;
}

function thisProcess(): Holder {
  return {
    pid: process.pid,
    start: statOf('self')?.start ?? '',
    host: read('/proc/sys/kernel/hostname')?.trim() ?? '',
  };
}

/** proc(5): the state is field 3 and the start time field 22; the name before them may hold anything. */
function statOf(pid: string): { readonly state: string; readonly start: string } | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function held(path: string, content: string | undefined): CrabError {
  const pid = content === undefined ? undefined : parse(content)?.pid;
  const who = pid === undefined ? 'Another process' : `Process ${pid}`;
  return new CrabError('auth-failed', `${who} keeps the stored credentials to itself.`, {
    hint: `Try again; if that process is gone, remove ${path}.`,
    retryable: true,
  });
}
