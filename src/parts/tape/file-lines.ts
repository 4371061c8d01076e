// Lines of a session's file, read where they stand. A branch's lines mostly follow one another, so a window of the
// file is read at a time and what lies in it costs nothing more.

import { closeSync, openSync, readSync } from 'node:fs';

import type { LineSource } from './storage.ts';
import { storageError } from './sync-fs.ts';

const WINDOW_BYTES = 256 * 1024;

/** The file is opened by the first read. */
export function fileLines(path: string): LineSource {
  let fd: number | undefined;
  let buffer: Buffer = Buffer.alloc(0);
  let start = 0;
  let filled = 0;

  function fill(offset: number, length: number): void {
    fd ??= openSync(path, 'r');
    const room = Math.max(length, WINDOW_BYTES);
    if (buffer.length < room) buffer = Buffer.allocUnsafe(room);
    start = offset;
    filled = 0;
    while (filled < length) {
      const count = readSync(fd, buffer, filled, buffer.length - filled, offset + filled);
      if (count === 0) return;
      filled += count;
    }
  }

  return {
    read(offset, length) {
      try {
        if (offset < start || offset + length > start + filled) fill(offset, length);
      } catch (error) {
        throw storageError(error, `read ${path}`);
      }
      return buffer.subarray(offset - start, Math.min(offset - start + length, filled));
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
