// Where a path really leads. Of what does not exist yet, the nearest existing folder is resolved and the rest
// appended; a link to nothing counts by its target, or else a write through it would leave the checked folder. It is
// looked up in place, because a trip to the thread pool costs several times as much as one look.

import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

export async function resolvePath(path: string): Promise<string> {
  return resolveWithin(path, { links: 0 });
}

function resolveWithin(path: string, budget: { links: number }): string {
  // To ask first is many times cheaper than an error that nobody reads.
  const info = lstatSync(path, { throwIfNoEntry: false });
  try {
    if (info !== undefined) return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  const parent = dirname(path);
  if (parent === path) throw noSuchPath(path);
  const folder = resolveWithin(parent, budget);
  const name = basename(path);
  if (name === '.') return folder;
  if (name === '..') return dirname(folder);
  const target = linkTarget(join(folder, name));
  if (target === undefined) return join(folder, name);
  budget.links++;
  if (budget.links > MAX_LINKS) throw tooManyLinks(path);
  // Not joined lexically: `..` in a target counts from where the links before it lead.
  return resolveWithin(target.startsWith('/') ? target : `${folder}/${target}`, budget);
}

function linkTarget(path: string): string | undefined {
  return isLink(path) ? readlinkSync(path) : undefined;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

function noSuchPath(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, resolve '${path}'`), { code: 'ENOENT' });
}

function tooManyLinks(path: string): Error {
  return Object.assign(new Error(`ELOOP: too many symbolic links, resolve '${path}'`), { code: 'ELOOP' });
}
