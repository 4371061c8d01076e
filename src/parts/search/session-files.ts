// Which session files there are, and in what state: what the index is compared with before it is believed.

import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import type { FileState } from './session-index.ts';

const SUFFIX = '.jsonl';

export interface SessionFiles {
  readonly files: readonly FileState[];
  /** Folders and files that cannot be looked at; without any, what is not in `files` is gone. */
  readonly unreadable: number;
}

/** The files in `sessions/<agent>/<folder>`. Does not throw. */
export function listSessionFiles(sessions: string): SessionFiles {
  const files: FileState[] = [];
  let unreadable = 0;
  const namesIn = (folder: string): readonly string[] => {
    try {
      return readdirSync(folder);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') unreadable++;
      return [];
    }
  };
  for (const agent of namesIn(sessions))
    for (const folder of namesIn(join(sessions, agent))) {
      const path = join(sessions, agent, folder);
      for (const name of namesIn(path)) {
        const state = name.endsWith(SUFFIX) ? stateOf(`${path}${sep}${name}`) : undefined;
        if (state === 'unreadable') unreadable++;
        else if (state !== undefined) files.push(state);
      }
    }
  return { files, unreadable };
}

function stateOf(path: string): FileState | 'unreadable' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return undefined;
    return { path, size: stats.size, modified: stats.mtimeMs, inode: stats.ino };
  } catch (error) {
    // A link that leads nowhere, or in a circle, is no session.
    return errnoOf(error) === 'EACCES' || errnoOf(error) === 'EIO' ? 'unreadable' : undefined;
  }
}
