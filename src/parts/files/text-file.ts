// Bytes of a text file as a text with `\n`, and back. An edit is spliced into the decoded file as it is, not into the
// normalised text, so that whatever lies outside the hunk keeps its bytes, mixed line ends included. Every decoding
// is one-to-one: Windows-1252 is taken as the WHATWG Encoding Standard has it, where no byte is without a character.

import { binaryKind } from './content-kind.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface TextFormat {
  readonly encoding: Encoding;
  /** Begins with a byte order mark. */
  readonly bom: boolean;
}

/** `cr` only where no `\n` occurs: elsewhere a lone `\r` is a character like any other, as for grep. */
export type LineEnds = 'lf' | 'crlf' | 'cr' | 'mixed';

export interface TextFile extends TextFormat {
  /** The characters of the file without the byte order mark. */
  readonly raw: string;
  /** The same with `\n` at every line end. */
  readonly text: string;
  readonly ends: LineEnds;
}

/** Replaces `text.slice(start, end)`. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Bytes in which a NUL, or too many controls, mean that a file is no text. */
const SNIFFED_BYTES = 8192;

/** One control character in so many bytes is too many for a text that is not UTF-8. */
const CONTROL_SHARE = 64;

/** Characters of the bytes 0x80 to 0x9f; those that the code page leaves open stand for themselves. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const MARKS: Readonly<Record<Encoding, readonly number[]>> = {
  'utf-8': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
  'windows-1252': [],
};

/** Undefined when the bytes are no text. */
export function decodeText(bytes: Uint8Array): TextFile | undefined {
  const format = detectFormat(bytes);
  if (format === undefined) return undefined;
  const raw = decodeAs(bytes, format);
  if (format.encoding.startsWith('utf-16') && raw.includes('\0')) return undefined;
  const ends = lineEnds(raw);
  return { ...format, raw, text: normalise(raw, ends), ends };
}

/** How bytes are to be decoded; undefined when they are no text. `partial`: more bytes follow. */
export function detectFormat(bytes: Uint8Array, partial = false): TextFormat | undefined {
  if (bytes.length % 2 === 0 || partial) {
    if (hasMark(bytes, 'utf-16le')) return { encoding: 'utf-16le', bom: true };
    if (hasMark(bytes, 'utf-16be')) return { encoding: 'utf-16be', bom: true };
  }
  const head = bytes.subarray(0, SNIFFED_BYTES);
  if (binaryKind(head) !== undefined || head.includes(0)) return undefined;
  if (isUtf8(bytes, partial)) return { encoding: 'utf-8', bom: hasMark(bytes, 'utf-8') };
  return controls(head) * CONTROL_SHARE > head.length ? undefined : { encoding: 'windows-1252', bom: false };
}

/** The bytes of `raw`; undefined when it holds a character that the encoding lacks. */
export function encodeText(raw: string, format: TextFormat): Uint8Array | undefined {
  const body = encodeBody(raw, format.encoding);
  if (body === undefined || !format.bom) return body;
  return Buffer.concat([Buffer.from(MARKS[format.encoding]), body]);
}

/** The first character of `raw` that the encoding lacks. */
export function unencodable(raw: string, encoding: Encoding): string | undefined {
  for (const character of raw) if (encodeBody(character, encoding) === undefined) return character;
  return undefined;
}

/** The file's characters after the hunks, which are in order, do not overlap and have `\n` line ends. */
export function splice(file: TextFile, hunks: readonly Hunk[]): string {
  const trimmed = hunks.map((hunk) => trim(file.text, hunk));
  const offsets = rawOffsets(
    file,
    trimmed.flatMap((hunk) => [hunk.start, hunk.end]),
  );
  let result = '';
  let done = 0;
  for (const [index, hunk] of trimmed.entries()) {
    const start = offsets[2 * index] ?? done;
    const end = offsets[2 * index + 1] ?? start;
    result += file.raw.slice(done, start) + withEnds(file, hunk.replacement, start, end);
    done = end;
  }
  return result + file.raw.slice(done);
}

/** `text` with another line end at every `\n`. */
export function withLineEnds(text: string, ends: LineEnds): string {
  if (ends === 'crlf') return text.replaceAll('\n', '\r\n');
  return ends === 'cr' ? text.replaceAll('\n', '\r') : text;
}

