// The files of the build, which have the hash of their content in their names.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** `print.js` for `print.HASH.js` in any folder. */
export function chunkName(path: string): string {
  return basename(path).replace(/\.[\w-]{8}\.js$/, '.js');
}

/** The file that `chunkName` makes this of. Throws when there is none. */
export function chunkFile(folder: string, name: string): string {
  const file = readdirSync(folder).find((each) => chunkName(each) === name);
  if (file === undefined) throw new Error(`there is no ${name} in ${folder}`);
  return join(folder, file);
}
