// Where the hunks of a patch apply: one after the other from the beginning of the file on, each at the first place that
// has its lines. Differences that models cannot see (blanks at the ends of lines, quotes, dashes) do not count; the file
// keeps its own lines wherever the patch keeps them.

import { ToolFailure } from '../../core/errors.ts';
import { plainCharacters } from './edit-match.ts';
import { describeNearest } from './edit-nearest.ts';
import type { PatchHunk, PatchLine } from './patch-format.ts';
import type { Hunk } from './text-file.ts';

type Normal = (line: string) => string;

/** From strict to lenient; the first under which a place is found decides. */
const NORMALS: readonly Normal[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => plainCharacters(line).trim(),
];

/** @param text with `\n` line ends */
export function locateHunks(text: string, hunks: readonly PatchHunk[], shown: string): readonly Hunk[] {
  const lines = text.split('\n');
  // What follows the last line end is no line.
  if (lines.at(-1) === '') lines.pop();
  const starts = lineStarts(lines);
  const found: Hunk[] = [];
  let from = 0;
  for (const [at, hunk] of hunks.entries()) {
    const name = hunks.length > 1 ? `Hunk ${at + 1} of ${hunks.length}: ` : '';
    for (const heading of hunk.headings) {
      const place = find(lines, [heading], from, false);
      if (place === undefined)
        throw notFound(name, `the line ${JSON.stringify(heading)} was not found in ${shown}`, text, heading);
      from = place + 1;
    }
    const old = hunk.lines.filter(({ kind }) => kind !== 'add').map((line) => line.text);
    const place = old.length === 0 ? insertion(lines, hunk, from) : find(lines, old, from, hunk.atEnd);
    if (place === undefined) {
      const order = from > 0 && find(lines, old, 0, false) !== undefined ? ' behind the hunks before it' : '';
      throw notFound(name, `its lines were not found in ${shown}${order}`, text, old.join('\n'));
    }
    found.push(...replacements(text, { lines, starts, place }, hunk.lines));
    from = place + old.length;
  }
  return found;
}

/** Lines that are only added stand behind the last heading, and without one at the end of the file. */
function insertion(lines: readonly string[], hunk: PatchHunk, from: number): number {
  return hunk.headings.length > 0 && !hunk.atEnd ? from : lines.length;
}

function find(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const last = lines.length - wanted.length;
  for (const normal of NORMALS) {
    const [first = '', ...rest] = wanted.map(normal);
    for (let place = atEnd ? Math.max(from, last) : from; place <= last; place++) {
      if (normal(lines[place] ?? '') !== first) continue;
      if (rest.every((line, at) => normal(lines[place + at + 1] ?? '') === line)) return place;
    }
  }
  return undefined;
}

interface Located {
  readonly lines: readonly string[];
  /** Where each line begins in the text. */
  readonly starts: readonly number[];
  /** Index of the first line of the hunk. */
  readonly place: number;
}

/** One replacement for each run of lines that change. */
function replacements(text: string, located: Located, patch: readonly PatchLine[]): readonly Hunk[] {
  const result: Hunk[] = [];
  let line = located.place;
  for (let at = 0; at < patch.length; ) {
    if (patch[at]?.kind === 'keep') {
      line++;
      at++;
      continue;
    }
    const first = line;
    const added: string[] = [];
    for (; at < patch.length && patch[at]?.kind !== 'keep'; at++) {
      if (patch[at]?.kind === 'remove') line++;
      else added.push(patch[at]?.text ?? '');
    }
    result.push(replacement(text, located, { first, last: line }, added));
  }
  return result;
}

/** Of the lines from `first` up to and without `last`. */
function replacement(
  text: string,
  { starts }: Located,
  { first, last }: { readonly first: number; readonly last: number },
  added: readonly string[],
): Hunk {
  const start = starts[first] ?? text.length;
  const end = starts[last] ?? text.length;
  const lacksEnd = end === text.length && text !== '' && !text.endsWith('\n');
  if (!lacksEnd) return { start, end, replacement: added.map((line) => `${line}\n`).join('') };
  if (start === end) return { start, end, replacement: added.map((line) => `\n${line}`).join('') };
  // The last line goes, and with it the line end before it when nothing takes its place.
  if (added.length === 0) return { start: Math.max(0, start - 1), end, replacement: '' };
  return { start, end, replacement: added.join('\n') };
}

function lineStarts(lines: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return starts;
}

function notFound(name: string, what: string, text: string, old: string): ToolFailure {
  return new ToolFailure(`${name}${what}. ${describeNearest(text, old)}\nNothing was written.`);
}
