// The schedule on disk, shared by tools, the command line and whatever fires it: read afresh each time, changed under a
// lock, replaced in one step. A reader needs no lock, since it finds the old file or the new one.

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CrabError, errnoOf, messageOf, ToolFailure } from '../../core/errors.ts';
import { replaceFile, writeFailure } from '../../disk/replace-file.ts';
import { type CronEntry, checkCron, type NewCron } from './cron-entry.ts';
import { readCrons, withCron, withoutCron } from './cron-file.ts';

const MAX_ENTRIES = 200;

export interface CronStore {
  readonly path: string;
  list(): Promise<readonly CronEntry[]>;
  /** Throws `ToolFailure` for an entry that cannot be meant. */
  add(entry: NewCron): Promise<CronEntry>;
  /** Undefined when there is none of that id. */
  remove(id: number): Promise<CronEntry | undefined>;
}

export interface CronStoreOptions {
  /** `crons.toml`; absolute. */
  readonly path: string;
  readonly now: () => number;
  /** Waits for a while for whoever has it. Resolves with what releases it. */
  lock(path: string): Promise<() => void>;
}

export function createCronStore({ path, now, lock }: CronStoreOptions): CronStore {
  const change = async <T>(work: (text: string) => Promise<{ text: string; result: T }>): Promise<T> => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const release = await lock(path);
    try {
      const before = readText(path);
      const { text, result } = await work(before);
      // What was understood before must be understood after, whatever a person wrote around it.
      await readCrons(path, text);
      if (text !== before) replace(path, text);
      return result;
    } finally {
      release();
    }
  };
  return {
    path,
    list: async () => readCrons(path, readText(path)),
    add: (entry) =>
      change(async (text) => {
        await checkCron(entry, new Date(now()));
        const entries = await readCrons(path, text);
        if (entries.length >= MAX_ENTRIES)
          throw new ToolFailure(`${path} has ${entries.length} entries, which is the most there may be.`);
        const id = Math.max(0, ...entries.map((each) => each.id)) + 1;
        const result: CronEntry = { ...entry, id };
        return { text: withCron(text, result), result };
      }),
    remove: (id) =>
      change(async (text) => {
        const entries = await readCrons(path, text);
        const index = entries.findIndex((each) => each.id === id);
        const result = entries[index];
        return { text: result === undefined ? text : withoutCron(text, index), result };
      }),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return '';
    throw new CrabError('storage-failed', `${path} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}

function replace(path: string, text: string): void {
  try {
    replaceFile(path, text);
  } catch (cause) {
    throw writeFailure(path, cause);
  }
}
