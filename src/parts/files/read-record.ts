// Which content of a file the model has seen, by length and checksum of its bytes: times lie, after a checkout as after
// a copy. Nobody gains by forging one, so a CRC-32 serves; a cryptographic hash would take longer to load than a file
// takes to read. It is kept in the conversation's state, so that it outlives the process.

import { crc32 } from 'node:zlib';
import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { ToolState } from '../../core/tool.ts';

/** Bytes up to which a file is read whole, hashed and compared. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

export type Seen = 'same' | 'changed' | 'never';

/** `path` is resolved everywhere, so that a file is the same under all its names. */
export interface ReadRecord {
  note(state: ToolState, path: string, bytes: Uint8Array): void;
  compare(state: ToolState, path: string, bytes: Uint8Array): Seen;
}

export function createReadRecord(): ReadRecord {
  return {
    note(state, path, bytes) {
      const print = fingerprint(bytes);
      if (state.get(stateKey(path)) !== print) state.set(stateKey(path), print);
    },
    compare(state, path, bytes) {
      const seen = state.get(stateKey(path));
      if (typeof seen !== 'string') return 'never';
      return seen === fingerprint(bytes) ? 'same' : 'changed';
    },
  };
}

function fingerprint(bytes: Uint8Array): string {
  return `${bytes.length}-${crc32(bytes).toString(16)}`;
}

function stateKey(path: string): string {
  return `read:${path}`;
}

/** The whole of a file that is small enough to be held against what was read. */
export async function readWhole(files: Files, path: string): Promise<Uint8Array> {
  const bytes = await files.read(path, { offset: 0, length: MAX_WHOLE_BYTES + 1 });
  if (bytes.length <= MAX_WHOLE_BYTES) return bytes;
  throw new ToolFailure(
    `Cannot change ${path}: it is larger than ${byteCount(MAX_WHOLE_BYTES)}; use a command for it.`,
  );
}

/** Bytes for a person: `812 bytes`, `1.2 KB`. */
export function byteCount(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
