// Reads the lines of a ledger file from where the last reading ended. Other processes append meanwhile: a last line
// without its end is left for the next time, and what is torn or foreign is passed over and counted.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errnoOf } from '../../core/errors.ts';
import { parseRecord, type UsageRecord } from './record.ts';

/** Where a reading stands; it moves on as records are taken. */
export interface Position {
  /** Bytes that were read. */
  offset: number;
  /** Lines that were passed over. */
  skipped: number;
}

/** Bytes read at once, and the longest line that counts. */
const CHUNK = 64 * 1024;

const NEWLINE = 0x0a;

/** A file that is not there has no records. Throws the errors of `fs`. */
export function* readRecords(path: string, position: Position): Generator<UsageRecord, void> {
  const fd = openToRead(path);
  if (fd === undefined) return;
  try {
    // Somebody put another file in its place.
    if (fstatSync(fd).size < position.offset) position.offset = 0;
    const buffer = Buffer.allocUnsafe(CHUNK);
    let tooLong = false;
    for (;;) {
      const length = readSync(fd, buffer, 0, CHUNK, position.offset);
      const end = buffer.subarray(0, length).lastIndexOf(NEWLINE) + 1;
      if (end === 0) {
        if (length < CHUNK) return;
        tooLong = true;
        position.offset += length;
        continue;
      }
      const start = position.offset;
      for (let at = 0; at < end; ) {
        const next = buffer.indexOf(NEWLINE, at);
        const line = buffer.toString('utf8', at, next);
        at = next + 1;
        position.offset = start + at;
        const record = tooLong || line === '' ? undefined : parseRecord(line);
        if (record === undefined && line !== '') position.skipped++;
        tooLong = false;
        if (record !== undefined) yield record;
      }
    }
  } finally {
    closeSync(fd);
  }
}

function openToRead(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
