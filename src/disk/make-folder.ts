// A folder, with the folders above it. Not Node's own `recursive`: it never ends where a folder that exists
// takes no new ones and calls that ENOENT, as `/proc` does.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../core/errors.ts';

/** Only for this user. Errors are those of Node's `fs`. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    const above = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above);
    mkdirSync(path, { mode: 0o700 });
  }
}
