// The processes of this machine as `/proc` shows them (proc(5)). Linux only: elsewhere nobody sees more than groups.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { CALL_VARIABLE } from './environment.ts';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Ticks of the system's clock. */
  readonly started: number;
  readonly threads: number;
  /** In memory at this moment, files that are mapped and what is shared included. */
  readonly pages: number;
}

/** Every living process that is younger than this one, or undefined where there is no `/proc`. */
export function listProcesses(): readonly ProcessRow[] | undefined {
  const own = readStat('self');
  const names = own === undefined ? undefined : list('/proc');
  if (own === undefined || names === undefined) return undefined;
  const rows: ProcessRow[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const stat = readStat(name);
    if (stat === undefined || stat.started < own.started || stat.state === 'Z' || stat.state === 'X')
      continue;
    const { state: _, ...row } = stat;
    rows.push({ pid, ...row });
  }
  return rows;
}

function list(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

export function ownSession(): number | undefined {
  return readStat('self')?.session;
}

/** The fields of proc_pid_stat(5) that follow the name, which may itself hold blanks and brackets. */
function readStat(pid: string) {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 22);
  return {
    state: fields[0],
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    threads: Number(fields[17]),
    started: Number(fields[19]),
    pages: Number(fields[21]),
  };
}

/** Whether a marker is in the environment that it was started with; undefined where nothing can be read of it. */
export function carries(pid: number, markers: readonly string[]): boolean | undefined {
  if (markers.length === 0) return false;
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return undefined;
  }
  // It has none, or is being replaced by another program at this moment.
  if (environment === '') return undefined;
  const start = environment.startsWith(`${CALL_VARIABLE}=`) ? 0 : environment.indexOf(`\0${CALL_VARIABLE}=`);
  if (start < 0) return false;
  const end = environment.indexOf('\0', start + 1);
  const value = environment.slice(start, end < 0 ? undefined : end);
  return markers.some((marker) => value.includes(marker));
}

/**
 * KiB of memory that are this process's part, without what can be read again from a file; 0 when it has ended, undefined where
 * one may not ask.
 */
export function memoryOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
    const own = of('Pss_Anon') + of('Pss_Shmem') + of('SwapPss');
    return text === '' ? 0 : Number.isNaN(own) ? of('Pss') : own;
  } catch (error) {
    return /^(?:ENOENT|ESRCH)$/.test(String(Object(error).code)) ? 0 : undefined;
  }
}

/** In the thousandths of the machine's memory that the kernel adds to what a process has when it chooses whom to kill. */
const OFFERED = 300;

/** Where memory runs out before anybody looks, the kernel shall take a command and not who looks after it. */
export function offerToKernel(pid: number): void {
  const file = `/proc/${pid}/oom_score_adj`;
  try {
    if (Number(readFileSync(file, 'latin1')) < OFFERED) writeFileSync(file, String(OFFERED));
  } catch {
    // It is gone, or not ours.
  }
}

/** Of all users and containers of this kernel; undefined where it does not say. */
export function countTasks(): number | undefined {
  try {
    return Number(/\d+\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? Number.NaN) || undefined;
  } catch {
    return undefined;
  }
}

/** KiB, as `/proc/meminfo` names them; 0 for what it does not name. */
export function memoryInfo(...names: readonly string[]): readonly number[] {
  let text = '';
  try {
    text = readFileSync('/proc/meminfo', 'latin1');
  } catch {
    // Not Linux.
  }
  return names.map((name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0));
}

/** Bytes of a page: AT_PAGESZ of the auxiliary vector (getauxval(3)). */
export function pageSize(): number {
  try {
    const vector = readFileSync('/proc/self/auxv');
    for (let at = 0; at + 16 <= vector.length; at += 16)
      if (vector.readBigUInt64LE(at) === 6n) return Number(vector.readBigUInt64LE(at + 8));
  } catch {
    // The usual size, then.
  }
  return 4096;
}
