// A folder, with the folders above it. Not Node's own `recursive`: it never ends where a folder that exists
// takes no new ones and calls that ENOENT, as `/proc` does.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../core/errors.ts';

/** Only for this user, unless `mode` says otherwise. Errors are those of Node's `fs`. */
export function makeFolder(path: string, mode = 0o700): void {
  if (tryFolder(path, mode) === undefined) return;
  const above = dirname(path);
  if (!existsSync(above)) makeFolder(above, mode);
  // One that is above it after all was made by another process in between.
  const missing = tryFolder(path, mode);
  if (missing !== undefined) throw missing;
}

/** The error where a folder above it is missing. */
function tryFolder(path: string, mode: number): Error | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' && error instanceof Error) return error;
    if (code !== 'EEXIST') throw error;
  }
  return undefined;
}
