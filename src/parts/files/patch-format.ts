// The patch format that models of OpenAI have learnt: file sections between `*** Begin Patch` and `*** End Patch`, hunks that
// are found by their lines and not by numbers (github.com/openai/codex, codex-rs/apply-patch). Read as leniently as there:
// a missing end, blanks around the markers, a here-document around all of it.

import { ToolFailure } from '../../core/errors.ts';

export interface PatchHunk {
  /** Lines behind which the hunk is looked for, one after the other: `@@ class A`. */
  readonly headings: readonly string[];
  readonly lines: readonly PatchLine[];
  /** The hunk ends where the file ends. */
  readonly atEnd: boolean;
}

export interface PatchLine {
  readonly kind: 'keep' | 'remove' | 'add';
  readonly text: string;
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly text: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo: string | undefined;
      readonly hunks: readonly PatchHunk[];
    };

const SECTION = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/** Throws `ToolFailure` with the number of the line that does not fit. */
export function parsePatch(patch: string): readonly FilePatch[] {
  const lines = patch.replaceAll('\r\n', '\n').split('\n');
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch');
  const end = lines.findLastIndex((line) => line.trim() === '*** End Patch');
  if (begin === -1)
    throw new ToolFailure('A patch begins with the line *** Begin Patch and ends with *** End Patch.');
  const reader: Reader = { lines: lines.slice(0, end > begin ? end : lines.length), at: begin + 1 };
  const files: FilePatch[] = [];
  for (let line = peek(reader); line !== undefined; line = peek(reader)) {
    if (line.trim() === '') reader.at++;
    else files.push(parseFile(reader, line));
  }
  if (files.length === 0) throw new ToolFailure('The patch names no file: *** Update File: PATH is missing.');
  return files;
}

interface Reader {
  readonly lines: readonly string[];
  at: number;
}

function peek(reader: Reader): string | undefined {
  return reader.lines[reader.at];
}

function parseFile(reader: Reader, line: string): FilePatch {
  const [, kind, name] = SECTION.exec(line.trim()) ?? [];
  if (kind === undefined || name === undefined)
    throw fault(reader, 'expected *** Add File:, *** Update File: or *** Delete File:');
  reader.at++;
  const path = name.trim();
  if (kind === 'Delete') return { kind: 'delete', path };
  if (kind === 'Add') return { kind: 'add', path, text: parseAdded(reader) };
  const moveTo = /^\*\*\* Move to: (.+)$/.exec(peek(reader)?.trim() ?? '')?.[1]?.trim();
  if (moveTo !== undefined) reader.at++;
  const hunks: PatchHunk[] = [];
  while (isInSection(reader)) {
    if (peek(reader)?.trim() === '' && !hasMoreLines(reader)) reader.at++;
    else hunks.push(parseHunk(reader, hunks.length === 0));
  }
  if (hunks.length === 0 && moveTo === undefined) throw fault(reader, `${path} has no hunk`);
  return { kind: 'update', path, moveTo, hunks };
}

function isInSection(reader: Reader): boolean {
  const line = peek(reader);
  return line !== undefined && !SECTION.test(line.trim());
}

/** Whether something other than blank lines follows in this section. */
function hasMoreLines(reader: Reader): boolean {
  for (let at = reader.at; at < reader.lines.length; at++) {
    const line = reader.lines[at] ?? '';
    if (SECTION.test(line.trim())) return false;
    if (line.trim() !== '') return true;
  }
  return false;
}

function parseAdded(reader: Reader): string {
  let text = '';
  while (isInSection(reader)) {
    const line = peek(reader) ?? '';
    if (!line.startsWith('+')) {
      if (line.trim() !== '') throw fault(reader, 'each line of a new file begins with +');
      reader.at++;
      continue;
    }
    text += `${line.slice(1)}\n`;
    reader.at++;
  }
  return text;
}

function parseHunk(reader: Reader, isFirst: boolean): PatchHunk {
  const headings: string[] = [];
  let marked = false;
  for (let line = peek(reader); line?.startsWith('@@'); line = peek(reader)) {
    marked = true;
    // Models that know unified diffs write line numbers there, which mean nothing here.
    const heading = line.replace(/^@@(?: -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)? ?/, '').replace(/ ?@@$/, '');
    if (heading.trim() !== '') headings.push(heading);
    reader.at++;
  }
  if (!marked && !isFirst) throw fault(reader, 'a further hunk begins with @@');
  const lines: PatchLine[] = [];
  let atEnd = false;
  for (; isInSection(reader) && !peek(reader)?.startsWith('@@'); reader.at++) {
    const line = peek(reader) ?? '';
    if (line.trim() === '*** End of File') {
      atEnd = true;
      reader.at++;
      break;
    }
    lines.push(parseLine(reader, line));
  }
  // Blank lines before the next marker belong to nobody.
  while (lines.at(-1)?.kind === 'keep' && lines.at(-1)?.text === '' && reader.lines[reader.at - 1] === '')
    lines.pop();
  if (!lines.some(({ kind }) => kind !== 'keep')) throw fault(reader, 'the hunk changes nothing');
  return { headings, lines, atEnd };
}

function parseLine(reader: Reader, line: string): PatchLine {
  // An empty line stands for an empty line of context, whose blank got lost.
  if (line === '') return { kind: 'keep', text: '' };
  const kind = { ' ': 'keep', '-': 'remove', '+': 'add' }[line[0] ?? ''] as PatchLine['kind'] | undefined;
  if (kind === undefined)
    throw fault(
      reader,
      `a line of a hunk begins with a blank, + or -, and not with ${JSON.stringify(line[0])}`,
    );
  return { kind, text: line.slice(1) };
}

function fault({ at }: Reader, reason: string): ToolFailure {
  return new ToolFailure(`The patch cannot be read, line ${at + 1}: ${reason}. Nothing was written.`);
}
