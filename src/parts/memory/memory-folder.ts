// Memories as a folder of the kind that other agents keep: a Markdown file for each, and an index of them in MEMORY.md.
// What is exported and imported again is the same.

import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { folderFailure, requireNoLink } from './book.ts';
import { malformed } from './entry-page.ts';
import { described, type NoteOptions, readNote, slugOf, writtenNote } from './note-file.ts';

type ReadNote = Omit<MemoryEntry, 'id'>;

const INDEX = 'MEMORY.md';
const MAX_FILES = 10_000;

/** Agents that load the index with every conversation read no more of it than this. */
const MAX_INDEX_LINES = 200;
const MAX_INDEX_BYTES = 25_000;

/** Writes the notes below `folder`; archives stay out of it. Returns how many there were. */
export function exportFolder(folder: string, entries: readonly MemoryEntry[], options: NoteOptions): number {
  const notes = entries.filter(({ kind }) => kind === 'note');
  const files = slugs(notes);
  try {
    makeFolder(folder, 0o777);
    for (const file of [...files, INDEX]) requireNoLink(join(folder, file));
    for (const [at, note] of notes.entries())
      writeFileSync(join(folder, files[at] ?? ''), writtenNote(note, options));
    writeFileSync(join(folder, INDEX), indexOf(notes, files));
  } catch (error) {
    throw folderFailure(error, folder);
  }
  return notes.length;
}

/** The notes of such a folder, the oldest first. Throws `CrabError` (`input-malformed`, `usage`) before anything is changed. */
export function importFolder(folder: string, options: NoteOptions): readonly ReadNote[] {
  const files = markdownIn(folder);
  if (files.length > MAX_FILES) throw new CrabError('usage', `${folder} has more than ${MAX_FILES} files.`);
  const notes = files.map((file) => readNote(join(folder, file), options));
  const index = indexNote(folder, files, options);
  if (index !== undefined) {
    notes.push(index);
    files.push(INDEX);
  }
  if (notes.length === 0) throw new CrabError('usage', `${folder} has no memories in it.`);
  const seen = new Map<string, string>();
  for (const [at, { name, aliases }] of notes.entries())
    for (const each of [name, ...aliases]) {
      const file = files[at] ?? '';
      const other = seen.get(each);
      if (other !== undefined) throw malformed(folder, `${other} and ${file} are both called ${each}`);
      seen.set(each, file);
    }
  return notes.sort((a, b) => Number(a.createdAt - b.createdAt) || (a.name < b.name ? -1 : 1));
}

/** What the index says beside its list of the other files: there are agents that keep what they learn in it. */
function indexNote(folder: string, files: readonly string[], options: NoteOptions): ReadNote | undefined {
  const path = join(folder, INDEX);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const note = readNote(path, options);
  const content = note.content
    .split('\n')
    .filter((line) => !(files.includes(LINK.exec(line)?.[1] ?? '') || REST.test(line)))
    .join('\n');
  const isSaid = content.split('\n').some((line) => /^(?!\s*#).*[\p{L}\p{N}]/u.test(line));
  return isSaid ? { ...note, content } : undefined;
}

/** A line of an index, and the file that it stands for. */
const LINK = /^\s*[-*]\s+\[(?:\\.|[^\]\\])*\]\(<?([^)>]+)>?\)/;
/** What stands for the lines that an index has no room for. */
const REST = /^- \d+ more in this folder$/;

function markdownIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.md') && file !== INDEX)
      .sort();
  } catch (error) {
    throw folderFailure(error, folder);
  }
}

function indexOf(notes: readonly MemoryEntry[], files: readonly string[]): string {
  const lines: string[] = [];
  let bytes = 0;
  for (const [at, { name, content }] of notes.entries()) {
    const title = name.replace(/[[\]\\]/g, '\\$&');
    const line = `- [${title}](${files[at] ?? ''}): ${described(content)}`;
    bytes += Buffer.byteLength(line) + 1;
    if (lines.length === MAX_INDEX_LINES - 1 || bytes > MAX_INDEX_BYTES - 100) {
      lines.push(`- ${notes.length - at} more in this folder`);
      break;
    }
    lines.push(line);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** A file for each, no two that differ in case alone. */
function slugs(notes: readonly MemoryEntry[]): readonly string[] {
  const taken = new Set(['memory']);
  return notes.map(({ name }) => {
    const slug = slugOf(name, taken);
    taken.add(slug);
    return `${slug}.md`;
  });
}
