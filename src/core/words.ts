// Text as the words that searches compare: one tokenizer for memory and sessions, so that both find the same things.
// Letters lose case and accents; an identifier counts as a whole and as its parts (`parseHttpUrl`, `parse_http_url`);
// scripts without spaces are cut into pairs of letters, which finds any word of two letters or more. What is ASCII, most
// of what is ever searched, is scanned by hand: the patterns that define a word take five times as long.

/** Longer ones are hashes and encoded data: nobody searches for the end of one. */
const MAX_LENGTH = 64;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** `_` and `$`, which belong to a word and separate its parts. */
const MARK = 4;

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 0x61 && code <= 0x7a) return LOWER;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  return code === 0x5f || code === 0x24 ? MARK : OTHER;
});

/** The words of a text, in order, with repetitions. */
export function words(text: string): string[] {
  const found: string[] = [];
  const { length } = text;
  let at = 0;
  while (at < length) {
    const start = at;
    let kinds = 0;
    let isPlain = true;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code >= 128) {
        isPlain = false;
        continue;
      }
      const kind = KINDS[code] ?? OTHER;
      if (kind === OTHER) break;
      kinds |= 1 << kind;
    }
    // The letter before is in no word, and yet an accent may belong to it.
    if (!isPlain) addForeign(text.slice(Math.max(0, start - 1), at), found);
    else if (at > start) addPlain(text, start, at, kinds, found);
    at++;
  }
  return found;
}

const ONLY_LOWER = 1 << LOWER;
const ONLY_DIGITS = 1 << DIGIT;

/** `text` from `start` to `end` is ASCII and one run; `kinds` has the bit of every kind in it. */
function addPlain(text: string, start: number, end: number, kinds: number, found: string[]): void {
  if (kinds === ONLY_LOWER || kinds === ONLY_DIGITS) {
    found.push(text.slice(start, Math.min(end, start + MAX_LENGTH)));
    return;
  }
  let from = start;
  let to = end;
  while (from < to && kindAt(text, from) === MARK) from++;
  while (from < to && kindAt(text, to - 1) === MARK) to--;
  if (from === to) return;
  const whole = text.slice(from, Math.min(to, from + MAX_LENGTH)).toLowerCase();
  found.push(whole);
  let part = from;
  for (let at = from + 1; at <= to; at++) {
    if (at < to && !isJoint(text, at, to)) continue;
    addPart(text, part, at, whole, found);
    part = at;
  }
}

/** Whether a part ends before `at`. */
function isJoint(text: string, at: number, end: number): boolean {
  const before = kindAt(text, at - 1);
  const here = kindAt(text, at);
  if (before !== here) return before !== UPPER || here !== LOWER;
  return here === UPPER && at + 1 < end && kindAt(text, at + 1) === LOWER;
}

function addPart(text: string, from: number, to: number, whole: string, found: string[]): void {
  if (kindAt(text, from) === MARK) return;
  const part = text.slice(from, Math.min(to, from + MAX_LENGTH)).toLowerCase();
  if (part !== whole) found.push(part);
}

function kindAt(text: string, at: number): number {
  return KINDS[text.charCodeAt(at)] ?? OTHER;
}

/** Patterns that name properties of letters: to read them takes a millisecond, and text in ASCII needs none. */
interface Patterns {
  readonly run: RegExp;
  readonly unspaced: RegExp;
  /** Where one word of an identifier ends: `aB`, `ABc`, a letter beside a digit, and `_`. */
  readonly joint: RegExp;
  readonly hasJoint: RegExp;
}

let read: Patterns | undefined;

function patterns(): Patterns {
  read ??= {
    run: /[\p{L}\p{N}\p{M}_$]+/gu,
    unspaced: /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu,
    joint: /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[_$]+/u,
    hasJoint: /[_$]|\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u,
  };
  return read;
}

/** A stretch up to the next ASCII letter that is in no word. */
function addForeign(text: string, found: string[]): void {
  for (const [run] of text.normalize('NFKC').matchAll(patterns().run)) addRun(run, found);
}

function addRun(run: string, found: string[]): void {
  let from = 0;
  for (const match of run.matchAll(patterns().unspaced)) {
    addWord(run.slice(from, match.index), found);
    addPairs([...match[0]], found);
    from = match.index + match[0].length;
  }
  addWord(from === 0 ? run : run.slice(from), found);
}

function addWord(word: string, found: string[]): void {
  const { joint, hasJoint } = patterns();
  const whole = plain(word.replace(/^[_$]+|[_$]+$/g, ''));
  if (whole === '') return;
  found.push(whole);
  if (!hasJoint.test(word)) return;
  for (const part of word.split(joint)) {
    const small = plain(part);
    if (small !== '' && small !== whole) found.push(small);
  }
}

function addPairs(letters: readonly string[], found: string[]): void {
  if (letters.length === 1) found.push(letters[0] ?? '');
  for (let at = 1; at < letters.length; at++) found.push(`${letters[at - 1]}${letters[at]}`);
}

function plain(word: string): string {
  const small = word.toLowerCase();
  // Most text is ASCII, which has no accents to lose.
  const bare = /^[\x20-\x7e]*$/.test(small) ? small : small.normalize('NFD').replace(/\p{M}+/gu, '');
  return bare.slice(0, MAX_LENGTH);
}
