// What is kept beside a memory about tidying it: what was replaced, as a folder that can be imported again, and which notes
// were looked at, and when. Whoever is at it holds a lock, so that nobody pays twice for the same.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { exportFolder } from './memory-folder.ts';

export interface Consolidations {
  /** Resolves with what lets others again; undefined where somebody else is at it. */
  begin(): Promise<(() => void) | undefined>;
  /** Undefined where nobody has ever looked. */
  last(): Promise<LastLook | undefined>;
  /** Notes as they are before they are replaced. Resolves with the folder. */
  keep(notes: readonly MemoryEntry[], now: number): Promise<string>;
  done(look: LastLook): Promise<void>;
}

export interface LastLook {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of each note that was there. */
  readonly marks: readonly string[];
}

export interface ConsolidationsOptions {
  /** The memory's own file. */
  readonly path: string;
  /** As others see it: what the notes are about. */
  readonly type: 'user' | 'project';
  lock(path: string, options: { readonly waitMs: number }): Promise<() => void>;
}

export function createConsolidations({ path, type, lock }: ConsolidationsOptions): Consolidations {
  const record = `${path}.consolidated`;
  return {
    async begin() {
      try {
        return await lock(record, { waitMs: 0 });
      } catch (error) {
        if (error instanceof CrabError && error.code === 'session-held') return undefined;
        throw error;
      }
    },
    last: async () => lookIn(readText(record)),
    async keep(notes, now) {
      const folder = `${path}.before/${new Date(now).toISOString().replaceAll(':', '-')}`;
      exportFolder(folder, notes, { type });
      return folder;
    },
    async done(look) {
      try {
        makeFolder(dirname(record));
        writeFileSync(`${record}.new`, `${JSON.stringify(look)}\n`, { mode: 0o600 });
        renameSync(`${record}.new`, record);
      } catch (cause) {
        throw new CrabError('storage-failed', `Cannot write ${record}: ${messageOf(cause)}.`, { cause });
      }
    },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return '';
    throw new CrabError('storage-failed', `Cannot read ${path}: ${messageOf(cause)}.`, { cause });
  }
}

function lookIn(text: string): LastLook | undefined {
  try {
    const { at, marks } = Object(JSON.parse(text)) as Partial<LastLook>;
    return typeof at === 'number' && Array.isArray(marks) ? { at, marks: marks.map(String) } : undefined;
  } catch {
    return undefined;
  }
}
