// Where memories lie, and who may change one at a time.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CrabError } from '../core/errors.ts';
import { createMemories } from '../parts/memory/memories.ts';
import type { Memories } from '../parts/memory/memory-tools.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

const PATIENCE_MS = 10_000;
const PAUSE_MS = 10;

export function memoriesOf(env: Environment): Memories {
  const folder = join(crabHome(env), 'memory');
  return createMemories({
    clock: systemClock,
    path: (agent, project) =>
      project === undefined
        ? join(folder, `${fileName(agent)}.crmem`)
        : join(folder, 'projects', fileName(project), `${fileName(agent)}.crmem`),
    project: projectRoot,
    lock,
  });
}

/** The nearest folder that holds a repository, else the folder itself. */
function projectRoot(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return cwd;
  }
}

/** A readable name that no other text has: its last part, and a hash where that is not all of it. */
function fileName(text: string): string {
  const readable = basename(text)
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 40);
  return readable === text && text === text.toLowerCase() ? text : `${readable || 'root'}-${hash(text)}`;
}

/** FNV-1a with 64 bits (isthe.com/chongo/tech/comp/fnv): no secret hangs on it. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, '0');
}

async function lock(path: string): Promise<() => void> {
  const [{ acquireLock, thisProcess }, { nodeSyncFs }] = await Promise.all([
    import('../parts/tape/lock.ts'),
    import('../parts/tape/sync-fs.ts'),
  ]);
  const { mkdirSync } = await import('node:fs');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const until = systemClock.monotonic() + PATIENCE_MS;
  for (;;) {
    try {
      const held = acquireLock(path, thisProcess(), nodeSyncFs);
      return () => held.release();
    } catch (error) {
      const busy = error instanceof CrabError && error.code === 'session-held';
      if (!busy || systemClock.monotonic() > until) throw error;
      await systemClock.sleep(PAUSE_MS);
    }
  }
}
