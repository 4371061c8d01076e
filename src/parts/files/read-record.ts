// Which content of a file the model has seen, by the hash of its bytes: times lie, after a checkout as after a copy.
// It is kept in the conversation's state, so that it outlives the process.

import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { ToolState } from '../../core/tool.ts';
import { lazy } from './lazy.ts';

/** Bytes up to which a file is read whole, hashed and compared. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

export type Seen = 'same' | 'changed' | 'never';

/** `path` is resolved everywhere, so that a file is the same under all its names. */
export interface ReadRecord {
  note(state: ToolState, path: string, bytes: Uint8Array): Promise<void>;
  compare(state: ToolState, path: string, bytes: Uint8Array): Promise<Seen>;
}

export function createReadRecord(): ReadRecord {
  const crypto = lazy(() => import('node:crypto'));
  const digest = async (bytes: Uint8Array) => (await crypto()).hash('sha256', bytes);
  return {
    async note(state, path, bytes) {
      const hash = await digest(bytes);
      if (state.get(stateKey(path)) !== hash) state.set(stateKey(path), hash);
    },
    async compare(state, path, bytes) {
      const seen = state.get(stateKey(path));
      if (typeof seen !== 'string') return 'never';
      return seen === (await digest(bytes)) ? 'same' : 'changed';
    },
  };
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
