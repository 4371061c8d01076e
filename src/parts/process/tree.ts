// The processes that a call started, found and ended. A process group catches what stays in it; on Linux
// `/proc` also shows what left it (setsid, double fork, job control), by its session, its ancestors and a
// marker in its environment. Only a program that drops its environment, its session and its parents at once is missed.

import { spawn } from 'node:child_process';
import type { Clock } from '../../core/host.ts';
import { carries, listProcesses, ownSession, type ProcessRow } from './process-rows.ts';

export type Kill = (target: number, signal: NodeJS.Signals | 0) => void;

/** What `process.kill` takes: a process, or a group as a negative number. */
type Target = number;

export interface Tree {
  /** The main process, which leads its own session and group. */
  readonly pid: number;
  /** In `CALL_VARIABLE` of all its descendants. */
  readonly marker: string;
  /** The main process takes all others with it when it ends: it is asked last. */
  readonly isKeeper?: boolean;
}

/** Milliseconds after SIGKILL before a process is left to the system: it may hang in the kernel for ever. */
const GIVE_UP_MS = 1000;

/** The same while others appear: what multiplies is killed faster than it does, but not at once. */
const CHASE_MS = 30_000;

const LONGEST_PAUSE_MS = 25;

export interface Ending {
  readonly clock: Clock;
  readonly kill: Kill;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly patienceMs: number;
  /** Left alone while others have time to end. */
  readonly last?: Target;
}

/** Ends everything that `find` finds, and asks again until it finds nothing. Never rejects. */
export async function extinguish(find: () => readonly Target[], ending: Ending): Promise<void> {
  const started = ending.clock.monotonic();
  const asked = new Set<Target>();
  const untouchable = new Set<Target>();
  let lastNews = 0;
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const targets = find().filter((target) => !untouchable.has(target));
    if (targets.length === 0) return;
    const elapsed = ending.clock.monotonic() - started;
    const patient = elapsed < ending.patienceMs;
    const news = targets.some((target) => !asked.has(target));
    if (news) lastNews = elapsed;
    if (elapsed > ending.patienceMs + CHASE_MS) return;
    if (elapsed > Math.max(ending.patienceMs, lastNews) + GIVE_UP_MS) return;
    for (const target of targets) {
      if (patient && (asked.has(target) || (target === ending.last && targets.length > 1))) continue;
      asked.add(target);
      if (!end(target, patient, ending.kill)) untouchable.add(target);
    }
    await ending.clock.sleep(pause);
  }
}

/** False when the system does not let us: it belongs to another user. */
function end(target: Target, patient: boolean, kill: Kill): boolean {
  try {
    kill(target, patient ? 'SIGTERM' : 'SIGKILL');
    // A stopped process sees SIGTERM only when it goes on.
    if (patient) kill(target, 'SIGCONT');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  return true;
}

/** Whether anything is left in the group that the main process led. Cheap: one system call. */
export function groupAlive(pid: number): boolean {
  if (process.platform === 'win32') return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    // macOS answers EPERM for a group of zombies; elsewhere it means a living process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM' && process.platform !== 'darwin';
  }
}

/**
 * Who was found before. The first signal takes the parents away by which others were found, so that whoever ignores it
 * must be remembered; and so must the sessions, since nobody can enter one that somebody else has begun.
 */
export interface Found {
  /** Process ids, with the time of the start: an id is given out again. */
  readonly pids: Map<number, number>;
  readonly sessions: Set<number>;
  /** Those that were looked at and carry no mark of it: an environment is that of the first look. */
  readonly strangers: Map<number, number>;
}

export const nobody = (): Found => ({ pids: new Map(), sessions: new Set(), strangers: new Map() });

