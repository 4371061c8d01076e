// Reads a file line by line in blocks, so that memory follows the longest line and not the file.

import { promises as fs } from 'node:fs';

const BLOCK_BYTES = 1024 * 1024;

/** Longer lines are given up: nothing that Crab writes comes near. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

export interface Line {
  /** Without its newline, and only valid until `onLine` returns. Undefined for a line that is too long. */
  readonly bytes: Buffer | undefined;
  /** From 1. */
  readonly number: number;
  /** The offset in the file behind its newline. */
  readonly end: number;
}

export interface ReadLines {
  /** Gives the rest behind the last newline, too, as a line that ends with the file. Default: false. */
  readonly withRest?: boolean;
}

/** Calls `onLine` for every line that ends in a newline. Returns the size of the file as read. */
export async function readLines(
  path: string,
  onLine: (line: Line) => void,
  { withRest = false }: ReadLines = {},
): Promise<number> {
  const file = await fs.open(path, 'r');
  try {
    const reader = new LineReader(onLine);
    for (;;) {
      const room = reader.room();
      const { bytesRead } = await file.read(room, 0, room.length, null);
      if (bytesRead === 0) break;
      reader.take(bytesRead);
    }
    if (withRest) reader.giveRest();
    return reader.offset;
  } finally {
    await file.close();
  }
}

class LineReader {
  readonly #onLine: (line: Line) => void;
  #buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  /** Bytes of the unfinished line, at the start of the buffer. */
  #kept = 0;
  #number = 1;
  #isTooLong = false;
  /** The offset in the file of what is read next. */
  offset = 0;

  constructor(onLine: (line: Line) => void) {
    this.#onLine = onLine;
  }

  room(): Buffer {
    if (this.#kept >= MAX_LINE_BYTES) {
      this.#isTooLong = true;
      this.#kept = 0;
    }
    if (this.#buffer.length - this.#kept < BLOCK_BYTES / 2) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2);
      this.#buffer.copy(larger, 0, 0, this.#kept);
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#kept);
  }

  take(count: number): void {
    const filled = this.#kept + count;
    const base = this.offset - this.#kept;
    this.offset += count;
    let start = 0;
    let search = this.#kept;
    for (;;) {
      const newline = this.#buffer.indexOf(NEWLINE, search);
      if (newline === -1 || newline >= filled) break;
      const bytes = this.#isTooLong ? undefined : this.#buffer.subarray(start, newline);
      this.#onLine({ bytes, number: this.#number++, end: base + newline + 1 });
      this.#isTooLong = false;
      start = newline + 1;
      search = start;
    }
    this.#buffer.copyWithin(0, start, filled);
    this.#kept = filled - start;
  }

  /** What stands behind the last newline. */
  giveRest(): void {
    if (this.#kept === 0 && !this.#isTooLong) return;
    const bytes = this.#isTooLong ? undefined : this.#buffer.subarray(0, this.#kept);
    this.#onLine({ bytes, number: this.#number, end: this.offset });
  }
}
