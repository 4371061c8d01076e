import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import {
  decodeText,
  type Encoding,
  encodeText,
  type Hunk,
  type LineEnds,
  splice,
  type TextFormat,
  unencodable,
} from './text-file.ts';

const FORMATS: readonly TextFormat[] = [
  { encoding: 'utf-8', bom: false },
  { encoding: 'utf-8', bom: true },
  { encoding: 'utf-16le', bom: true },
  { encoding: 'utf-16be', bom: true },
  { encoding: 'windows-1252', bom: false },
];

const ENDS: Readonly<Record<LineEnds, readonly string[]>> = {
  lf: ['\n'],
  crlf: ['\r\n'],
  cr: ['\r'],
  mixed: ['\n', '\r\n'],
};

const LETTERS: Readonly<Record<Encoding, readonly string[]>> = {
  'utf-8': ['a', ' ', '\t', 'é', '€', '😀', '\u2028', '\ufeff'],
  'utf-16le': ['a', ' ', '\t', 'é', '€', '😀', '\ud800', '\ufeff'],
  'utf-16be': ['a', ' ', '\t', 'é', '€', '😀', '\udfff', '\ufeff'],
  'windows-1252': ['a', ' ', '\t', 'é', '€', '’', 'ÿ', '\x81'],
};

function bytesOf(raw: string, format: TextFormat): Buffer {
  const bytes = encodeText(raw, format);
  assert.ok(bytes !== undefined);
  return Buffer.from(bytes);
}

test('every encoding, line end and ending comes back byte for byte', () => {
  const random = seeded(1);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  let mixed = 0;
  for (let round = 0; round < 4000; round++) {
    const format = pick(FORMATS);
    const ends = pick(['lf', 'crlf', 'cr', 'mixed'] as const);
    // `é` at the front makes Latin-1 bytes that are no UTF-8.
    let raw = format.encoding === 'windows-1252' ? 'é a' : '';
    for (let lines = Math.floor(random() * 6); lines > 0; lines--) {
      for (let count = Math.floor(random() * 5); count > 0; count--) raw += pick(LETTERS[format.encoding]);
      raw += lines > 1 || random() < 0.5 ? pick(ENDS[ends]) : '';
    }
    const bytes = bytesOf(raw, format);
    const file = decodeText(bytes);
    assert.ok(file !== undefined, JSON.stringify({ raw, format }));
    assert.deepEqual({ encoding: file.encoding, bom: file.bom }, seenAs(bytes, format));
    assert.ok(Buffer.from(encodeText(file.raw, file) ?? []).equals(bytes));
    assert.ok(Buffer.from(encodeText(splice(file, []), file) ?? []).equals(bytes));
    if (file.ends === 'mixed') mixed++;
  }
  assert.ok(mixed > 100, 'the generator made mixed files');
});

/** UTF-8 that begins with U+FEFF is UTF-8 with a mark: there is no telling them apart. */
function seenAs(bytes: Buffer, format: TextFormat): TextFormat {
  if (format.encoding !== 'utf-8') return format;
  return { encoding: 'utf-8', bom: bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) };
}

test('an edit changes the bytes of its hunk and no others', () => {
  const random = seeded(2);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let round = 0; round < 4000; round++) {
    const format = pick(FORMATS);
    const ends = pick(['lf', 'crlf', 'mixed'] as const);
    const line = () =>
      Array.from({ length: Math.floor(random() * 6) }, () => pick(['a', 'b', 'é', '\t'])).join('');
    const lines = Array.from({ length: 8 }, () => ({ text: line(), end: pick(ENDS[ends]) }));
    if (format.encoding === 'windows-1252') lines.unshift({ text: 'é a', end: '\n' });
    const at = 1 + Math.floor(random() * (lines.length - 2));
    const edited = lines[at];
    assert.ok(edited !== undefined);
    const join = (list: typeof lines) => list.map((each) => each.text + each.end).join('');
    const file = decodeText(bytesOf(join(lines), format));
    assert.ok(file !== undefined);
    const start = lines.slice(0, at).reduce((sum, each) => sum + each.text.length + 1, 0);
    const hunk: Hunk = { start, end: start + edited.text.length, replacement: 'new' };
    const expected = join(lines.with(at, { text: 'new', end: edited.end }));
    assert.equal(splice(file, [hunk]), expected);
    assert.ok(bytesOf(splice(file, [hunk]), file).equals(bytesOf(expected, format)));
  }
});