/** What lives of a call: its group as one target, and each process outside of it. */
export function findTree(tree: Tree, found: Found = nobody()): readonly Target[] {
  const processes = listProcesses();
  if (processes === undefined) return groupAlive(tree.pid) ? [-tree.pid] : [];
  const members = membersOf(processes, tree, found);
  const outside: number[] = [];
  let grouped = false;
  for (const { pid, group } of processes) {
    if (!members.has(pid)) continue;
    if (group === tree.pid) grouped = true;
    else outside.push(pid);
  }
  return grouped ? [-tree.pid, ...outside] : outside;
}

/** Process ids of all that lives of a call. */
export function membersOf(processes: readonly ProcessRow[], tree: Tree, found: Found): ReadonlySet<number> {
  const members = new Set<number>();
  for (const row of processes) {
    const { pid, group, session } = row;
    if (group === tree.pid || session === tree.pid || isMarked(row, tree.marker, found)) members.add(pid);
  }
  addRelated(processes, members, found);
  return members;
}

/** Reads each environment once. */
function isMarked({ pid, started }: ProcessRow, marker: string, found: Found): boolean {
  if (found.pids.get(pid) === started) return true;
  if (found.strangers.get(pid) === started) return false;
  const isMine = carries(pid, [marker]);
  if (isMine === false) found.strangers.set(pid, started);
  return isMine === true;
}

/** For whoever looks again and again: a number that is free again may be somebody else's next time. */
export function forgetGone(processes: readonly ProcessRow[], { pids, sessions, strangers }: Found): void {
  const starts = new Map(processes.map(({ pid, started }) => [pid, started]));
  const living = new Set(processes.map(({ session }) => session));
  for (const known of [pids, strangers])
    for (const [pid, started] of known) if (starts.get(pid) !== started) known.delete(pid);
  for (const session of sessions) if (!living.has(session) && !starts.has(session)) sessions.delete(session);
}

/**
 * Processes that carry a marker which begins with `prefix`, but none of `except`, and what belongs to them. Linux only.
 */
export function findMarked(
  prefix: string,
  except: Iterable<string>,
  found: Found = nobody(),
): readonly Target[] {
  const markers = [...except];
  const processes = listProcesses() ?? [];
  const members = new Set<number>();
  for (const { pid } of processes) if (carries(pid, [prefix]) && !carries(pid, markers)) members.add(pid);
  addRelated(processes, members, found);
  return [...members];
}

/** Resolves when nothing of a call is left that can be found and killed. */
export async function endTree(tree: Tree, ending: Ending): Promise<void> {
  if (process.platform === 'win32') taskkill(tree.pid);
  else {
    const found = nobody();
    const last = tree.isKeeper === true ? { last: -tree.pid } : {};
    await extinguish(() => findTree(tree, found), { ...ending, ...last });
  }
}

/** Kills and waits for nothing. */
export function killTree(tree: Tree, kill: Kill): void {
  if (process.platform === 'win32') taskkill(tree.pid);
  else killNow(findTree(tree), kill);
}

export function killNow(targets: readonly Target[], kill: Kill): void {
  for (const target of targets) end(target, false, kill);
}

/** Windows knows no process groups: its own tool walks the tree by parents. */
function taskkill(pid: number): void {
  const options = { stdio: 'ignore', windowsHide: true } as const;
  spawn('taskkill', ['/pid', String(pid), '/T', '/F'], options).on('error', () => {});
}

/** Adds who was found before, children, and whoever shares a session with a member, and remembers all of them. */
function addRelated(processes: readonly ProcessRow[], members: Set<number>, found: Found): void {
  // Nobody who is started here stays in it; were it otherwise, all that the person has started would be theirs.
  const own = ownSession();
  const { pids, sessions } = found;
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent, session, started } of processes) {
      if (members.has(parent) || sessions.has(session) || pids.get(pid) === started) members.add(pid);
      if (!members.has(pid)) continue;
      pids.set(pid, started);
      // The session that it may begin between this look and the next has its number.
      sessions.add(pid);
      if (session !== own) sessions.add(session);
    }
  }
}
