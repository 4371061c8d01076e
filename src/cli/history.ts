// Where the history of files lies, how large it may grow, and who uses it at a time.

import { realpathSync } from 'node:fs';
import type { Settings } from '../core/settings.ts';
import { parseIgnoreRules } from '../parts/files/ignore-rules.ts';
import type { HistoryOptions } from '../parts/history/workspace.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

const MIB = 1024 * 1024;
const DEFAULT_QUOTA_MIB = 1024;

export function historyOptions(
  env: Environment,
  { newId, settings }: { readonly newId: () => string; readonly settings: Settings },
): HistoryOptions {
  return {
    home: resolved(crabHome(env)),
    quotaBytes: (settings.history?.quotaMib ?? DEFAULT_QUOTA_MIB) * MIB,
    parseRules: parseIgnoreRules,
    newId,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    lock: async (path) => {
      const [{ acquireLock, thisProcess }, { nodeSyncFs }] = await Promise.all([
        import('../parts/tape/lock.ts'),
        import('../parts/tape/sync-fs.ts'),
      ]);
      return acquireLock(path, thisProcess(), nodeSyncFs);
    },
    isLocked: async (path) => {
      const { isHeld, thisProcess } = await import('../parts/tape/lock.ts');
      return isHeld(path, thisProcess());
    },
  };
}

/** A home that is not there yet is not in the way either. */
function resolved(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
}
