// The memories that a conversation has: of its agent a file for each project and one for all of them, and the folder that
// the people of the project share. What reads and writes them is loaded when one is used, since most runs remember nothing.

import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Memory } from '../../core/memory.ts';
import type { Memories } from './scopes.ts';

export interface MemoriesOptions {
  readonly clock: Clock;
  /** The file of an agent's memory: of one for a project's folder, of the person's own without one. */
  path(agent: string, folder: string | undefined): string;
  /** The file of what a session keeps for itself. */
  sessionPath(session: string): string;
  /** The folder that a working directory belongs to. */
  project(cwd: string): string;
  /** Where the people of a project keep what they share; undefined where that would be Crab's own home. */
  team(project: string): string | undefined;
  /** As in `FileMemoryOptions`. */
  lock(path: string, options?: { readonly waitMs?: number }): Promise<() => void>;
  /** Takes the secrets that are known at this moment out of a text. */
  redact?(text: string): string;
}

export function createMemories(options: MemoriesOptions): Memories {
  const { clock, path, sessionPath, project, team, lock, redact } = options;
  const open = new Map<string, Memory>();
  const opened = (key: string, load: () => Promise<Memory>) => {
    const known = open.get(key) ?? lazy(load);
    open.set(key, known);
    return known;
  };
  const fileMemory = (file: string) =>
    opened(file, async () => (await import('./file-memory.ts')).openMemory({ path: file, clock, lock }));
  return {
    of(scope, { agent, cwd, session }) {
      if (scope === 'session') {
        if (session !== undefined) return fileMemory(sessionPath(session));
        throw new CrabError('usage', 'It is not said which session is meant.');
      }
      if (scope === 'user') return fileMemory(path(agent, undefined));
      const root = project(cwd);
      const own = path(agent, root);
      if (scope === 'project') return fileMemory(own);
      const folder = team(root);
      if (folder === undefined)
        throw new CrabError('usage', `${root} is no project whose people could share a memory.`);
      // The lock lies in the home: nothing of it is the repository's.
      const shared = { folder, clock, lock: () => lock(join(own, '..', 'team')), ...(redact && { redact }) };
      return opened(folder, async () => (await import('./team-memory.ts')).openTeamMemory(shared));
    },
    consolidations: async (scope, { agent, cwd }) => {
      const { createConsolidations } = await import('./consolidations.ts');
      const file = path(agent, scope === 'user' ? undefined : project(cwd));
      return createConsolidations({ path: file, type: scope, lock });
    },
    teamFolder: (cwd) => team(project(cwd)),
  };
}

function lazy(load: () => Promise<Memory>): Memory {
  let loading: Promise<Memory> | undefined;
  const memory = () => {
    loading ??= load();
    return loading;
  };
  return {
    entries: async () => (await memory()).entries(),
    find: async (name) => (await memory()).find(name),
    search: async (query, limit) => (await memory()).search(query, limit),
    apply: async (...operations) => (await memory()).apply(...operations),
    replace: async (entries) => (await memory()).replace(entries),
    faults: async () => (await memory()).faults?.() ?? [],
    checkpoint: async () => (await memory()).checkpoint(),
  };
}
