// Who is in a worktree, told by the locks of sessions and of processes.

import { basename, join } from 'node:path';
import type { Presence } from '../parts/worktree/copies.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

export function worktreeFolder(env: Environment): string {
  return join(crabHome(env), 'worktrees');
}

export function presenceOf(env: Environment): Presence {
  const locks = () => import('../parts/tape/lock.ts');
  return {
    async here() {
      const { holderText, thisProcess } = await locks();
      return holderText(thisProcess()).trim();
    },
    async lives(residence) {
      const { holderLives, thisProcess } = await locks();
      return holderLives(residence, thisProcess());
    },
    async session(id) {
      const [{ isHeld, thisProcess }, { createTapes }] = await Promise.all([
        locks(),
        import('../parts/tape/tapes.ts'),
      ]);
      const tapes = createTapes({ home: crabHome(env), clock: systemClock, random: Math.random });
      const path = (await tapes.paths()).find((each) => basename(each) === `${id}.jsonl`);
      if (path === undefined) return 'gone';
      return isHeld(path, thisProcess()) ? 'open' : 'closed';
    },
  };
}