function lineEnds(raw: string): LineEnds {
  if (!raw.includes('\r')) return 'lf';
  let crlf = 0;
  let lf = 0;
  for (let at = raw.indexOf('\n'); at !== -1; at = raw.indexOf('\n', at + 1)) {
    if (raw[at - 1] === '\r') crlf++;
    else lf++;
  }
  if (crlf === 0) return lf === 0 ? 'cr' : 'lf';
  return lf === 0 ? 'crlf' : 'mixed';
}

function normalise(raw: string, ends: LineEnds): string {
  if (ends === 'lf') return raw;
  return ends === 'cr' ? raw.replaceAll('\r', '\n') : raw.replaceAll('\r\n', '\n');
}

/** What old and new have in common is left untouched. */
function trim(text: string, hunk: Hunk): Hunk {
  let { start, end, replacement } = hunk;
  let from = 0;
  while (start < end && from < replacement.length && text[start] === replacement[from]) {
    start++;
    from++;
  }
  let to = replacement.length;
  while (start < end && from < to && text[end - 1] === replacement[to - 1]) {
    end--;
    to--;
  }
  replacement = replacement.slice(from, to);
  return { start, end, replacement };
}

/** Offsets in `raw` of ascending offsets in `text`. */
function rawOffsets(file: TextFile, offsets: readonly number[]): readonly number[] {
  if (file.ends === 'lf' || file.ends === 'cr') return offsets;
  let dropped = 0;
  let next = file.raw.indexOf('\r\n');
  return offsets.map((offset) => {
    while (next !== -1 && next - dropped < offset) {
      dropped++;
      next = file.raw.indexOf('\r\n', next + 2);
    }
    return offset + dropped;
  });
}

/** Each line end takes that of the line it replaces; further ones that of the line where the hunk begins. */
function withEnds(file: TextFile, replacement: string, start: number, end: number): string {
  if (file.ends !== 'mixed') return withLineEnds(replacement, file.ends);
  const replaced = file.raw.slice(start, end).match(/\r?\n/g) ?? [];
  const own = endOfLine(file.raw, start);
  let line = 0;
  return replacement.replaceAll('\n', () => replaced[line++] ?? own);
}

function endOfLine(raw: string, offset: number): string {
  let at = raw.indexOf('\n', offset);
  if (at === -1) at = raw.lastIndexOf('\n');
  return raw[at - 1] === '\r' ? '\r\n' : '\n';
}

function hasMark(bytes: Uint8Array, encoding: Encoding): boolean {
  return MARKS[encoding].every((byte, at) => bytes[at] === byte);
}

function isUtf8(bytes: Uint8Array, partial: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: partial });
    return true;
  } catch {
    return false;
  }
}

function controls(bytes: Uint8Array): number {
  let count = 0;
  // Tab, line ends, form feed, backspace and escape occur in texts; so does what follows 0x7e.
  for (const byte of bytes)
    if (byte < 0x08 || byte === 0x0b || (byte > 0x0d && byte < 0x20 && byte !== 0x1b)) count++;
  return count;
}

function decodeAs(bytes: Uint8Array, format: TextFormat): string {
  const mark = format.bom ? MARKS[format.encoding].length : 0;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset + mark, bytes.byteLength - mark);
  switch (format.encoding) {
    case 'utf-8':
      return body.toString('utf8');
    case 'utf-16le':
      return body.toString('utf16le');
    case 'utf-16be':
      return Buffer.from(body).swap16().toString('utf16le');
    case 'windows-1252':
      return body
        .toString('latin1')
        .replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
  }
}

function encodeBody(raw: string, encoding: Encoding): Buffer | undefined {
  switch (encoding) {
    case 'utf-8':
      return raw.isWellFormed() ? Buffer.from(raw, 'utf8') : undefined;
    case 'utf-16le':
      return Buffer.from(raw, 'utf16le');
    case 'utf-16be':
      return Buffer.from(raw, 'utf16le').swap16();
    case 'windows-1252':
      return encodeWindows1252(raw);
  }
}

function encodeWindows1252(raw: string): Buffer | undefined {
  const bytes = Buffer.alloc(raw.length);
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    const special = code < 0x80 || (code > 0x9f && code < 0x100) ? -1 : WINDOWS_1252.indexOf(raw.charAt(at));
    if (code > 0xff && special === -1) return undefined;
    if (code >= 0x80 && code <= 0x9f && special === -1) return undefined;
    bytes[at] = special === -1 ? code : 0x80 + special;
  }
  return bytes;
}
