// Text as the words that searches compare: one tokenizer for memory and sessions, so that both find the same things.
// Letters lose case and accents; an identifier counts as a whole and as its parts (`parseHttpUrl`, `parse_http_url`);
// scripts without spaces are cut into pairs of letters, which finds any word of two letters or more.

const RUN = /[\p{L}\p{N}\p{M}_$]+/gu;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu;
/** Where one word of an identifier ends: `aB`, `ABc`, a letter beside a digit, and `_`. */
const JOINT =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[_$]+/u;
/** Longer ones are hashes and encoded data: nobody searches for the end of one. */
const MAX_LENGTH = 64;

/** The words of a text, in order, with repetitions. */
export function words(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) addRun(run, found);
  return found;
}

function addRun(run: string, found: string[]): void {
  let from = 0;
  for (const match of run.matchAll(UNSPACED)) {
    addWord(run.slice(from, match.index), found);
    addPairs([...match[0]], found);
    from = match.index + match[0].length;
  }
  addWord(from === 0 ? run : run.slice(from), found);
}

function addWord(word: string, found: string[]): void {
  const whole = plain(word.replace(/^[_$]+|[_$]+$/g, ''));
  if (whole === '') return;
  found.push(whole);
  if (!/[_$]|\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u.test(word)) return;
  for (const part of word.split(JOINT)) {
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
