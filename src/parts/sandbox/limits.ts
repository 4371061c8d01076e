// The limits that the kernel keeps of one process (setrlimit(2)), set by a shell that becomes the program. Those of a whole
// tree are kept by whoever starts it. Memory is among those alone: Node 24 takes 512 MiB of writable address space for
// each of its workers and touches next to none of it, so that RLIMIT_DATA would end honest programs.

import type { SandboxLimits } from '../../core/sandbox.ts';

export interface LimitedOptions {
  /** All that the person runs is counted, as it is outside a user namespace: so much as the machine runs is let be. */
  readonly isBesideOthers?: boolean;
}

export function limited(
  argv: readonly string[],
  { fileMib, cpuSeconds, processes }: SandboxLimits,
  { isBesideOthers = false }: LimitedOptions = {},
): readonly string[] {
  const lines = [
    // In blocks of 512 bytes (POSIX).
    ...(fileMib === undefined ? [] : [lowered(`ulimit -f ${fileMib * 2048}`)]),
    ...(cpuSeconds === undefined ? [] : [lowered(`ulimit -t ${cpuSeconds}`)]),
    ...(processes === undefined ? [] : processLines(processes, isBesideOthers)),
  ];
  return lines.length === 0 ? argv : ['/bin/sh', '-c', `${lines.join('\n')}\nexec "$@"`, 'sh', ...argv];
}

function processLines(processes: number, isBesideOthers: boolean): readonly string[] {
  // dash calls it -p, the others -u.
  const set = (count: string) => lowered(`ulimit -u ${count} 2>/dev/null || ulimit -p ${count}`);
  if (!isBesideOthers) return [set(String(processes))];
  // Root is not counted.
  if (process.geteuid?.() === 0) return [];
  return [
    `read -r _ _ _ tasks _ 2>/dev/null </proc/loadavg && tasks=\${tasks#*/} || tasks=`,
    `[ -z "$tasks" ] || ${set(`$((tasks + ${processes}))`)}`,
  ];
}

/** It fails where somebody has set a lower one, which cannot be raised. */
function lowered(line: string): string {
  return `{ ${line}; } 2>/dev/null || :`;
}
