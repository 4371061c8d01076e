// What the model is told of an edit: where it went, and the lines around it as they are afterwards, so that it need not
// read the file again.

import { cutText } from './line-window.ts';
import type { Seen } from './read-record.ts';
import { type DiffDisplay, splitLines } from './text-diff.ts';
import type { Hunk } from './text-file.ts';
import { markUnseen } from './unseen.ts';

const MAX_SNIPPETS = 3;
const MAX_SNIPPET_LINES = 14;
const CONTEXT_LINES = 2;
const MAX_LINE = 300;

export interface Edited {
  readonly shown: string;
  /** The text as it is, with `\n` line ends. */
  readonly after: string;
  /** In order, with the offsets of the text before. */
  readonly hunks: readonly Hunk[];
  readonly ignored: readonly string[];
  readonly seen: Seen;
  readonly display: DiffDisplay;
}

export function editReport({ shown, after, hunks, ignored, seen, display }: Edited): string {
  const places = newPlaces(after, hunks);
  const ranges = places
    .slice(0, 10)
    .map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  const several = hunks.length === 1 ? '' : `${hunks.length} replacements, `;
  const plural = hunks.length === 1 && places[0]?.first === places[0]?.last ? 'line' : 'lines';
  const at = `${plural} ${ranges.join(', ')}${places.length > 10 ? ', …' : ''}`;
  const notes = [`Edited ${shown}, ${at} (${several}+${display.added} −${display.removed}).`];
  if (ignored.length > 0) notes.push(`Matched although ${ignored.join(' and ')} differed.`);
  if (seen === 'changed') notes.push('The file had changed since you read it.');
  return [notes.join(' '), ...snippets(after, places)].join('\n');
}

/** The numbers of the lines that offsets, in ascending order, lie in. */
export function lineNumbers(text: string, offsets: readonly number[]): readonly number[] {
  let line = 1;
  let next = text.indexOf('\n');
  return offsets.map((offset) => {
    while (next !== -1 && next < offset) {
      line++;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  });
}

interface Place {
  readonly first: number;
  readonly last: number;
}

function newPlaces(after: string, hunks: readonly Hunk[]): readonly Place[] {
  let shift = 0;
  const bounds: number[] = [];
  for (const { start, end, replacement } of hunks) {
    const from = start + shift;
    bounds.push(from, Math.max(from, from + replacement.length - 1));
    shift += replacement.length - (end - start);
  }
  const numbers = lineNumbers(after, bounds);
  return hunks.map((_, at) => ({ first: numbers[2 * at] ?? 1, last: numbers[2 * at + 1] ?? 1 }));
}

function snippets(after: string, places: readonly Place[]): readonly string[] {
  const lines = splitLines(after);
  const result: string[] = [];
  let shownTo = 0;
  for (const { first, last } of places.slice(0, MAX_SNIPPETS)) {
    const from = Math.max(first - CONTEXT_LINES, shownTo + 1);
    const to = Math.min(last + CONTEXT_LINES, lines.length);
    if (from > to) continue;
    if (shownTo > 0 && from > shownTo + 1) result.push('…');
    for (let number = from; number <= to; number++) {
      if (to - from >= MAX_SNIPPET_LINES && number - from === MAX_SNIPPET_LINES / 2) {
        number = to - MAX_SNIPPET_LINES / 2 + 1;
        result.push('…');
      }
      result.push(`${number}\t${markUnseen(cutText(lines[number - 1] ?? '', MAX_LINE))}`);
    }
    shownTo = to;
  }
  return result;
}
