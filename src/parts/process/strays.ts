// What a process of Crab that was killed has left running: nobody was there to end it. Whoever takes its place does.
// Linux only: elsewhere nobody can tell whose they are.

import { readdirSync } from 'node:fs';
import { carries } from './process-rows.ts';
import { type Kill, killNow } from './tree.ts';

/** Ends at once what process `pid` started, if that is gone. Returns how many there were. */
export function endStraysOf(pid: number, kill: Kill = process.kill): number {
  try {
    kill(pid, 0);
    return 0;
  } catch {
    // A whole mark, at the beginning or behind that of an outer agent: 711. is the end of another one, too.
    const marks = [`=${pid}.`, `;${pid}.`];
    const found = listed().filter((one) => one !== process.pid && carries(one, marks));
    killNow(found, kill);
    return found.length;
  }
}

function listed(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
