// The files of a folder as they were when they were last looked at, and what has become of them since. It is told where to
// look and keeps nothing open; how many files it knows is bounded, and those beyond are as if they were not there.

import { join } from 'node:path';
import type { Files } from '../../core/host.ts';
import type { WatchedChange } from '../../core/watch.ts';
import { isIgnored, type Level, levelAbove, levelOf, RULE_FILES, VERSION_CONTROL } from './walk.ts';

const MAX_FILES = 50_000;
const MAX_FOLDERS = 8192;

/** Files that are looked at side by side. */
const LOOK_UPS = 64;

export interface TreeOptions {
  readonly root: string;
  readonly files: Files;
  wants(path: string): boolean;
  /** A folder was found. It is called before the folder is read, so that nothing falls in between. */
  entered(folder: string): void;
  /** A folder is gone. */
  left(folder: string): void;
}

export interface WatchedTree {
  /** Looks at all of it. */
  lookAll(): Promise<void>;
  /** Looks at some names in a folder that is known. */
  look(folder: string, names: Iterable<string>): Promise<void>;
  /** What has changed since the last time; nothing at the first. */
  take(): readonly WatchedChange[];
}

export function createWatchedTree({ root, files, wants, entered, left }: TreeOptions): WatchedTree {
  /** What tells one state of a file from another. */
  const known = new Map<string, string>();
  const folders = new Map<string, Level | undefined>();
  /** As each file was when it was last told of; undefined for one that was not there. */
  const before = new Map<string, string | undefined>();
  /** While all of it is looked at: the files that were found. */
  let met: Set<string> | undefined;
  let isFirst = true;

  const set = (path: string, state: string | undefined): void => {
    const old = known.get(path);
    if (old === state || (old === undefined && known.size >= MAX_FILES)) return;
    if (!isFirst && !before.has(path)) before.set(path, old);
    if (state === undefined) known.delete(path);
    else known.set(path, state);
  };

  const forget = (path: string): void => {
    set(path, undefined);
    if (!folders.has(path)) return;
    const inside = `${path}/`;
    for (const file of [...known.keys()]) if (file.startsWith(inside)) set(file, undefined);
    for (const folder of [...folders.keys()]) {
      if (folder !== path && !folder.startsWith(inside)) continue;
      folders.delete(folder);
      left(folder);
    }
  };

  const lookAt = async (path: string, level: Level | undefined): Promise<void> => {
    const info = await files.info(path, { follow: false }).catch(() => undefined);
    const isFolder = info?.kind === 'directory';
    if (info === undefined || isLeftOut(path, isFolder, level)) return forget(path);
    if (isFolder) return folders.has(path) ? undefined : enter(path, level);
    if (folders.has(path)) forget(path);
    met?.add(path);
    set(path, info.kind === 'file' && wants(path) ? `${info.modified}:${info.size}` : undefined);
  };

  const enter = async (folder: string, above: Level | undefined): Promise<void> => {
    if (folders.size >= MAX_FOLDERS) return;
    folders.set(folder, above);
    entered(folder);
    const entries = await files.list(folder).catch(() => []);
    const level = await levelOf(files, folder, entries, above);
    folders.set(folder, level);
    const names = entries.filter(({ name, kind }) => kind === 'directory' || wants(join(folder, name)));
    await lookAtAll(
      names.map(({ name }) => join(folder, name)),
      level,
    );
  };

  const lookAtAll = async (paths: readonly string[], level: Level | undefined): Promise<void> => {
    for (let at = 0; at < paths.length; at += LOOK_UPS)
      await Promise.all(paths.slice(at, at + LOOK_UPS).map((path) => lookAt(path, level)));
  };

  const lookAll = async (): Promise<void> => {
    const [oldFiles, oldFolders] = [new Set(known.keys()), [...folders.keys()]];
    folders.clear();
    met = new Set();
    await enter(root, await levelAbove(files, root));
    for (const path of oldFiles) if (!met.has(path)) set(path, undefined);
    for (const path of oldFolders) if (!folders.has(path)) left(path);
    met = undefined;
    isFirst = false;
  };

  return {
    lookAll,
    async look(folder, names) {
      const level = folders.get(folder);
      if (!folders.has(folder)) return;
      // Other files are left out from here on, or no longer.
      if ([...names].some((name) => RULE_FILES.some((file) => file === name))) return lookAll();
      await lookAtAll(
        Array.from(names, (name) => join(folder, name)),
        level,
      );
    },
    take() {
      const changes: WatchedChange[] = [];
      for (const [path, old] of before) {
        const state = known.get(path);
        if (state !== old)
          changes.push({
            path,
            kind: old === undefined ? 'added' : state === undefined ? 'removed' : 'changed',
          });
      }
      before.clear();
      return changes;
    },
  };
}

function isLeftOut(path: string, isFolder: boolean, level: Level | undefined): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isFolder && (name === 'node_modules' || VERSION_CONTROL.some((one) => one === name))) return true;
  return isIgnored(level, path, isFolder);
}
