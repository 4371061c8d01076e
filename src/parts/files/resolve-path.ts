// Where a path really leads. Of what does not exist yet, the nearest existing folder is resolved and the rest
// appended; a link to nothing counts by its target, or else a write through it would leave the checked folder.

import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

export async function resolvePath(path: string): Promise<string> {
  return resolveWithin(path, { links: 0 });
}

async function resolveWithin(path: string, budget: { links: number }): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const parent = dirname(path);
    if (parent === path) throw error;
    const folder = await resolveWithin(parent, budget);
    const name = basename(path);
    if (name === '.') return folder;
    if (name === '..') return dirname(folder);
    const target = await linkTarget(join(folder, name));
    if (target === undefined) return join(folder, name);
    budget.links++;
    if (budget.links > MAX_LINKS) throw tooManyLinks(path);
    // Not joined lexically: `..` in a target counts from where the links before it lead.
    return resolveWithin(target.startsWith('/') ? target : `${folder}/${target}`, budget);
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  return info?.isSymbolicLink() ? readlink(path) : undefined;
}

function tooManyLinks(path: string): Error {
  return Object.assign(new Error(`ELOOP: too many symbolic links, resolve '${path}'`), { code: 'ELOOP' });
}
