// What is not ours may hold characters that move the cursor, colour the screen or hide. They are shown as
// marks instead of being dropped, so that a person sees that something was there. Only colour sequences are
// taken out without a mark: commands print them in good faith, and without them the text is all there.

const ESCAPE = String.fromCharCode(0x1b);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;:]*m`, 'g');
// Those of C0 and C1, and those that turn text around (UAX #9), which no language needs to be read.
const CONTROLS = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\t\n]]/v;
const ALL_CONTROLS = /[[\p{Cc}\u202a-\u202e\u2066-\u2069]--[\t\n]]/gv;

/**
 * Format characters (bidirectional marks, zero-width characters, tags), separators that only look like a
 * space, lone surrogates, private use, and all that a font is free to draw as nothing. Read when it is first needed.
 */
let unseen: RegExp | undefined;

/** For answers and output: control characters as marks; tabs and line ends stay. */
export function visible(text: string): string {
  if (!CONTROLS.test(text)) return text;
  return text.replaceAll('\r\n', '\n').replace(COLOURS, '').replace(ALL_CONTROLS, mark);
}

/** For what a person decides on: everything that cannot be seen, or reorders what can, as a mark. */
export function visibleStrictly(text: string): string {
  unseen ??= /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]--[\t\n\u0020]]/gv;
  return text.replace(unseen, mark);
}

/** The text as one line of at most `limit` characters. */
export function visibleLine(text: string, limit = 200): string {
  const head = text.length > limit * 4 ? text.slice(0, limit * 4) : text;
  const line = visible(head.trim()).replaceAll('\n', ' ⏎ ').replaceAll('\t', ' ');
  const letters = Array.from(line);
  if (letters.length <= limit && head.length === text.length) return line;
  return `${letters.slice(0, limit - 1).join('')}…`;
}

function mark(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
