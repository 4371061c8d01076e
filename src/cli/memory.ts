// Where memories lie, and who may change one at a time.

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ULID_PATTERN } from '../core/ids.ts';
import { createMemories } from '../parts/memory/memories.ts';
import type { Memories } from '../parts/memory/scopes.ts';
import { systemClock } from './clock.ts';
import { lockFile } from './file-lock.ts';
import { crabHome, type Environment } from './home.ts';

export function memoriesOf(env: Environment, redact?: (text: string) => string): Memories {
  const folder = join(crabHome(env), 'memory');
  return createMemories({
    clock: systemClock,
    path: (agent, project) =>
      project === undefined
        ? join(folder, `${fileName(agent)}.crmem`)
        : join(folder, 'projects', fileName(project), `${fileName(agent)}.crmem`),
    sessionPath: (session) =>
      join(folder, 'sessions', `${ULID_PATTERN.test(session) ? session : fileName(session)}.crmem`),
    project: projectRoot,
    // In the person's home folder this is where Crab keeps its own.
    team: (root) => [join(root, '.crab', 'memory')].find((path) => path !== resolve(folder)),
    lock: lockFile,
    ...(redact !== undefined && { redact }),
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
