// Which content of a file the model has seen, by length and checksum of its bytes: times lie, after a checkout as after
// a copy. Nobody gains by forging one, so a CRC-32 serves; a cryptographic hash would take longer to load than a file
// takes to read. It is kept in the conversation's state, so that it outlives the process.

import { crc32 } from 'node:zlib';
import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { ToolState } from '../../core/tool.ts';

/** Bytes up to which a file is read whole, hashed and compared. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

/** Bytes of one file, and of all of them, that are kept to show what changed. */
const MAX_KEPT_FILE = 256 * 1024;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

export type Seen = 'same' | 'changed' | 'never';

/** `path` is resolved everywhere, so that a file is the same under all its names. */
export interface ReadRecord {
  /** What the model saw of a file, as long as it is still in memory: enough to show what changed since. */
  content(state: ToolState, path: string): Uint8Array | undefined;
  note(state: ToolState, path: string, bytes: Uint8Array): void;
  compare(state: ToolState, path: string, bytes: Uint8Array): Seen;
}

export function createReadRecord(): ReadRecord {
  const kept = createContentCache();
  return {
    content(state, path) {
      const bytes = kept.get(path);
      // Another conversation may have read it later.
      return bytes !== undefined && state.get(stateKey(path)) === fingerprint(bytes) ? bytes : undefined;
    },
    note(state, path, bytes) {
      kept.set(path, bytes);
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

/** The contents that were noted last, the oldest leaving first. */
function createContentCache() {
  const contents = new Map<string, Uint8Array>();
  let total = 0;
  const remove = (path: string) => {
    total -= contents.get(path)?.length ?? 0;
    contents.delete(path);
  };
  return {
    get: (path: string) => contents.get(path),
    set(path: string, bytes: Uint8Array) {
      remove(path);
      if (bytes.length > MAX_KEPT_FILE) return;
      contents.set(path, bytes);
      total += bytes.length;
      for (const oldest of contents.keys()) {
        if (total <= MAX_KEPT_BYTES) break;
        remove(oldest);
      }
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
