// Reads a session file from end to end, keeps where its entries stand and finds where its good part ends. Damage in
// the middle is left in the file, skipped and reported; damage at the end is a torn tail and begins where the good
// part ends.

import { CrabError } from '../../core/errors.ts';
import type { TapeHeader } from '../../core/tape.ts';
import { entryOf, readHeader } from './entry.ts';
import { decodeLine, sealOf, splitMerged } from './line.ts';
import { outlineIn } from './outline-line.ts';
import { type Line, readLines } from './read-lines.ts';
import { storageError } from './sync-fs.ts';
import { EntryTree, outlineOf } from './tree.ts';

export interface Loaded {
  readonly header: TapeHeader;
  readonly tree: EntryTree;
  /** Bytes of the file up to the end of its last good line. */
  readonly goodLength: number;
  readonly size: number;
  /** Numbers of the damaged lines before that. */
  readonly damaged: readonly number[];
  /** Numbers of those behind it. */
  readonly trailing: readonly number[];
}

/**
 * Throws `session-newer`, `session-damaged` and `storage-failed`. Changes nothing. `lostHeader` stands in for a first
 * line that is no header.
 */
export async function loadSession(path: string, lostHeader?: TapeHeader): Promise<Loaded> {
  const loading = new Loading(path, lostHeader);
  let size: number;
  try {
    size = await readLines(path, (line) => loading.take(line));
  } catch (error) {
    throw storageError(error, `read ${path}`);
  }
  return loading.finish(size);
}

class Loading {
  readonly #path: string;
  readonly #lostHeader: TapeHeader | undefined;
  readonly #tree = new EntryTree();
  readonly #damaged: number[] = [];
  /** Damaged lines with no good one behind them so far. */
  #trailing: number[] = [];
  #header: TapeHeader | undefined;
  #goodLength = 0;

  constructor(path: string, lostHeader: TapeHeader | undefined) {
    this.#path = path;
    this.#lostHeader = lostHeader;
  }

  take(line: Line): void {
    if (this.#header === undefined) {
      this.#takeHeader(line);
    } else if (line.bytes?.length === 0) {
      if (this.#trailing.length === 0) this.#goodLength = line.end;
    } else if (line.bytes !== undefined && this.#takeEntry(line.bytes, line.number, startOf(line))) {
      this.#isGoodUpTo(line.end);
    } else if (line.bytes !== undefined && this.#takePieces(line.bytes, line.number, startOf(line))) {
      this.#trailing.push(line.number);
      this.#isGoodUpTo(line.end);
    } else {
      this.#trailing.push(line.number);
    }
  }

  finish(size: number): Loaded {
    if (this.#header === undefined) {
      const why = size === 0 ? 'it is empty' : 'its first line has no end';
      throw new CrabError('session-damaged', `${this.#path} is not a session: ${why}.`);
    }
    return {
      header: this.#header,
      tree: this.#tree,
      goodLength: this.#goodLength,
      size,
      damaged: this.#damaged,
      trailing: this.#trailing,
    };
  }

  #takeHeader(line: Line): void {
    this.#goodLength = line.end;
    try {
      const { header, isIntact, merged } = readHeader(line.bytes, this.#path);
      this.#header = header;
      if (!isIntact) this.#damaged.push(line.number);
      if (line.bytes !== undefined) this.#takeAll(merged, line.bytes, line.number, startOf(line));
    } catch (error) {
      const isLost = error instanceof CrabError && error.code === 'session-damaged';
      if (!isLost || this.#lostHeader === undefined) throw error;
      this.#header = this.#lostHeader;
      const isEntry = line.bytes !== undefined && this.#takeEntry(line.bytes, line.number, startOf(line));
      if (!isEntry) this.#damaged.push(line.number);
    }
  }

  #isGoodUpTo(end: number): void {
    this.#goodLength = end;
    if (this.#trailing.length === 0) return;
    this.#damaged.push(...this.#trailing);
    this.#trailing = [];
  }

  /** `offset` is where `bytes` begin in the file. */
  #takeEntry(bytes: Buffer, line: number, offset: number): boolean {
    const place = { offset, length: bytes.length, line };
    const seal = sealOf(bytes);
    const outline = seal === 'whole' ? outlineIn(bytes) : undefined;
    if (outline !== undefined) {
      if (this.#tree.has(outline.id)) return false;
      this.#tree.addRead(outline, place);
      return true;
    }
    const record = seal === 'broken' ? undefined : decodeLine(bytes);
    const entry =
      record && entryOf(record, { version: this.#header?.version ?? 1, line, head: this.#tree.head });
    if (entry === undefined || this.#tree.has(entry.id)) return false;
    this.#tree.addRead(outlineOf(entry), place, entry);
    return true;
  }

  #takePieces(bytes: Buffer, line: number, offset: number): boolean {
    const pieces = splitMerged(bytes);
    return pieces.length > 1 && this.#takeAll(pieces, bytes, line, offset) > 0;
  }

  /** Pieces of `bytes`. Returns how many were entries. */
  #takeAll(pieces: readonly Buffer[], bytes: Buffer, line: number, offset: number): number {
    const startOf = (piece: Buffer) => offset + piece.byteOffset - bytes.byteOffset;
    return pieces.filter((piece) => this.#takeEntry(piece, line, startOf(piece))).length;
  }
}

function startOf({ bytes, end }: Line): number {
  return end - 1 - (bytes?.length ?? 0);
}
