// A memory as a folder of pages that people read and edit, and mdbook shows (rust-lang.github.io/mdBook): notes and
// archives in a folder each, a table of contents, and a book.toml that is written once and then the person's own.

import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { MemoryEntry, MemoryKind } from '../../core/memory.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { malformed, readPage, writePage } from './entry-page.ts';
import { MAX_CONTENT_BYTES } from './operations.ts';

const FOLDERS: readonly (readonly [MemoryKind, string, string])[] = [
  ['note', 'notes', 'Notes'],
  ['archive', 'archives', 'Archives'],
];
const BOOK = '[book]\ntitle = "Memory"\nsrc = "."\n';
const PAGE = '.md';
const SUMMARY = 'SUMMARY.md';
/** How a table of contents begins that was written here. */
const SUMMARY_START = '# Summary\n\n# Notes\n';
const MAX_PAGE_BYTES = MAX_CONTENT_BYTES + 64 * 1024;
const MAX_PAGES = 100_000;

/**
 * Writes the entries below `folder`. Pages of entries that are gone are removed; nothing else is touched. Throws `CrabError`:
 * `usage` for a folder with pages of other origin, `storage-full`, `storage-failed`.
 */
export function dumpBook(folder: string, entries: readonly MemoryEntry[]): void {
  const contents: string[] = ['# Summary', ''];
  const parts = FOLDERS.map(([kind, name, title]) => {
    const own = entries.filter((entry) => entry.kind === kind);
    const files = fileNames(own);
    contents.push(`# ${title}`, '');
    for (const [at, entry] of own.entries())
      contents.push(
        `- [${entry.name.replace(/[[\]\\]/g, '\\$&')}](<${name}/${linked(files[at] ?? '')}${PAGE}>)`,
      );
    contents.push('');
    return { path: join(folder, name), own, files };
  });
  try {
    requireOwn(folder);
    makeFolder(folder, 0o777);
    // First, since by it a dump that did not come to its end is known for one.
    writeFileSync(join(folder, SUMMARY), contents.join('\n'));
    for (const { path, own, files } of parts) {
      makeFolder(path, 0o777);
      for (const old of pagesIn(path)) rmSync(join(path, old), { force: true });
      for (const [at, entry] of own.entries()) {
        const file = files[at] ?? '';
        writeFileSync(join(path, file + PAGE), writePage(entry, file === entry.name));
      }
    }
    writeFileSync(join(folder, 'book.toml'), BOOK, { flag: 'wx' });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw folderFailure(error, folder);
  }
}

/** A link may lead out of the folder, to what nobody meant. Throws `CrabError usage`. */
export function requireNoLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new CrabError('usage', `${path} is a link, and nothing is written through it.`, {
    hint: 'Choose another folder.',
  });
}

/** Pages that no dump wrote are somebody's work, and not to be removed. */
function requireOwn(folder: string): void {
  for (const name of [...FOLDERS.map(([, name]) => name), SUMMARY]) requireNoLink(join(folder, name));
  const summary = existsSync(join(folder, SUMMARY)) ? readFileSync(join(folder, SUMMARY), 'utf8') : undefined;
  const isOwn = summary?.startsWith(SUMMARY_START) === true;
  // The disk may have been full at that moment.
  if (isOwn || (summary !== undefined && SUMMARY_START.startsWith(summary))) return;
  const places = FOLDERS.map(([, name]) => join(folder, name)).filter((path) => listed(path)?.length);
  const [other] = summary === undefined ? places : [join(folder, SUMMARY)];
  if (other === undefined) return;
  throw new CrabError('usage', `${other} is not of a memory that was dumped, and would be lost.`, {
    hint: 'Choose an empty folder, or one that a memory was dumped to.',
  });
}

/** The entries of such a folder, oldest first. Throws `CrabError` (`input-malformed`, `usage`) before anything is changed. */
export function loadBook(folder: string): readonly Omit<MemoryEntry, 'id'>[] {
  const entries: Omit<MemoryEntry, 'id'>[] = [];
  let found = false;
  for (const [kind, name] of FOLDERS) {
    const path = join(folder, name);
    const pages = listed(path);
    if (pages === undefined) continue;
    found = true;
    if (entries.length + pages.length > MAX_PAGES)
      throw new CrabError('usage', `${folder} has more than ${MAX_PAGES} pages.`);
    for (const file of pages) {
      const page = readPage(pageText(join(path, file)), join(path, file));
      const named = page.name ?? unfiled(file.slice(0, -PAGE.length));
      const { aliases, content, createdAt = 0n } = page;
      entries.push({ name: named, aliases, content, kind, createdAt });
    }
  }
  if (!found) throw new CrabError('usage', `${folder} has neither notes nor archives in it.`);
  return entries.sort((a, b) => Number(a.createdAt - b.createdAt) || (a.name < b.name ? -1 : 1));
}

/** A name for a file on any system; two that differ in case alone get different ones. */
function fileNames(entries: readonly MemoryEntry[]): readonly string[] {
  const taken = new Set<string>();
  return entries.map(({ name }) => {
    const plain = filed(name);
    let file = plain;
    for (let copy = 2; taken.has(file.toLowerCase()); copy++) file = `${plain}~${copy}`;
    taken.add(file.toLowerCase());
    return file;
  });
}

const MAX_FILE_BYTES = 200;

function filed(name: string): string {
  const safe = name
    .replace(/[%/\\:*?"<>|\p{Cc}]|^\.|[. ]$/gu, (letter) =>
      encodeURIComponent(letter).replace(/^([.*~'()! ])$/, percent),
    )
    .replace(/^(?:con|prn|aux|nul|com\d|lpt\d)$/i, '$&~');
  let short = safe;
  while (new TextEncoder().encode(short).length > MAX_FILE_BYTES) short = [...short].slice(0, -1).join('');
  return short;
}

function percent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** A page's name where its block does not say it: the file's, with what `filed` wrote as codes put back. */
function unfiled(file: string): string {
  try {
    return decodeURIComponent(file);
  } catch {
    return file;
  }
}

function linked(file: string): string {
  return file.replaceAll('%', '%25').replace(/[<>]/g, percent);
}

function pagesIn(path: string): string[] {
  return readdirSync(path).filter((file) => file.endsWith(PAGE));
}

function listed(path: string): string[] | undefined {
  try {
    return pagesIn(path).sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw folderFailure(error, path);
  }
}

/** A regular file of bounded size, as UTF-8. Throws `CrabError`. */
export function pageText(path: string): string {
  const info = lstatSync(path);
  // A link would let a folder from elsewhere bring in any file of this machine.
  if (!info.isFile()) throw malformed(path, 'it is no regular file');
  if (info.size > MAX_PAGE_BYTES)
    throw malformed(path, `it has ${info.size} bytes; a page has at most ${MAX_PAGE_BYTES}`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    if (errnoOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw malformed(path, 'it is not UTF-8');
    throw folderFailure(error, path);
  }
}

export function folderFailure(error: unknown, path: string): CrabError {
  if (error instanceof CrabError) return error;
  const full = errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT';
  return new CrabError(full ? 'storage-full' : 'storage-failed', `${path}: ${messageOf(error)}.`, {
    cause: error,
    ...(!full && { hint: 'Choose another folder, or see that this one can be read and written.' }),
  });
}
