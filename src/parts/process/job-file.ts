// The output of one job on disk: appended to in order, read from any byte, never longer than its limit. A disk that is
// full ends the file and not the job.

import { type FileHandle, open } from 'node:fs/promises';
import { messageOf } from '../../core/errors.ts';
import type { JobOutput } from '../../core/job.ts';

export class JobFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #limit: number;
  #kept = 0;
  #bytes = 0;
  #failure: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Owns `handle`, which is open for writing. */
  constructor(path: string, handle: FileHandle, limit: number) {
    this.path = path;
    this.#handle = handle;
    this.#limit = limit;
  }

  /** All bytes that came, kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  get kept(): number {
    return this.#kept;
  }

  /** One after another, in the order of the calls. False when something of it was dropped. Never rejects. */
  append(text: string): Promise<boolean> {
    if (text === '') return Promise.resolve(true);
    const written = this.#last.then(() => this.#write(Buffer.from(text)));
    this.#last = written;
    return written;
  }

  async #write(bytes: Buffer): Promise<boolean> {
    const room = this.#failure === undefined ? this.#limit - this.#kept : 0;
    const fits = bytes.subarray(0, Math.max(0, room));
    try {
      if (fits.length > 0) await this.#handle.writeFile(fits);
      this.#kept += fits.length;
    } catch (error) {
      this.#failure = messageOf(error);
    }
    this.#bytes += bytes.length;
    return this.#failure === undefined && fits.length === bytes.length;
  }

  async read(from: number, bytes: number): Promise<JobOutput> {
    const length = Math.max(0, Math.min(bytes, this.#kept - from));
    if (length === 0) return { text: '', next: from, more: false };
    const handle = await open(this.path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
      const whole = wholeCharacters(buffer.subarray(0, bytesRead));
      const next = from + whole.length;
      return { text: whole.toString(), next, more: next < this.#kept && whole.length > 0 };
    } finally {
      await handle.close();
    }
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#handle.close().catch(() => {});
  }
}

/** Without the bytes of a character that is cut at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
