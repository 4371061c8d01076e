// What a whole tree of processes may take at once. The kernel's own limits are for one process, or for all that a person
// runs, and cgroups are somebody else's to give on most machines: so one look at `/proc` counts for all trees together.
// A command that ends within half a second costs a timer and nothing else. Linux only: elsewhere trees are not seen.

import { totalmem } from 'node:os';
import type { Bounds, Clock } from '../../core/host.ts';
import {
  countTasks,
  listProcesses,
  memoryInfo,
  memoryOf,
  offerToKernel,
  type ProcessRow,
  pageSize,
} from './process-rows.ts';
import { type Found, forgetGone, membersOf, nobody, type Tree } from './tree.ts';

const FIRST_LOOK_MS = 500;

/** Between glances at the number of all tasks, which cost next to nothing; and the same for trees that are old. */
const GLANCE_MS = 100;
const CALM_GLANCE_MS = 500;
const CALM_AFTER_MS = 5000;

const LONGEST_PAUSE_MS = 2000;

/** How fast memory is taken by whoever does nothing else: as long as that takes, nobody need look. */
const KIB_IN_A_MS = 4096;

/** Of the time; a look takes longer where there are many processes. */
const SHARE_OF_TIME = 0.02;

/** Of the tasks that a tree may have: so many more than before are worth a look. */
const SHARE_OF_TASKS = 0.25;

/**
 * Of the machine's memory and its swap space, or of what the container may have. Whoever takes more has left nothing to
 * others: soon the kernel would choose somebody to kill.
 */
const SHARE_OF_MEMORY = 0.9;

/** MiB that a command may use where nobody has said how much. */
export function usualMemoryMib(): number {
  const [swap = 0] = memoryInfo('SwapTotal');
  const all = totalmem() + swap * 1024;
  const constrained = process.constrainedMemory();
  const available = constrained > 0 ? Math.min(constrained, all) : all;
  return Math.floor((SHARE_OF_MEMORY * available) / 1024 / 1024);
}

interface Watched {
  readonly tree: Tree;
  readonly bounds: Bounds;
  readonly since: number;
  readonly found: Found;
  readonly exceeded: (sentence: string) => void;
  isOffered: boolean;
}

export class BoundsWatch {
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #nextLook = Number.POSITIVE_INFINITY;
  /** All tasks of the machine when somebody last looked. */
  #tasks: number | undefined;
  #pageKib: number | undefined;
  #usualMemory: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `exceeded` is called once, with a sentence that says how much it was and how much it may be. */
  add(tree: Tree, bounds: Bounds, exceeded: (sentence: string) => void): void {
    if (process.platform !== 'linux') return;
    const since = this.#clock.monotonic();
    this.#watched.set(tree.marker, { tree, bounds, since, found: nobody(), exceeded, isOffered: false });
    this.#nextLook = Math.min(this.#nextLook, since + FIRST_LOOK_MS);
    if (this.#watched.size === 1) this.#tasks = undefined;
    this.#schedule(GLANCE_MS);
  }

  remove({ marker }: Tree): void {
    this.#watched.delete(marker);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#nextLook = Number.POSITIVE_INFINITY;
  }

  #schedule(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#glance();
    }, ms).unref();
  }

  #glance(): void {
    const now = this.#clock.monotonic();
    if (now >= this.#nextLook || this.#multiplies()) this.#look();
    if (this.#watched.size === 0) return;
    const youngest = Math.max(...[...this.#watched.values()].map(({ since }) => since));
    this.#schedule(now - youngest < CALM_AFTER_MS ? GLANCE_MS : CALM_GLANCE_MS);
  }

  #multiplies(): boolean {
    const tasks = countTasks() ?? 0;
    this.#tasks ??= tasks;
    const limits = [...this.#watched.values()].map(
      ({ bounds }) => bounds.processes ?? Number.POSITIVE_INFINITY,
    );
    return tasks - this.#tasks > SHARE_OF_TASKS * Math.min(...limits);
  }

  #look(): void {
    const before = process.cpuUsage();
    const rows = listProcesses() ?? [];
    this.#tasks = countTasks();
    let pause = LONGEST_PAUSE_MS;
    for (const watched of this.#watched.values()) pause = Math.min(pause, this.#judge(watched, rows));
    const { user, system } = process.cpuUsage(before);
    const rest = Math.max(GLANCE_MS, pause, (user + system) / 1000 / SHARE_OF_TIME);
    this.#nextLook = this.#clock.monotonic() + Math.min(LONGEST_PAUSE_MS, rest);
  }

  /** Milliseconds until it could go over what it may have. */
  #judge(watched: Watched, rows: readonly ProcessRow[]): number {
    const { tree, bounds, found, exceeded } = watched;
    const ids = membersOf(rows, tree, found);
    forgetGone(rows, found);
    const members = rows.filter(({ pid }) => ids.has(pid));
    if (!watched.isOffered) for (const { pid } of members) offerToKernel(pid);
    watched.isOffered = true;
    const sentence = this.#manySentence(members, bounds);
    this.#usualMemory ??= usualMemoryMib();
    const limit = (bounds.memoryMib ?? this.#usualMemory) * 1024;
    const used = sentence === undefined ? this.#memory(members, limit) : 0;
    if (sentence === undefined && used <= limit) return (limit - used) / KIB_IN_A_MS;
    this.remove(tree);
    exceeded(sentence ?? memorySentence(used, limit));
    return LONGEST_PAUSE_MS;
  }

  #manySentence(members: readonly ProcessRow[], { processes }: Bounds): string | undefined {
    const tasks = members.reduce((sum, { threads }) => sum + threads, 0);
    if (processes === undefined || tasks <= processes) return undefined;
    return `It was ended: it had ${tasks} processes and threads, and ${processes} is the limit (max_processes).`;
  }

  /**
   * KiB. What is shared counts for each who shares it, and mapped files count: more than it takes. Only where that is too
   * much the kernel is asked for each one's part, which takes it long.
   */
  #memory(members: readonly ProcessRow[], limit: number): number {
    this.#pageKib ??= pageSize() / 1024;
    const pageKib = this.#pageKib;
    const [total = 0, free = 0] = memoryInfo('SwapTotal', 'SwapFree');
    const most = members.reduce((sum, { pages }) => sum + pages * pageKib, total - free);
    if (most <= limit) return most;
    return members.reduce((sum, { pid, pages }) => sum + (memoryOf(pid) ?? pages * pageKib), 0);
  }
}

function memorySentence(used: number, limit: number): string {
  return `It was ended: it used ${gibibytes(used)} of memory, and ${gibibytes(limit)} is the limit (max_memory_mib).`;
}

function gibibytes(kib: number): string {
  return kib < 1024 * 1024 ? `${Math.round(kib / 1024)} MiB` : `${(kib / 1024 / 1024).toFixed(1)} GiB`;
}
