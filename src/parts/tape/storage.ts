// What a tape needs of the place that keeps its lines: a file, or memory. Everything above it, ids, tree, counts and
// partial messages alike, is written once.

import type { PartialMessage } from '../../core/tape.ts';

export interface Written {
  /** Where the first of the lines begins, in bytes. */
  readonly offset: number;
  /** Settles as `Appended.synced` does. */
  readonly synced: Promise<void>;
}

/** Lines that are kept, for as long as somebody reads. */
export interface LineSource {
  /** Valid until the next call. Throws `CrabError storage-failed`. */
  read(offset: number, length: number): Buffer;
  close(): void;
}

export interface Storage {
  /** Undefined when nothing is on disk. */
  readonly path: string | undefined;
  /**
   * Adds whole lines in one step and starts their sync at once. Throws `CrabError` (`storage-full`,
   * `storage-failed`); then nothing of them is kept.
   */
  append(lines: readonly Buffer[]): Written;
  lines(): LineSource;
  /** `after` is the last assistant message on the tape. */
  partial(message: PartialMessage, after: string | null): void;
  dropPartial(): void;
  settled(): Promise<void>;
  /** Settles and lets go of everything, also when it rejects. */
  close(): Promise<void>;
}

const NOTHING = Buffer.alloc(0);

export function createMemoryStorage(): Storage {
  const lines = new Map<number, Buffer>();
  let length = 0;
  return {
    path: undefined,
    append: (added) => {
      const offset = length;
      for (const line of added) {
        lines.set(length, line);
        length += line.length;
      }
      return { offset, synced: Promise.resolve() };
    },
    lines: () => ({
      read: (offset, wanted) => lines.get(offset)?.subarray(0, wanted) ?? NOTHING,
      close: () => {},
    }),
    partial: () => {},
    dropPartial: () => {},
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
