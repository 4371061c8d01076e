// Told of what changes in a folder and all below it, in batches: what is written in one go is one batch, however many
// events the system makes of it.

export interface WatchedChange {
  /** Absolute. */
  readonly path: string;
  /** Of a file that was moved, its old path is removed and its new one added, in one batch. */
  readonly kind: 'added' | 'changed' | 'removed';
}

export interface WatchRequest {
  /** Absolute and without links. */
  readonly root: string;
  /** Which files count, by their absolute path. */
  wants(path: string): boolean;
  /**
   * Called when nothing has happened for a moment, or after a while if something always does. Each path stands in a batch
   * once, with what became of it between two batches; one that is as it was is left out. Never empty.
   */
  batch(changes: readonly WatchedChange[]): void;
}

export interface Watch {
  /** Resolves when all that was changed before the call has been told. */
  flush(): Promise<void>;
  /** Nothing is told from here on, and nothing is left open. */
  close(): void;
}

/**
 * Left out are the folders of version control, `node_modules`, what ignore files name, and what links lead to. Resolves when
 * each change from there on will be told; the end of the signal closes it.
 */
export type WatchFiles = (request: WatchRequest, signal: AbortSignal) => Promise<Watch>;
