// The lines of a session file from an offset on, as far as they are whole. Reading blocks the process, so what is read at
// one time is bounded, and so is memory: by the longest line.

import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';

const BLOCK_BYTES = 1024 * 1024;
/** Longer lines are passed over: nothing that Crab writes comes near. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface SessionLine {
  /** Without its newline, and only valid until the next line is asked for. Undefined for one that is too long. */
  readonly bytes: Buffer | undefined;
  readonly offset: number;
  /** Behind its newline. */
  readonly end: number;
}

/** Whoever opens it closes it. */
export class SessionFile {
  readonly #fd: number;
  readonly stats: Stats;
  /** Whether the last `lines` ended because there were no more. */
  isAtEnd = false;

  /** Throws what `fs` throws. */
  constructor(path: string) {
    this.#fd = openSync(path, 'r');
    this.stats = fstatSync(this.#fd);
  }

  /** What there is of `length` bytes at `offset`. */
  read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.#fd, bytes, filled, length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  /** Every whole line that begins at `from` or behind it and before `until`. */
  *lines(from: number, until: number): Generator<SessionLine> {
    let buffer = Buffer.allocUnsafe(BLOCK_BYTES);
    let filled = 0;
    /** Where the line that begins the buffer begins in the file, and how much of it was given up. */
    let lineStart = from;
    let dropped = 0;
    this.isAtEnd = false;
    for (;;) {
      if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const count = readSync(this.#fd, buffer, filled, buffer.length - filled, lineStart + dropped + filled);
      if (count === 0) break;
      let search = filled;
      filled += count;
      let start = 0;
      for (;;) {
        const newline = buffer.subarray(0, filled).indexOf(NEWLINE, search);
        if (newline === -1) break;
        const end = lineStart + dropped + newline - start + 1;
        yield {
          bytes: dropped === 0 ? buffer.subarray(start, newline) : undefined,
          offset: lineStart,
          end,
        };
        if (end >= until) return;
        lineStart = end;
        dropped = 0;
        start = newline + 1;
        search = start;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
      if (filled < MAX_LINE_BYTES) continue;
      dropped += filled;
      filled = 0;
    }
    this.isAtEnd = true;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
