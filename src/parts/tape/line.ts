// One line of a file: a JSON object, closed by a checksum as its last field. Readers of pi's session format
// ignore the field; ours finds with it every flipped bit, and whether a line was written to its end. A line
// without one comes from another writer and is taken as it is.

import { crc32 } from 'node:zlib';

import type { JsonObject } from '../../core/schema.ts';

const SEAL = ',"crc":"00000000"}';
const SEAL_LENGTH = SEAL.length;
const ZERO = 0x30;
const LETTER_A = 0x61;
const SEAL_ANYWHERE = /,"crc":"[0-9a-f]{8}"\}/g;

/** Unicode's two line separators are legal in JSON, and line breaks to many readers of lines. */
const SEPARATORS = /[\u2028\u2029]/g;

/** The object as one line with its newline. The checksum (CRC-32 as in zlib) covers the bytes before it. */
export function encodeLine(record: object): string {
  const json = JSON.stringify(record).replace(SEPARATORS, (mark) =>
    mark === '\u2028' ? '\\u2028' : '\\u2029',
  );
  const body = json.slice(0, -1);
  return `${body},"crc":"${checksum(body)}"}\n`;
}

/** Undefined for a line that is damaged. `line` comes without its newline. */
export function decodeLine(line: Buffer): JsonObject | undefined {
  if (sealOf(line) === 'broken') return undefined;
  const object = parseObject(line.toString());
  if (object === undefined) return undefined;
  const { crc: _, ...record } = object;
  return record;
}

/** Undefined for a text that is no JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a damaged line that is two or more because the break between them was lost. */
export function splitMerged(line: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (const match of line.toString('latin1').matchAll(SEAL_ANYWHERE)) {
    const end = match.index + match[0].length;
    const piece = line.subarray(start, end);
    if (sealOf(piece) !== 'whole') continue;
    pieces.push(piece);
    start = end + 1;
  }
  if (start < line.length) pieces.push(line.subarray(start));
  return pieces;
}

export function checksum(content: string | Uint8Array): string {
  return crc32(content).toString(16).padStart(8, '0');
}

/** What the end of a line says of it: `none` for another writer's. */
export function sealOf(line: Buffer): 'whole' | 'broken' | 'none' {
  const at = line.length - SEAL_LENGTH;
  if (at < 1) return 'none';
  const wrong = strayBytes(line, at);
  // A seal with a byte or two astray is a damaged seal, and not the chance ending of somebody else's line.
  if (wrong > 2) return 'none';
  if (wrong > 0) return 'broken';
  const isWhole = checksum(line.subarray(0, at)) === line.toString('latin1', at + 8, at + 16);
  return isWhole ? 'whole' : 'broken';
}

/** How many bytes at `at` differ from what a seal looks like. */
function strayBytes(line: Buffer, at: number): number {
  let wrong = 0;
  for (let i = 0; i < SEAL_LENGTH && wrong <= 2; i++) {
    const byte = line[at + i] ?? 0;
    const expected = SEAL.charCodeAt(i);
    if (expected === ZERO ? !isHex(byte) : byte !== expected) wrong++;
  }
  return wrong;
}

function isHex(byte: number): boolean {
  return (byte >= ZERO && byte < ZERO + 10) || (byte >= LETTER_A && byte < LETTER_A + 6);
}
