// The processes that a call started, found and ended. A process group catches what stays in it; on Linux
// `/proc` also shows what left it (setsid, double fork, job control), by its session, its ancestors and a
// marker in its environment. Only a program that drops its environment, its session and its parents at once is missed.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../../core/host.ts';
import { CALL_VARIABLE } from './environment.ts';

export type Kill = (target: number, signal: NodeJS.Signals | 0) => void;

/** What `process.kill` takes: a process, or a group as a negative number. */
type Target = number;

export interface Tree {
  /** The main process, which leads its own session and group. */
  readonly pid: number;
  /** In `CALL_VARIABLE` of all its descendants. */
  readonly marker: string;
}

/** Milliseconds after SIGKILL before a process is left to the system: it may hang in the kernel for ever. */
const GIVE_UP_MS = 1000;

const LONGEST_PAUSE_MS = 25;

export interface Ending {
  readonly clock: Clock;
  readonly kill: Kill;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly patienceMs: number;
}

/** Ends everything that `find` finds, and asks again until it finds nothing. Never rejects. */
export async function extinguish(find: () => readonly Target[], ending: Ending): Promise<void> {
  const started = ending.clock.monotonic();
  const asked = new Set<Target>();
  const untouchable = new Set<Target>();
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const targets = find().filter((target) => !untouchable.has(target));
    if (targets.length === 0) return;
    const elapsed = ending.clock.monotonic() - started;
    if (elapsed > ending.patienceMs + GIVE_UP_MS) return;
    const patient = elapsed < ending.patienceMs;
    for (const target of targets) {
      if (patient && asked.has(target)) continue;
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

/** What lives of a call: its group as one target, and each process outside of it. */
export function findTree(tree: Tree): readonly Target[] {
  const processes = listProcesses();
  if (processes === undefined) return groupAlive(tree.pid) ? [-tree.pid] : [];
  const members = new Set<number>();
  const outside: number[] = [];
  for (const { pid, group, session } of processes) {
    if (group === tree.pid || session === tree.pid || carries(pid, [tree.marker])) members.add(pid);
  }
  addDescendants(processes, members);
  let grouped = false;
  for (const { pid, group } of processes) {
    if (!members.has(pid)) continue;
    if (group === tree.pid) grouped = true;
    else outside.push(pid);
  }
  return grouped ? [-tree.pid, ...outside] : outside;
}

/** Processes that carry a marker which begins with `prefix`, but none of `except`. Linux only. */
export function findMarked(prefix: string, except: Iterable<string>): readonly Target[] {
  const markers = [...except];
  return (listProcesses() ?? [])
    .map(({ pid }) => pid)
    .filter((pid) => carries(pid, [prefix]) && !carries(pid, markers));
}

/** Resolves when nothing of a call is left that can be found and killed. */
export async function endTree(tree: Tree, ending: Ending): Promise<void> {
  if (process.platform === 'win32') taskkill(tree.pid);
  else await extinguish(() => findTree(tree), ending);
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

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** Every living process that is younger than this one, or undefined where there is no `/proc`. */
function listProcesses(): readonly ProcessRow[] | undefined {
  const own = readStat('self');
  if (own === undefined) return undefined;
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const stat = readStat(name);
    if (stat === undefined || stat.started < own.started || stat.state === 'Z' || stat.state === 'X')
      continue;
    rows.push({ pid, parent: stat.parent, group: stat.group, session: stat.session });
  }
  return rows;
}

/** The fields of proc_pid_stat(5) that follow the name, which may itself hold blanks and brackets. */
function readStat(pid: string) {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    state: fields[0],
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started: Number(fields[19]),
  };
}

function carries(pid: number, markers: readonly string[]): boolean {
  if (markers.length === 0) return false;
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return false;
  }
  const start = environment.startsWith(`${CALL_VARIABLE}=`) ? 0 : environment.indexOf(`\0${CALL_VARIABLE}=`);
  if (start < 0) return false;
  const end = environment.indexOf('\0', start + 1);
  const value = environment.slice(start, end < 0 ? undefined : end);
  return markers.some((marker) => value.includes(marker));
}

function addDescendants(processes: readonly ProcessRow[], members: Set<number>): void {
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent } of processes) if (members.has(parent)) members.add(pid);
  }
}