describe('line ends of new lines', () => {
  const edited = (raw: string, hunk: Hunk) => {
    const file = decodeText(Buffer.from(raw));
    assert.ok(file !== undefined);
    return splice(file, [hunk]);
  };

  test('are those of the file', () => {
    assert.equal(edited('a\r\nb\r\n', { start: 1, end: 1, replacement: '\nx' }), 'a\r\nx\r\nb\r\n');
    assert.equal(edited('a\rb\r', { start: 1, end: 1, replacement: '\nx' }), 'a\rx\rb\r');
    assert.equal(edited('a\nb\n', { start: 1, end: 1, replacement: '\nx' }), 'a\nx\nb\n');
  });

  test('are those of the line where the hunk begins, when the file mixes them', () => {
    assert.equal(edited('a\r\nb\nc\n', { start: 1, end: 1, replacement: '\nx' }), 'a\r\nx\r\nb\nc\n');
    assert.equal(edited('a\r\nb\nc\n', { start: 3, end: 3, replacement: '\nx' }), 'a\r\nb\nx\nc\n');
  });

  test('stay with the lines that a replacement leaves as they are', () => {
    // Three lines given to change the middle one, each with an end of its own.
    assert.equal(
      edited('a\r\nb\nc\r\nd\n', { start: 0, end: 5, replacement: 'a\nx\nc' }),
      'a\r\nx\nc\r\nd\n',
    );
    assert.equal(edited('a\r\nb\nc\r\n', { start: 0, end: 5, replacement: 'x\ny\nz' }), 'x\r\ny\nz\r\n');
  });
});

describe('what is a text', () => {
  const kinds: readonly (readonly [name: string, bytes: Buffer, encoding: Encoding | undefined])[] = [
    ['nothing', Buffer.from(''), 'utf-8'],
    ['UTF-8', Buffer.from('größe'), 'utf-8'],
    ['Latin-1', Buffer.from('gr\xf6\xdfe', 'latin1'), 'windows-1252'],
    ['UTF-16 with a mark', Buffer.from('\ufeffa', 'utf16le'), 'utf-16le'],
    [
      'UTF-16 of an odd length',
      Buffer.concat([Buffer.from('\ufeffa', 'utf16le'), Buffer.from([0])]),
      undefined,
    ],
    ['UTF-16 without a mark', Buffer.from('abc', 'utf16le'), undefined],
    ['UTF-32 with a mark', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), undefined],
    ['a NUL among letters', Buffer.from('a\0b'), undefined],
    ['control characters', Buffer.from([0xff, 1, 2, 3, 4, 5]), undefined],
    ['PDF', Buffer.from('%PDF-1.7\nall letters'), undefined],
    ['colours of a terminal', Buffer.from('\x1b[31mred\x1b[0m'), 'utf-8'],
  ];
  for (const [name, bytes, encoding] of kinds)
    test(name, () => assert.equal(decodeText(bytes)?.encoding, encoding));
});

test('a lone \\r is a line end only where no \\n occurs', () => {
  assert.equal(decodeText(Buffer.from('50%\r100%\ndone\n'))?.text, '50%\r100%\ndone\n');
  assert.equal(decodeText(Buffer.from('one\rtwo\r'))?.text, 'one\ntwo\n');
});

test('a character that the encoding lacks is named and not replaced', () => {
  const latin: TextFormat = { encoding: 'windows-1252', bom: false };
  assert.equal(encodeText('a→b', latin), undefined);
  assert.equal(unencodable('a→b', 'windows-1252'), '→');
  assert.equal(unencodable('a€b', 'windows-1252'), undefined);
  assert.equal(encodeText('\ud800', { encoding: 'utf-8', bom: false }), undefined);
});
