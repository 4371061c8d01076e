// A file that one process changes at a time; whoever comes second waits for a while.

import { dirname } from 'node:path';
import type { LockOptions } from '../parts/tape/lock.ts';
import { systemClock } from './clock.ts';

const PATIENCE_MS = 10_000;

export interface FileLockOptions extends LockOptions {
  /** Milliseconds to wait for others. */
  readonly waitMs?: number;
}

/** Makes the folder of the file. Resolves with what releases it. Throws `CrabError`: `session-held`, `storage-failed`. */
export async function lockFile(
  path: string,
  { waitMs = PATIENCE_MS, ...options }: FileLockOptions = {},
): Promise<() => void> {
  const [{ lockWhenFree, thisProcess }, { nodeSyncFs, storageError }] = await Promise.all([
    import('../parts/tape/lock.ts'),
    import('../parts/tape/sync-fs.ts'),
  ]);
  try {
    nodeSyncFs.mkdir(dirname(path), 0o700);
  } catch (error) {
    throw storageError(error, `create ${dirname(path)}`);
  }
  const self = thisProcess();
  const lock = await lockWhenFree(path, { self, disk: nodeSyncFs, clock: systemClock, waitMs, ...options });
  return () => lock.release();
}

/** A refresh takes at most half of it, and those that wait behind find a fresh token and ask for nothing. */
const CREDENTIALS_WAIT_MS = 60_000;
/** No machine refreshes for so long. */
const CREDENTIALS_FOREIGN_MS = 120_000;

/** For the stored credentials, in a home that several machines may share. */
export function lockCredentials(path: string): Promise<() => void> {
  return lockFile(path, { waitMs: CREDENTIALS_WAIT_MS, foreignIsDeadMs: CREDENTIALS_FOREIGN_MS });
}
