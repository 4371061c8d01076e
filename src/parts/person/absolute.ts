// A path of a call, from where relative paths begin.

import { resolve } from 'node:path';

export function absolute(path: string, cwd: string): string {
  return resolve(cwd, path.trim());
}
