// The memories of one home: a file for each agent, and one for each agent in each project. What reads and writes them is
// loaded when one is used, since most runs remember nothing.

import type { Clock } from '../../core/host.ts';
import type { Memory } from '../../core/memory.ts';
import type { Memories } from './memory-tools.ts';

export interface MemoriesOptions {
  readonly clock: Clock;
  /** The file of an agent's memory: of one for a project's folder, of the person's own without one. */
  path(agent: string, folder: string | undefined): string;
  /** The folder that a working directory belongs to. */
  project(cwd: string): string;
  /** As in `FileMemoryOptions`. */
  lock(path: string): Promise<() => void>;
}

export function createMemories({ clock, path, project, lock }: MemoriesOptions): Memories {
  const open = new Map<string, Memory>();
  return (scope, { agent, cwd }) => {
    const file = path(agent, scope === 'user' ? undefined : project(cwd));
    const known =
      open.get(file) ??
      lazy(async () => (await import('./file-memory.ts')).openMemory({ path: file, clock, lock }));
    open.set(file, known);
    return known;
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
    checkpoint: async () => (await memory()).checkpoint(),
  };
}
