// What a tape needs of the place that keeps its lines: a file, or nothing at all. Everything above it, ids,
// tree, counts and partial messages alike, is written once.

import type { PartialMessage } from '../../core/tape.ts';

export interface Storage {
  /** Undefined when nothing is kept. */
  readonly path: string | undefined;
  /**
   * Adds whole lines in one step and starts their sync at once. Throws `CrabError` (`storage-full`,
   * `storage-failed`); then nothing of them is kept. The promise settles as `Appended.synced` does.
   */
  append(encode: () => string): Promise<void>;
  /** `after` is the last assistant message on the tape. */
  partial(message: PartialMessage, after: string | null): void;
  dropPartial(): void;
  settled(): Promise<void>;
  /** Settles and lets go of everything, also when it rejects. */
  close(): Promise<void>;
}

export const memoryStorage: Storage = {
  path: undefined,
  append: () => Promise.resolve(),
  partial: () => {},
  dropPartial: () => {},
  settled: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
