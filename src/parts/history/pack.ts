// A pack: a file that only grows, in which contents lie in chunks that are compressed together, since source files
// resemble each other and a compressor costs more to start than to run. A chunk carries the hashes and lengths of what
// it holds, so that a pack is its own index; what a crash left incomplete at its end is passed over.
//
// Chunk: "CRH1", then as 32 bits (little-endian) the number of contents, their bytes and the bytes that follow the
// table; the table of SHA-256 (32 bytes) and length (32 bits) for each; the contents one behind the other, as one
// Zstandard frame (RFC 8878).

import { fstatSync, readSync } from 'node:fs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const MAGIC = 0x31485243;
const HEADER_BYTES = 16;
const ROW_BYTES = 36;
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export interface Content {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Where the contents of a chunk lie. */
export interface Chunk {
  /** Of the compressed bytes in the file. */
  readonly offset: number;
  readonly stored: number;
  readonly raw: number;
  readonly rows: readonly { readonly hash: string; readonly from: number; readonly length: number }[];
  /** Where the next chunk begins. */
  readonly end: number;
}

export function encodeChunk(contents: readonly Content[]): Buffer {
  const raw = Buffer.concat(contents.map(({ bytes }) => bytes));
  const packed = zstdCompressSync(raw, LEVEL);
  const head = Buffer.alloc(HEADER_BYTES + contents.length * ROW_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(contents.length, 4);
  head.writeUInt32LE(raw.length, 8);
  head.writeUInt32LE(packed.length, 12);
  for (const [at, { hash, bytes }] of contents.entries()) {
    const row = HEADER_BYTES + at * ROW_BYTES;
    head.write(hash, row, 'hex');
    head.writeUInt32LE(bytes.length, row + 32);
  }
  return Buffer.concat([head, packed]);
}

/** All whole chunks of an open pack, from `offset` on. */
export function readChunks(fd: number, offset = 0): readonly Chunk[] {
  const { size } = fstatSync(fd);
  const chunks: Chunk[] = [];
  for (let at = offset; ; ) {
    const chunk = readChunk(fd, at, size);
    if (chunk === undefined) return chunks;
    chunks.push(chunk);
    at = chunk.end;
  }
}

function readChunk(fd: number, at: number, size: number): Chunk | undefined {
  const header = readAt(fd, at, HEADER_BYTES);
  if (header === undefined || header.readUInt32LE(0) !== MAGIC) return undefined;
  const count = header.readUInt32LE(4);
  const stored = header.readUInt32LE(12);
  const offset = at + HEADER_BYTES + count * ROW_BYTES;
  const end = offset + stored;
  if (end > size) return undefined;
  const table = readAt(fd, at + HEADER_BYTES, count * ROW_BYTES);
  if (table === undefined) return undefined;
  return { offset, stored, raw: header.readUInt32LE(8), rows: rowsOf(table), end };
}

function rowsOf(table: Buffer): Chunk['rows'] {
  const rows = [];
  let from = 0;
  for (let row = 0; row < table.length; row += ROW_BYTES) {
    const length = table.readUInt32LE(row + 32);
    rows.push({ hash: table.toString('hex', row, row + 32), from, length });
    from += length;
  }
  return rows;
}

/** The contents of a chunk; undefined where the bytes are damaged. */
export function openChunk(
  fd: number,
  { offset, stored, raw }: Pick<Chunk, 'offset' | 'stored' | 'raw'>,
): Buffer | undefined {
  const packed = readAt(fd, offset, stored);
  if (packed === undefined) return undefined;
  try {
    const bytes = zstdDecompressSync(packed, { maxOutputLength: Math.max(1, raw) });
    return bytes.length === raw ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function readAt(fd: number, offset: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  return length === 0 || readSync(fd, bytes, 0, length, offset) === length ? bytes : undefined;
}
