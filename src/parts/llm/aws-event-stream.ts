// Event streams of AWS (smithy.io/2.0/aws/amazon-eventstream.html): binary frames with a checksum over their first
// twelve bytes and one over the whole. `node:zlib` computes them natively, so no library has to be loaded for it.

import { crc32 } from 'node:zlib';
import { CrabError } from '../../core/errors.ts';

export interface Frame {
  /** `exception` and `error` end the stream. */
  readonly kind: 'event' | 'exception' | 'error';
  /** The type of the event or the exception; the code of an error. */
  readonly name: string;
  /** UTF-8, as a rule JSON. */
  readonly payload: string;
}

const NONE = Buffer.alloc(0);
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The format's own limits: 128 KiB of headers, 24 MiB of payload. */
const MAX_FRAME_BYTES = (24 * 1024 + 128) * 1024 + PRELUDE_BYTES + CHECKSUM_BYTES;
/** Bytes of a foreign body that are kept for the error message. */
const HEAD_BYTES = 4096;

export class EventStreamParser {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes without which nothing can be said. */
  #wanted = PRELUDE_BYTES;
  #judged = false;
  #isForeign = false;
  /** Of the frame before, and what they said. */
  #headers: Buffer = NONE;
  #sort: Sort = { kind: 'event', name: '' };

  /** What came instead of an event stream, once there is enough of it to quote. */
  get foreign(): string | undefined {
    return this.#isForeign && this.#heldBytes >= HEAD_BYTES ? this.#text() : undefined;
  }

  /** The frames that are complete with these reads. Throws `stream-cut` for one that is damaged. */
  push(reads: readonly Buffer[]): Frame[] {
    for (const read of reads) {
      this.#held.push(read);
      this.#heldBytes += read.length;
    }
    const frames: Frame[] = [];
    if (this.#isForeign || this.#heldBytes < this.#wanted) return frames;
    const bytes = this.#held.length === 1 ? (this.#held[0] ?? NONE) : Buffer.concat(this.#held);
    let from = 0;
    this.#wanted = PRELUDE_BYTES;
    while (bytes.length - from >= PRELUDE_BYTES) {
      const size = this.#sizeAt(bytes, from);
      if (size === undefined) break;
      this.#wanted = size;
      if (bytes.length - from < size) break;
      frames.push(this.#read(bytes.subarray(from, from + size)));
      from += size;
      this.#wanted = PRELUDE_BYTES;
    }
    this.#held = from === bytes.length ? [] : [bytes.subarray(from)];
    this.#heldBytes = bytes.length - from;
    return frames;
  }

  /** The body ended: what it was if it was no event stream. A frame that is not whole is dropped. */
  end(): string | undefined {
    const isText = !this.#judged && this.#heldBytes > 0;
    return this.#isForeign || isText ? this.#text() : undefined;
  }

  /** Undefined when the body turns out to be something else. */
  #sizeAt(bytes: Buffer, from: number): number | undefined {
    const size = bytes.readUInt32BE(from);
    const isSound = crc32(bytes.subarray(from, from + 8)) === bytes.readUInt32BE(from + 8);
    if (!isSound && !this.#judged) {
      this.#isForeign = true;
      return undefined;
    }
    if (!isSound) throw damaged('the checksum of a frame’s beginning does not match');
    if (size > MAX_FRAME_BYTES || size < PRELUDE_BYTES + CHECKSUM_BYTES)
      throw damaged(`a frame says that it has ${size} bytes`);
    this.#judged = true;
    return size;
  }

  #read(frame: Buffer): Frame {
    const end = frame.length - CHECKSUM_BYTES;
    if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
      throw damaged('the checksum of a frame does not match');
    const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4);
    if (headersEnd > end) throw damaged('the headers of a frame are longer than the frame');
    const headers = frame.subarray(PRELUDE_BYTES, headersEnd);
    // Those of one event are as a rule those of the event before it.
    if (!headers.equals(this.#headers)) {
      this.#sort = sortOf(readHeaders(headers));
      this.#headers = Buffer.from(headers);
    }
    const { kind, name, message } = this.#sort;
    return { kind, name, payload: message ?? frame.toString('utf8', headersEnd, end) };
  }

  #text(): string {
    return Buffer.concat(this.#held).toString('utf8', 0, HEAD_BYTES);
  }
}

function damaged(why: string): CrabError {
  return new CrabError('stream-cut', `The answer arrived damaged: ${why}.`, { retryable: true });
}

/** What the headers say of a frame. */
interface Sort extends Pick<Frame, 'kind' | 'name'> {
  /** An error says it here, and has no payload. */
  readonly message?: string;
}

function sortOf(headers: ReadonlyMap<string, string>): Sort {
  switch (headers.get(':message-type')) {
    case 'exception':
      return { kind: 'exception', name: headers.get(':exception-type') ?? '' };
    case 'error': {
      const message = headers.get(':error-message');
      const name = headers.get(':error-code') ?? '';
      return { kind: 'error', name, ...(message !== undefined && { message }) };
    }
    default:
      return { kind: 'event', name: headers.get(':event-type') ?? '' };
  }
}

/** Bytes of a value by the number of its type; strings and byte arrays say theirs. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16] as const;
const STRING = 7;

/** The headers that are strings; those of other types are passed over. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (count: number): number => {
    const from = at;
    at += count;
    if (at > bytes.length) throw damaged('a header of a frame is cut');
    return from;
  };
  while (at < bytes.length) {
    const nameBytes = bytes.readUInt8(take(1));
    const nameFrom = take(nameBytes);
    const name = bytes.toString('latin1', nameFrom, nameFrom + nameBytes);
    const type = bytes.readUInt8(take(1));
    if (type >= VALUE_BYTES.length)
      throw damaged(`a header of a frame has a type that is not known (${type})`);
    const size = VALUE_BYTES[type] ?? bytes.readUInt16BE(take(2));
    const from = take(size);
    if (type === STRING) headers.set(name, bytes.toString('utf8', from, from + size));
  }
  return headers;
}
