// Finds where a replacement applies: the exact text, once. What differs only in things that models cannot see or type
// (trailing blanks, curly quotes, dashes, odd spaces) is accepted where exactly one place fits, and the file keeps
// its own letters in all that the replacement does not change. Nothing else is guessed.

import type { Hunk } from './text-file.ts';

export interface Change {
  /** Not empty; both with `\n` line ends. */
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

export type Found =
  | { readonly kind: 'found'; readonly hunks: readonly Hunk[]; readonly ignored: readonly string[] }
  /** More than one place; `ignored` is not empty when none of them is exact. */
  | { readonly kind: 'ambiguous'; readonly offsets: readonly number[]; readonly ignored: readonly string[] }
  | { readonly kind: 'missing' };

/** Characters of a file up to which inexact places are looked for. */
const MAX_TOLERANT_LENGTH = 4 * 1024 * 1024;

/** Places that are counted in a refusal. */
const MAX_PLACES = 1000;

export function findChange(text: string, change: Change): Found {
  const exact = occurrences(text, change.oldText, change.all ? change.oldText.length : 1);
  if (exact.length === 0) return findTolerant(text, change);
  if (exact.length > 1 && !change.all) return { kind: 'ambiguous', offsets: exact, ignored: [] };
  const hunks = exact.map((start) => ({
    start,
    end: start + change.oldText.length,
    replacement: change.newText,
  }));
  return { kind: 'found', hunks, ignored: [] };
}

function occurrences(text: string, part: string, step: number): readonly number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + step)) {
    offsets.push(at);
    if (step === 1 && offsets.length >= MAX_PLACES) break;
  }
  return offsets;
}

function findTolerant(text: string, change: Change): Found {
  if (text.length > MAX_TOLERANT_LENGTH) return { kind: 'missing' };
  const before = plain(change.oldText);
  if (before.text.trim() === '') return { kind: 'missing' };
  const file = plain(text);
  const places = occurrences(file.text, before.text, 1);
  const [place] = places;
  if (place === undefined) return { kind: 'missing' };
  const at = (index: number) => file.offsets[index] ?? text.length;
  const lastEnd = at(place + before.text.length - 1) + 1;
  const ignored = differences(text.slice(at(place), lastEnd), change.oldText);
  if (places.length > 1) return { kind: 'ambiguous', offsets: places.map(at), ignored };
  const after = plain(change.newText);
  const [head, tail] = common(before.text, after.text);
  const start = head === 0 ? at(place) : at(place + head - 1) + 1;
  const end = tail === 0 ? lastEnd : at(place + before.text.length - tail);
  const from = head === 0 ? 0 : (after.offsets[head - 1] ?? 0) + 1;
  const to = tail === 0 ? change.newText.length : (after.offsets[after.text.length - tail] ?? 0);
  const hunk = { start, end, replacement: change.newText.slice(from, to) };
  return { kind: 'found', hunks: [hunk], ignored };
}

/** Lengths of the beginning and the end that two texts share, which do not overlap. */
function common(left: string, right: string): readonly [head: number, tail: number] {
  const most = Math.min(left.length, right.length);
  let head = 0;
  while (head < most && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < most - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  return [head, tail];
}

interface PlainText {
  readonly text: string;
  /** For each character where it stands in the original. */
  readonly offsets: Uint32Array;
}

/** The text with plain quotes, dashes and spaces, and without blanks at line ends. */
function plain(text: string): PlainText {
  const mapped = plainCharacters(text);
  const offsets = new Uint32Array(mapped.length);
  let result = '';
  let length = 0;
  for (let at = 0; at <= mapped.length; ) {
    const newline = mapped.indexOf('\n', at);
    const end = newline === -1 ? mapped.length : newline;
    let last = end;
    while (last > at && (mapped[last - 1] === ' ' || mapped[last - 1] === '\t')) last--;
    result += mapped.slice(at, last);
    for (let index = at; index < last; index++) offsets[length++] = index;
    if (newline === -1) break;
    result += '\n';
    offsets[length++] = newline;
    at = newline + 1;
  }
  return { text: result, offsets: offsets.subarray(0, length) };
}

const SINGLE_QUOTES = /[‘’‚‛′]/g;
const DOUBLE_QUOTES = /[“”„‟″]/g;
const DASHES = /[‐‑‒–—―−]/g;
const SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

/** One character for one, so that offsets stay. */
export function plainCharacters(text: string): string {
  return text
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, '-')
    .replace(SPACES, ' ');
}

/** In what two texts differ that are the same to `plain`. */
export function differences(left: string, right: string): readonly string[] {
  const kinds: readonly (readonly [name: string, pattern: RegExp])[] = [
    ['trailing whitespace', /[^\S\n]+$/gm],
    ['quotes', /['"‘’‚‛′“”„‟″]/g],
    ['dashes', /[-‐‑‒–—―−]/g],
    ['kinds of space', /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g],
  ];
  const same = (pattern: RegExp) =>
    (left.match(pattern) ?? []).join('|') === (right.match(pattern) ?? []).join('|');
  return kinds.filter(([, pattern]) => !same(pattern)).map(([name]) => name);
}
