// Watches one call: what its declared paths, or all of the workspace where it may change anything, hold before it and
// after it. What a call writes through its own `files` is put in the store while the file itself is being synced, so that
// an edit waits for the disk once.

import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { Access } from '../../core/permission.ts';
import { ABSENT, type FileChange, type FileState, look, sameState, stateAt } from './file-state.ts';
import { reachOf } from './reach.ts';
import type { FilesRecord } from './record.ts';
import type { Workspace } from './workspace.ts';
import { BOUNDS, readRegular, type Uncovered, type Withheld } from './workspace-index.ts';

export interface Watch {
  /** For the call to use in place of the files that were given. */
  readonly files: Files;
  /** Undefined when nothing changed. Contents are durable when it resolves. It does not reject. */
  end(): Promise<FilesRecord | undefined>;
}

export interface WatchOptions {
  readonly call: string;
  /** Where commands run: all below it is watched. Absolute. */
  readonly cwd: string;
  readonly files: Files;
  readonly withheld: () => Promise<Withheld>;
  readonly signal: AbortSignal;
}

/** Never rejects: a call must not fail because it could not be watched. Then its record says so. */
export async function watchCall(workspace: Workspace, access: Access, options: WatchOptions): Promise<Watch> {
  try {
    return reachOf(access) === 'anything'
      ? await watchAll(workspace, options)
      : await watchPaths(workspace, access.kind === 'write' ? access.paths : [], options);
  } catch (error) {
    return unwatched(options, error);
  }
}

export function unwatched({ call, files }: WatchOptions, error: unknown): Watch {
  const failure = messageOf(error);
  return { files, end: async () => ({ call, changes: [], failure }) };
}

async function watchAll(
  workspace: Workspace,
  { call, cwd, files, withheld, signal }: WatchOptions,
): Promise<Watch> {
  const hidden = await withheld();
  const index = workspace.index(realpathSync(cwd));
  await workspace.inTurn(() => index.prepare(hidden, signal));
  return {
    files,
    end: () =>
      recorded(call, async () => {
        // Also for a call that was stopped: what it did until then is done.
        const never = new AbortController().signal;
        const changes = await workspace.inTurn(() => index.changes(hidden, never));
        if (changes.length === 0) return undefined;
        await workspace.store.sync();
        return { call, changes, uncovered: countsOf(index.uncovered) };
      }),
  };
}

function countsOf(uncovered: readonly Uncovered[]): NonNullable<FilesRecord['uncovered']> {
  const counts: Partial<Record<Uncovered['why'], number>> = {};
  for (const { why } of uncovered) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}

async function watchPaths(
  workspace: Workspace,
  paths: readonly string[],
  { call, files, withheld }: WatchOptions,
): Promise<Watch> {
  const { store } = workspace;
  const hidden = await withheld();
  const before = new Map<string, FileState>();
  const syncing: Promise<void>[] = [];
  const keep = (path: string): FileState =>
    stateAt(path, () => {
      if (hidden?.(path) === true) return undefined;
      const bytes = readRegular(path, BOUNDS.maxFileBytes * 16);
      return bytes && store.put(bytes);
    });
  const note = async (given: string) => {
    const path = await files.resolve(given);
    if (before.has(path)) return path;
    before.set(path, keep(path));
    for (
      let folder = dirname(path);
      !before.has(folder) && look(folder) === undefined;
      folder = dirname(folder)
    )
      before.set(folder, ABSENT);
    return path;
  };
  for (const path of paths) await note(path);
  const watched: Files = {
    info: (path, how) => files.info(path, how),
    resolve: (path) => files.resolve(path),
    read: (path, range) => files.read(path, range),
    list: (path) => files.list(path),
    async remove(given) {
      await note(given);
      await files.remove(given);
    },
    async write(given, bytes) {
      const path = await note(given);
      if (hidden?.(path) !== true) store.put(bytes);
      const synced = store.sync();
      synced.catch(() => {});
      syncing.push(synced);
      await files.write(given, bytes);
    },
  };
  return {
    files: watched,
    end: () =>
      recorded(call, async () => {
        const changes: FileChange[] = [];
        for (const [path, was] of before) {
          const is = keep(path);
          if (!sameState(was, is)) changes.push({ path, before: was, after: is });
        }
        if (changes.length === 0) return undefined;
        await Promise.all([...syncing, store.sync()]);
        return { call, changes };
      }),
  };
}

async function recorded(
  call: string,
  look: () => Promise<FilesRecord | undefined>,
): Promise<FilesRecord | undefined> {
  try {
    return await look();
  } catch (error) {
    return { call, changes: [], failure: messageOf(error) };
  }
}
