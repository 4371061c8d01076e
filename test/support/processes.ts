// What other processes do while a test waits: processes of this machine, found by a mark in their arguments.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';

/** Pids of live processes whose arguments contain `mark`; a zombie counts as gone. */
export async function processesWith(mark: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => ((await argumentsOf(pid)).includes(mark) ? [Number(pid)] : [])),
  );
  return found.flat();
}

/** Asks again and again until it holds; fails after a minute. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`in vain: ${what}`);
}

/** Of a zombie, or of a process that is gone, nothing. */
async function argumentsOf(pid: string): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
