// Characters that nobody sees and that change what is seen: controls, among them the escapes of a terminal, marks of
// direction, invisible spaces and tags. A model is shown their numbers, so that a text can hide nothing from it, and may
// write them so in an edit. What joins letters and emoji (U+200C, U+200D, U+FE0F) stays, since people write it.

// Unicode 16: controls but tab and line feed, bidirectional marks (UAX #9), soft hyphen, invisible operators and spaces, line
// and paragraph separators, interlinear annotation, tags, and the variation selectors that only supplementary planes use.
const UNSEEN =
  /[[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]--[\t\n]]/v;

const EVERY_UNSEEN = new RegExp(UNSEEN.source, 'gv');

const MARK = /<U\+([0-9A-F]{4,6})>/g;

export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
}

/** The text with `<U+202E>` for such a character. */
export function markUnseen(text: string): string {
  return UNSEEN.test(text) ? text.replace(EVERY_UNSEEN, mark) : text;
}

/** The text that was marked so; undefined when it holds no mark. */
export function unmark(text: string): string | undefined {
  const result = text.replace(MARK, (whole, digits: string) => {
    const code = Number.parseInt(digits, 16);
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
    return UNSEEN.test(character) ? character : whole;
  });
  return result === text ? undefined : result;
}

function mark(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}
