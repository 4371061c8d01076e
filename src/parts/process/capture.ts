// What is kept of an output of any length: its head, its tail, the counts, and a file with the whole. All of
// it is text after the sanitizer, the file too: it is there for models and people, and a screen must not be
// driven by what a program printed.

import type { Captured } from '../../core/host.ts';
import type { TextFilter } from '../../core/redact.ts';
import { Sanitizer } from './sanitizer.ts';
import { Spill } from './spill.ts';

const DEFAULT_KEEP = { head: 16 * 1024, tail: 16 * 1024 } as const;

/**
 * Bytes that become text at once. What is alive when the collector looks decides how large it makes its young space: with
 * whole reads of 64 KiB, in three copies, a long flood takes 30 MiB more.
 */
const PIECE = 4096;

export const NOTHING: Captured = { text: '', bytes: 0, lines: 0, truncated: false };

const UNFILTERED: TextFilter = { push: (text) => text, end: () => '', changed: false };

export interface CaptureOptions {
  /** Bytes of each end. */
  readonly keep?: { readonly head: number; readonly tail: number };
  readonly spillTo?: string;
  readonly onText?: (text: string) => void;
  /** Made for each stream; takes out what must be seen nowhere. */
  readonly filter?: (() => TextFilter) | undefined;
}

/** Takes the bytes of one stream. Streams of one capture are told apart, so that neither tears the other's characters. */
export interface Source {
  write(bytes: Uint8Array): void;
  end(): void;
}

export class Capture {
  readonly #head: number;
  readonly #tail: number;
  readonly #options: CaptureOptions;
  #spill: Spill | undefined;
  /** The first bytes in order; once it is full, the part behind the head is a ring that holds the last ones. */
  #store = Buffer.allocUnsafe(1024);
  #stored = 0;
  /** Where in the ring the oldest byte is. */
  #ring = 0;
  #bytes = 0;
  #textBytes = 0;
  #newlines = 0;
  #endsLine = true;

  constructor(options: CaptureOptions = {}) {
    const keep = options.keep ?? DEFAULT_KEEP;
    this.#head = keep.head;
    this.#tail = keep.tail;
    this.#options = options;
  }

  /** The disk is behind: send no more until `onDrain`. */
  get blocked(): boolean {
    return this.#spill?.blocked ?? false;
  }

  onDrain(callback: () => void): void {
    this.#spill?.onDrain(callback);
  }

  source(): Source {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const sanitizer = new Sanitizer();
    const filter = this.#options.filter?.() ?? UNFILTERED;
    return {
      write: (bytes) => {
        this.#bytes += bytes.length;
        for (let at = 0; at < bytes.length; at += PIECE) {
          const piece = bytes.subarray(at, at + PIECE);
          this.#add(filter.push(sanitizer.push(decoder.decode(piece, { stream: true }))));
        }
      },
      end: () => this.#add(filter.push(sanitizer.push(decoder.decode()) + sanitizer.end()) + filter.end()),
    };
  }

  /** To be called once, after every source has ended. */
  async finish(): Promise<Captured> {
    const truncated = this.#textBytes > this.#head + this.#tail;
    const spilled = await this.#spill?.finish();
    return {
      text: truncated ? this.#cutText(spilled?.note) : this.#store.toString('utf8', 0, this.#stored),
      bytes: this.#bytes,
      lines: this.#newlines + (this.#endsLine ? 0 : 1),
      truncated,
      ...(spilled?.saved && { spilledTo: this.#spill?.path }),
    };
  }

  #add(text: string): void {
    if (text === '') return;
    this.#newlines += countNewlines(text, text.length);
    this.#endsLine = text.endsWith('\n');
    this.#keep(text);
    this.#options.onText?.(text);
  }

  #keep(text: string): void {
    const size = Buffer.byteLength(text);
    const overflows = this.#textBytes + size > this.#head + this.#tail;
    this.#textBytes += size;
    if (!overflows) {
      this.#append(Buffer.from(text));
      return;
    }
    const filling = this.#stored < this.#head + this.#tail;
    const spill = this.#openSpill();
    // Of what is neither to be stored in order nor saved, only the end can matter.
    const whole = filling || (spill !== undefined && !spill.full);
    const bytes = Buffer.from(whole ? text : text.slice(-this.#tail - 1));
    spill?.write(bytes);
    this.#turn(this.#append(bytes));
  }

  /** Made with the first text that does not fit, and begins with all that did. */
  #openSpill(): Spill | undefined {
    if (this.#spill === undefined && this.#options.spillTo !== undefined) {
      this.#spill = new Spill(this.#options.spillTo);
      this.#spill.write(Buffer.from(this.#store.subarray(0, this.#stored)));
    }
    return this.#spill;
  }

  /** Stores in order as long as there is room; returns the rest. */
  #append(bytes: Buffer): Buffer {
    const room = this.#head + this.#tail;
    const end = Math.min(room, this.#stored + bytes.length);
    if (end > this.#store.length) {
      const larger = Buffer.allocUnsafe(Math.min(room, Math.max(end, this.#store.length * 2)));
      this.#store.copy(larger, 0, 0, this.#stored);
      this.#store = larger;
    }
    const taken = bytes.copy(this.#store, this.#stored, 0, end - this.#stored);
    this.#stored = end;
    return bytes.subarray(taken);
  }

  /** Overwrites the oldest bytes of the ring. */
  #turn(bytes: Buffer): void {
    if (this.#tail === 0) return;
    let rest = bytes.length > this.#tail ? bytes.subarray(bytes.length - this.#tail) : bytes;
    while (rest.length > 0) {
      const taken = rest.copy(this.#store, this.#head + this.#ring, 0, this.#tail - this.#ring);
      this.#ring = (this.#ring + taken) % this.#tail;
      rest = rest.subarray(taken);
    }
  }

  #cutText(note: string | undefined): string {
    const ring = this.#store.subarray(this.#head, this.#head + this.#tail);
    const head = cutEnd(this.#store.subarray(0, this.#head));
    const tail = cutStart(Buffer.concat([ring.subarray(this.#ring), ring.subarray(0, this.#ring)]));
    const bytes = this.#textBytes - head.length - tail.length;
    const lines = this.#newlines - countNewlines(head, head.length) - countNewlines(tail, tail.length);
    const missing = lines > 0 ? `${lines} lines (${bytes} bytes)` : `${bytes} bytes`;
    const start = head.length === 0 || head.at(-1) === 0x0a ? '' : '\n';
    const marker = `${start}[${missing} left out here${note === undefined ? '' : `; ${note}`}]\n`;
    return head.toString() + marker + tail.toString();
  }
}

function countNewlines(text: string | Buffer, length: number): number {
  let count = 0;
  if (typeof text === 'string') {
    for (let at = 0; at < length; at++) if (text.charCodeAt(at) === 0x0a) count++;
  } else {
    for (let at = 0; at < length; at++) if (text[at] === 0x0a) count++;
  }
  return count;
}

/** Cuts after the last whole line if that costs less than half, else after the last whole character. */
function cutEnd(bytes: Buffer): Buffer {
  const newline = bytes.lastIndexOf(0x0a);
  if (newline >= bytes.length / 2) return bytes.subarray(0, newline + 1);
  let start = bytes.length - 1;
  while (start > 0 && isContinuation(bytes[start])) start--;
  const whole = start >= 0 && start + sequenceLength(bytes[start] ?? 0) <= bytes.length;
  return whole ? bytes : bytes.subarray(0, Math.max(start, 0));
}

function cutStart(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0 && newline < bytes.length / 2) return bytes.subarray(newline + 1);
  let start = 0;
  while (isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
