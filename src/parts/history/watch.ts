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
import { type FilesRecord, joined } from './record.ts';
import type { Workspace } from './workspace.ts';
import { BOUNDS, readRegular, type Uncovered, type Withheld } from './workspace-index.ts';

export interface Watch {
  /** For the call to use in place of the files that were given. */
  readonly files: Files;
  /** Undefined when nothing changed. Contents are durable when it resolves. It does not reject. */
  end(): Promise<FilesRecord | undefined>;
  /**
   * As `end`, of what was found until now, and goes on watching: `end` has the rest. With `look`, what nobody has looked
   * at yet is found first.
   */
  soFar(options: { readonly look: boolean }): Promise<FilesRecord | undefined>;
}

export interface WatchOptions {
  readonly call: string;
  /** Whose record it is for: a change is told once to each. */
  readonly owner: unknown;
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

const NOTHING = async () => undefined;

export function unwatched({ call, files }: WatchOptions, error: unknown): Watch {
  const failure = messageOf(error);
  return { files, end: async () => ({ call, changes: [], failure }), soFar: NOTHING };
}

async function watchAll(
  workspace: Workspace,
  { call, owner, cwd, files, withheld, signal }: WatchOptions,
): Promise<Watch> {
  const hidden = await withheld();
  const index = workspace.index(realpathSync(cwd));
  // Calls side by side and within each other, such as those of other agents, look at the same files.
  const found: FileChange[] = [];
  const take = (changes: readonly FileChange[]) => {
    for (const change of changes) found.push(change);
  };
  const watcher = { owner, take };
  await workspace.inTurn(() => index.watch(watcher, hidden, signal));
  // Also for a call that was stopped: what it did until then is done.
  const never = new AbortController().signal;
  const taken = async (): Promise<FilesRecord | undefined> => {
    const changes = joined(found.splice(0));
    if (changes.length === 0) return undefined;
    await workspace.store.sync();
    return { call, changes, uncovered: countsOf(index.uncovered) };
  };
  return {
    files,
    end: () =>
      recorded(call, async () => {
        await workspace.inTurn(() => index.release(watcher, hidden, never));
        return taken();
      }),
    soFar: ({ look }) =>
      recorded(call, async () => {
        if (look) await workspace.inTurn(() => index.look(hidden, never));
        return taken();
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
  { call, owner, files, withheld, signal }: WatchOptions,
): Promise<Watch> {
  const { store } = workspace;
  const hidden = await withheld();
  // What a job of the same owner did until now stands before what this call does.
  for (const index of workspace.indexes)
    if (index.isWatchedBy(owner)) await workspace.inTurn(() => index.look(hidden, signal));
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
        for (const index of workspace.indexes) index.tell(owner, changes);
        await Promise.all([...syncing, store.sync()]);
        return { call, changes };
      }),
    soFar: NOTHING,
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
