// ULIDs (github.com/ulid/spec): 48 bits of milliseconds and 80 random bits in Crockford's base 32, so
// that names sort by age. Two made in the same millisecond still sort in the order they were made.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_DIGITS = 16;

export const ULID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export interface IdSource {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
}

/** Returns a function that makes ULIDs, each greater than the one before, even when the clock goes back. */
export function createIds(source: IdSource): () => string {
  let last = -1;
  const digits = new Array<number>(RANDOM_DIGITS).fill(0);
  return () => {
    const now = source.now();
    if (now > last) {
      last = now;
      for (let at = 0; at < RANDOM_DIGITS; at++) digits[at] = Math.floor(source.random() * 32);
    } else if (!increment(digits)) {
      last++;
    }
    let random = '';
    for (const digit of digits) random += ALPHABET[digit];
    return encodeTime(last) + random;
  };
}

function increment(digits: number[]): boolean {
  for (let at = digits.length - 1; at >= 0; at--) {
    const digit = digits[at] ?? 0;
    if (digit < 31) {
      digits[at] = digit + 1;
      return true;
    }
    digits[at] = 0;
  }
  return false;
}

function encodeTime(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (let at = 0; at < 10; at++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** The milliseconds since the epoch that a ULID was made at. */
export function timeOf(ulid: string): number {
  let time = 0;
  for (const letter of ulid.slice(0, 10)) time = time * 32 + ALPHABET.indexOf(letter);
  return time;
}
