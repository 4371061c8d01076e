import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText, Sanitizer } from './sanitizer.ts';

const CASES: readonly (readonly [string, string, string])[] = [
  ['plain text passes', 'a\tb\nä 日本 🦀\n', 'a\tb\nä 日本 🦀\n'],
  ['colours go', '\x1b[1;31mred\x1b[0m\x1b[38:2::1:2:3mx\n', 'redx\n'],
  ['private and intermediate CSI go', '\x1b[?25l\x1b[!p\x1b[2 qx\n', 'x\n'],
  ['a window title goes, ended by BEL or ST', '\x1b]0;title\x07a\x1b]2;t\x1b\\b\n', 'ab\n'],
  ['the clipboard is out of reach', 'a\x1b]52;c;ZXZpbA==\x07b\n', 'ab\n'],
  [
    'DCS, APC, PM and SOS go whole',
    '\x1bPq#0~~\x1b\\a\x1b_Gf=1;AA\x1b\\b\x1b^p\x1b\\c\x1bXs\x1b\\d\n',
    'abcd\n',
  ],
  ['C1 controls work like their two-byte forms', '\x9b31ma\x9d0;t\x9cb\x85c\x90q\x9cd\n', 'abcd\n'],
  ['character sets and single escapes go', '\x1b(Ba\x1b7b\x1b=c\x1b#8d\n', 'abcd\n'],
  ['other C0 controls and DEL go', 'a\0b\x07c\x0bd\x0ce\x0ef\x7fg\n', 'abcdefg\n'],
  ['progress collapses to its last state', ' 10%\r 50%\r100%\ndone\n', '100%\ndone\n'],
  ['CRLF is a line end', 'a\r\nb\r\r\nc\r\n', 'a\nb\nc\n'],
  ['a return without more keeps the line', 'abc\r', 'abc'],
  ['erasing by CSI K and column 1 is a return', 'one\x1b[2K\x1b[1Gtwo\x1b[Gsix\n', 'six\n'],
  ['another column is no return', 'ab\x1b[10Gcd\x1b[1;1Hef\n', 'abcdef\n'],
  ['overstrike keeps what is on top', 'N\bNA\bAM\bME\bE _\bx\n', 'NAME x\n'],
  ['a spinner keeps its last frame', '|\b/\b-\b\\\b done\n', ' done\n'],
  ['backspaces stop at the start and step over a whole character', 'a🦀\b\b\b\bb🦀\bc\n', 'bc\n'],
  ['a newline ends an unfinished sequence', 'a\x1b]0;never ended\nb\x1b[12\nc\x1bP\nd\n', 'a\nb\nc\nd\n'],
  ['what turns text around goes', 'a\u202eb\u202c\u2066c\u2069\u200fd\n', 'abc\u200fd\n'],
  ['CAN aborts a sequence', 'a\x1b[12\x18b\x1b]x\x1ac\n', 'abc\n'],
  ['what no sequence contains is text', 'a\x1b[1äb\x1béc\n', 'aäbéc\n'],
  ['an escape inside a string begins anew', '\x1b]0;x\x1b[31ma\n', 'a\n'],
  ['an unfinished sequence at the end goes', 'abc\x1b[3', 'abc'],
];

for (const [name, input, expected] of CASES) {
  test(`${name}`, () => assert.equal(plainText(input), expected));
}

test('splitting the input at any place makes no difference', () => {
  for (const [name, input, expected] of CASES) {
    for (let at = 0; at <= input.length; at++) {
      const sanitizer = new Sanitizer();
      const text = sanitizer.push(input.slice(0, at)) + sanitizer.push(input.slice(at)) + sanitizer.end();
      assert.equal(text, expected, `${name}, split at ${at}`);
    }
  }
});

test('random streams read the same in any pieces, and never leave a control behind', () => {
  const alphabet = [
    'a',
    'bc',
    '\n',
    '\r',
    '\b',
    '\t',
    '\x1b',
    '[',
    ']',
    'P',
    '\\',
    '\x07',
    '1',
    ';',
    'G',
    'K',
  ];
  alphabet.push('\x9b', '\x9c', '\x9d', '\x18', 'ä', '🦀', '\0', 'x'.repeat(4095), '🦀'.repeat(2100));
  const random = generator(7);
  for (let round = 0; round < 3000; round++) {
    let input = '';
    for (let n = random(40); n >= 0; n--) input += alphabet[random(alphabet.length)];
    const sanitizer = new Sanitizer();
    let pieces = '';
    for (let at = 0; at < input.length; ) {
      const end = at + 1 + random(input.length > 1000 ? 3000 : 5);
      pieces += sanitizer.push(input.slice(at, end));
      at = end;
    }
    pieces += sanitizer.end();
    const whole = plainText(input);
    assert.equal(pieces, whole, `round ${round}`);
    assert.ok(whole.isWellFormed(), `round ${round}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
    assert.doesNotMatch(whole, /[\x00-\x08\x0b-\x1f\x7f-\x9f]/, `round ${round}`);
  }
});

test('a line that is longer than can be overwritten is let go in part and read on', () => {
  const sanitizer = new Sanitizer();
  const long = 'x'.repeat(10_000);
  assert.equal(sanitizer.push(long), 'x'.repeat(8192));
  assert.equal(sanitizer.push('\rlast'), '');
  assert.equal(sanitizer.push('\n'), 'last\n');
});

function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
