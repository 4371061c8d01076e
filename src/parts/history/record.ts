// What the tape says about files: one entry for each call that changed some, and one for each rewind. Both are `custom`
// entries of Crab's own; from a branch of them follows what every file was at any prompt.

import type { RewindWhat } from '../../core/rewind.ts';
import type { Entry, EntryBody } from '../../core/tape.ts';
import { type FileChange, sameState } from './file-state.ts';
import type { Uncovered } from './workspace-index.ts';

export const FILES = 'crab.files';
export const REWIND = 'crab.rewind';

/** What one call changed. It is written with the call's result. */
export interface FilesRecord {
  readonly call: string;
  readonly changes: readonly FileChange[];
  /** Set where the files could not be watched. */
  readonly failure?: string;
  /** Where a command could change something unseen: how many places of each kind. */
  readonly uncovered?: Readonly<Partial<Record<Uncovered['why'], number>>>;
}

export interface RewindRecord {
  readonly id: string;
  readonly what: RewindWhat;
  /** The head before; `redo` goes back to it. */
  readonly from: string | null;
  /** What the files on disk became: `redo` is the way back. */
  readonly undo: readonly FileChange[];
  /** What a later rewind must know: as in a call's record. */
  readonly changes: readonly FileChange[];
}

export function filesEntry(record: FilesRecord): EntryBody {
  return { type: 'custom', customType: FILES, data: record };
}

export function isFilesEntry(entry: EntryBody): boolean {
  return entry.type === 'custom' && entry.customType === FILES;
}

export function rewindEntry(record: RewindRecord): EntryBody {
  return { type: 'custom', customType: REWIND, data: record };
}

export function filesRecordOf(entry: Entry): FilesRecord | undefined {
  return recordOf<FilesRecord>(entry, FILES, ['changes']);
}

export function rewindRecordOf(entry: Entry): RewindRecord | undefined {
  return recordOf<RewindRecord>(entry, REWIND, ['undo', 'changes']);
}

function recordOf<T>(entry: Entry, type: string, lists: readonly string[]): T | undefined {
  if (entry.type !== 'custom' || entry.customType !== type) return undefined;
  const data = Object(entry.data);
  return lists.every((key) => Array.isArray(data[key])) ? (data as T) : undefined;
}

/**
 * The changes of each path in order, the oldest first. Where one begins with what the one before left they are one; where
 * not, somebody else changed the file in between, and what that was must not count as the run's.
 */
export function changesOf(entries: readonly Entry[]): readonly FileChange[] {
  return joined(
    entries.flatMap((entry) => filesRecordOf(entry)?.changes ?? rewindRecordOf(entry)?.changes ?? []),
  );
}

/** Changes in the order in which they were made, those of a path that follow from each other as one. */
export function joined(all: Iterable<FileChange>): readonly FileChange[] {
  const paths = new Map<string, FileChange[]>();
  for (const change of all) {
    const changes = paths.get(change.path) ?? [];
    paths.set(change.path, changes);
    addChange(changes, change);
  }
  return [...paths.values()].flat();
}

function addChange(changes: FileChange[], { path, before, after }: FileChange): void {
  const last = changes.at(-1);
  if (last === undefined || !sameState(last.after, before)) return void changes.push({ path, before, after });
  changes.pop();
  if (!sameState(last.before, after)) addChange(changes, { path, before: last.before, after });
}

/** The rewind that nothing was said after, by its place in the branch. */
export function lastRewind(branch: readonly Entry[]): RewindRecord | undefined {
  for (let at = branch.length - 1; at >= 0; at--) {
    const entry = branch[at];
    if (entry === undefined || entry.type === 'message') return undefined;
    const record = rewindRecordOf(entry);
    if (record !== undefined) return record;
  }
  return undefined;
}
