// For a text that was not found: the lines of the file that come closest, with their numbers, and what differs. A model
// that sees them repairs its call at once, instead of rewriting the whole file.

import { plainCharacters } from './edit-match.ts';
import { cutText } from './line-window.ts';
import { splitLines } from './text-diff.ts';
import { markUnseen } from './unseen.ts';

/** Lines of a file that are looked at for likeness; behind them only a line that is the same counts. */
const MAX_COMPARED_LINES = 15_000;

/** Lines of the missing text that take part in the comparison, and lines that are shown. */
const MAX_OLD_LINES = 30;
const MAX_SHOWN_LINES = 12;

/** Places that are compared line by line. */
const MAX_CANDIDATES = 8;

/** Below this likeness, from 0 to 1, a place is no hint. */
const LEAST_LIKENESS = 0.55;

const MAX_LINE = 300;

/** Sentences about the place in `text` that is nearest to `oldText`. */
export function describeNearest(text: string, oldText: string): string {
  const old = splitLines(oldText).slice(0, MAX_OLD_LINES);
  if (old.length > 0 && old.every((line) => /^\s*\d+\t/.test(line)))
    return 'Its lines begin with the line numbers that read shows: leave them out.';
  const lines = splitLines(text);
  const place = nearest(lines, old);
  if (place === undefined) return 'No similar place was found: read the part that you want to change.';
  const last = Math.min(place + Math.min(old.length, MAX_SHOWN_LINES), lines.length);
  const numbered = lines
    .slice(place, last)
    .map((line, at) => `${place + at + 1}\t${markUnseen(cutText(line, MAX_LINE))}`);
  const range = last - place > 1 ? `lines ${place + 1}–${last}` : `line ${last}`;
  return `The nearest place is ${range}:\n${numbered.join('\n')}\n${firstDifference(lines, old, place)}`;
}

/** The index of the line where the most similar stretch begins. */
function nearest(lines: readonly string[], old: readonly string[]): number | undefined {
  const fileLines = lines.map(loose);
  const oldLines = old.map(loose);
  let best: number | undefined;
  let most = LEAST_LIKENESS;
  for (const start of candidates(fileLines, oldLines)) {
    let sum = 0;
    let weight = 0;
    for (const [at, line] of oldLines.entries()) {
      const size = line.length + 1;
      weight += size;
      sum += size * likeness(line, fileLines[start + at] ?? '');
    }
    if (sum / weight > most) [best, most] = [start, sum / weight];
  }
  return best;
}

/** Starts at which one of the longest lines of the missing text has a similar line in the file. */
function candidates(lines: readonly string[], old: readonly string[]): readonly number[] {
  const anchors = [...old.entries()].sort(([, a], [, b]) => b.length - a.length).slice(0, 3);
  const scored = new Map<number, number>();
  for (const [offset, anchor] of anchors) {
    if (anchor === '') continue;
    const pairs = bigrams(anchor);
    for (const [at, line] of lines.entries()) {
      const start = Math.max(0, at - offset);
      const score = line === anchor ? 1 : at < MAX_COMPARED_LINES ? dice(pairs, anchor, line) : 0;
      if (score > 0.4) scored.set(start, Math.max(scored.get(start) ?? 0, score));
    }
  }
  const ordered = [...scored].sort(([a, x], [b, y]) => y - x || a - b);
  return ordered.slice(0, MAX_CANDIDATES).map(([start]) => start);
}

/** A line without what rarely distinguishes one from another. */
function loose(line: string): string {
  return plainCharacters(cutText(line, MAX_LINE)).trim().replace(/\s+/g, ' ');
}

function likeness(left: string, right: string): number {
  return left === right ? 1 : dice(bigrams(left), left, right);
}

function bigrams(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at < text.length - 1; at++) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** The Sørensen–Dice coefficient of the letter pairs of two texts; 0 at once for very different lengths. */
function dice(pairs: ReadonlyMap<string, number>, left: string, right: string): number {
  const total = left.length + right.length - 2;
  if (total <= 0 || Math.min(left.length, right.length) * 3 < Math.max(left.length, right.length)) return 0;
  const used = new Map<string, number>();
  let shared = 0;
  for (let at = 0; at < right.length - 1; at++) {
    const pair = right.slice(at, at + 2);
    const seen = used.get(pair) ?? 0;
    if (seen < (pairs.get(pair) ?? 0)) {
      used.set(pair, seen + 1);
      shared++;
    }
  }
  return (2 * shared) / total;
}

function firstDifference(lines: readonly string[], old: readonly string[], start: number): string {
  for (const [at, line] of old.entries()) {
    const own = lines[start + at];
    if (own === line) continue;
    const number = start + at + 1;
    if (own === undefined) return `The file ends before line ${number} of it.`;
    return `It differs first at line ${number}, in ${difference(own, line)}.`;
  }
  return 'The lines are the same: what differs lies before or behind them.';
}

/** What differs between a line of the file and a line of the missing text. */
function difference(own: string, line: string): string {
  const [plainOwn, plainLine] = [plainCharacters(own), plainCharacters(line)];
  if (own.trimEnd() === line.trimEnd()) return 'trailing whitespace';
  if (own.trim() === line.trim())
    return `indentation: the file has ${indentation(own)}, old_string has ${indentation(line)}`;
  if (plainOwn === plainLine) return 'quotes, dashes or kinds of space';
  if (loose(own) === loose(line)) return 'whitespace';
  if (loose(own).toLowerCase() === loose(line).toLowerCase()) return 'upper and lower case';
  return `the text: old_string has ${JSON.stringify(cutText(line, MAX_LINE))}`;
}

function indentation(line: string): string {
  const blanks = line.slice(0, line.length - line.trimStart().length);
  const tabs = blanks.split('\t').length - 1;
  const spaces = blanks.length - tabs;
  const parts = [
    ...(tabs > 0 ? [`${tabs} tab${tabs === 1 ? '' : 's'}`] : []),
    ...(spaces > 0 ? [`${spaces} space${spaces === 1 ? '' : 's'}`] : []),
  ];
  return parts.length === 0 ? 'none' : parts.join(' and ');
}
