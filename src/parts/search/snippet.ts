// A part of a message that is short enough to be shown, around what was looked for.

import { MAX_SNIPPET_BYTES } from '../../core/search.ts';

export interface Snippet {
  readonly snippet: string;
  readonly truncated: boolean;
}

/** Characters before the word that are shown with it. */
const LEAD = 200;
const LETTER = /[\p{L}\p{N}]/u;

/** `words` in the order in which they are looked for; of a message without any, the beginning. */
export function snippetOf(text: string, words: readonly string[]): Snippet {
  if (Buffer.byteLength(text) <= MAX_SNIPPET_BYTES) return { snippet: text.toWellFormed(), truncated: false };
  const at = placeOf(text, words);
  const room = Math.max(0, Math.min(at - LEAD, text.length - MAX_SNIPPET_BYTES));
  const snippet = cut(text.slice(startOfWord(text, room), room + 2 * MAX_SNIPPET_BYTES).toWellFormed());
  return { snippet, truncated: true };
}

/** At most so many bytes of UTF-8, and no half of a letter. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_SNIPPET_BYTES) return text;
  let end = MAX_SNIPPET_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** Where the first of the words stands, as a word of its own before as a part of one; 0 when none does. */
function placeOf(text: string, words: readonly string[]): number {
  const lower = text.toLowerCase();
  // Lower case may be longer than the text (İ); then places would be wrong.
  if (lower.length !== text.length) return 0;
  let part: number | undefined;
  for (const word of words)
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) {
      part ??= at;
      const isWhole = !isLetter(lower[at - 1]) && !isLetter(lower[at + word.length]);
      if (isWhole) return at;
    }
  return part ?? 0;
}

/** Not in the middle of a word, if its beginning is near. */
function startOfWord(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + LEAD / 4).search(/\s/);
  return space === -1 ? at : at + space + 1;
}

function isLetter(letter: string | undefined): boolean {
  return letter !== undefined && LETTER.test(letter);
}
