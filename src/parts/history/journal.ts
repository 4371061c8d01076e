// A rewind that is under way, on disk before the first file is touched: steps, and what goes on the tape at their end.
// Whoever opens the session next finishes what was begun, since half of a rewind is neither state.

import { readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import { replaceFile } from '../../disk/replace-file.ts';
import type { FileChange } from './file-state.ts';
import type { RewindRecord } from './record.ts';

export interface Underway {
  /** Where the head goes; absent where it stays. */
  readonly head?: { readonly to: string | null };
  readonly steps: readonly FileChange[];
  /** Absent for a redo, which is the way back to a head that knows of no rewind. */
  readonly record?: RewindRecord;
}

export function journalPath(workspaceFolder: string, session: string): string {
  return join(workspaceFolder, 'journal', `${session}.json`);
}

export function writeJournal(path: string, underway: Underway): void {
  replaceFile(path, JSON.stringify(underway));
}

/** Undefined when there is none; what cannot be read counts as one that was never begun. */
export function readJournal(path: string): Underway | undefined {
  try {
    const underway = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(underway?.steps) ? underway : undefined;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function dropJournal(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
