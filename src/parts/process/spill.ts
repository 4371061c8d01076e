// The file that holds the whole of an output that is too long to keep in memory. It is made with the first
// bytes and never decides over the command: a full disk ends the copy, not the program.

import { createWriteStream, unlink, type WriteStream } from 'node:fs';

export const SPILL_LIMIT = 64 * 1024 * 1024;

/** Bytes that may wait for the disk before the program has to. */
const WAITING_LIMIT = 1024 * 1024;

export class Spill {
  readonly path: string;
  readonly #limit: number;
  readonly #stream: WriteStream;
  #written = 0;
  #note: string | undefined;
  #opened = false;
  #failed = false;
  #onDrain: (() => void) | undefined;

  /** Nothing may exist at `path`. */
  constructor(path: string, limit = SPILL_LIMIT) {
    this.path = path;
    this.#limit = limit;
    this.#stream = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: WAITING_LIMIT });
    this.#stream.on('open', () => {
      this.#opened = true;
    });
    this.#stream.on('error', (error: NodeJS.ErrnoException) => this.#fail(error));
    this.#stream.on('drain', () => this.#drained());
  }

  /** Takes bytes as far as they fit; the caller gives them away. */
  write(bytes: Uint8Array): void {
    if (this.full) return;
    const rest = this.#limit - this.#written;
    const part = bytes.length > rest ? bytes.subarray(0, rest) : bytes;
    this.#written += part.length;
    this.#stream.write(part);
    if (part.length < bytes.length) this.#note = `the file ends after ${this.#limit} bytes`;
  }

  /** What is written from here on is dropped. */
  get full(): boolean {
    return this.#failed || this.#note !== undefined;
  }

  /** Too much waits for the disk. */
  get blocked(): boolean {
    return !this.#failed && this.#stream.writableNeedDrain;
  }

  /** Calls back once, when the disk has caught up or has failed. */
  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** Resolves when everything is in the file: whether there is one, and what is wrong with it. */
  async finish(): Promise<{ readonly saved: boolean; readonly note?: string }> {
    if (!this.#stream.closed) {
      await new Promise<void>((resolve) => {
        this.#stream.once('close', resolve);
        this.#stream.end();
      });
    }
    return { saved: !this.#failed, note: this.#note };
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#failed = true;
    this.#note = `the whole could not be saved: ${reason(error)}`;
    // What another program put there in the first place is not ours to remove.
    if (this.#opened) unlink(this.path, () => {});
    this.#drained();
  }

  #drained(): void {
    const callback = this.#onDrain;
    this.#onDrain = undefined;
    callback?.();
  }
}

function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return 'the disk is full';
  return error.message;
}
