// The door to file history. What a run that changes nothing never uses is loaded with the first call that may.

import { existsSync, realpathSync } from 'node:fs';
import type { Access } from '../../core/permission.ts';
import type { Rewinding } from '../../core/rewind.ts';
import type { Tape } from '../../core/tape.ts';
import { reachOf } from './reach.ts';
import type { Watch, WatchOptions } from './watch.ts';
import type { HistoryOptions, Workspace } from './workspace.ts';

export interface Histories {
  /** Undefined where nothing can be changed by such a call, or nothing is kept. Never rejects. */
  watch(tape: Tape, access: Access, options: Omit<WatchOptions, 'owner'>): Promise<Watch | undefined>;
  rewinding(tape: Tape): Promise<Rewinding>;
  /** Finishes a rewind that was interrupted, before anything else is done with the session. */
  recover(tape: Tape): Promise<readonly string[]>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createHistories(options: HistoryOptions): Histories {
  const open = new Map<string, Promise<Workspace>>();

  async function workspace(cwd: string): Promise<Workspace> {
    const root = realpathSync(cwd);
    let opening = open.get(root);
    if (opening === undefined) {
      opening = import('./workspace.ts').then(({ Workspace }) => Workspace.open(root, options));
      open.set(root, opening);
      // One that could not be opened, as on a full disk, is tried again.
      opening.catch(() => open.delete(root));
    }
    return opening;
  }

  /** A session that leaves nothing behind has no file history either. */
  const isKept = (tape: Tape) => tape.path !== undefined && options.quotaBytes > 0;

  return {
    async watch(tape, access, given) {
      const watching = { ...given, owner: tape };
      if (!isKept(tape) || reachOf(access) === 'nothing') return undefined;
      const { unwatched, watchCall } = await import('./watch.ts');
      try {
        return await watchCall(await workspace(tape.header.cwd), access, watching);
      } catch (error) {
        return unwatched(watching, error);
      }
    },
    async rewinding(tape) {
      const { createRewinding } = await import('./session-history.ts');
      return createRewinding({
        tape,
        options,
        workspace: () => (isKept(tape) ? workspace(tape.header.cwd) : undefined),
      });
    },
    async recover(tape) {
      if (!isKept(tape) || !existsSync(`${options.home}/history`) || !existsSync(tape.header.cwd)) return [];
      const { finishRewind } = await import('./session-history.ts');
      return finishRewind(tape, options, () => workspace(tape.header.cwd));
    },
    async close() {
      const all = await Promise.allSettled(open.values());
      open.clear();
      let isGrown = false;
      for (const each of all) {
        if (each.status === 'rejected') continue;
        isGrown ||= each.value.store.added > 0;
        // What records name is durable already; what is left is a cache, and no reason to call a good run a failure.
        await each.value.close().catch(() => {});
      }
      if (isGrown) await import('./collect.ts').then(({ collect }) => collect(options)).catch(() => {});
    },
  };
}
