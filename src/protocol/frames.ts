// Frames on a stream of bytes: the length of the payload as a 32-bit number, and the payload. A length that is too large
// is refused at the header, before anything of it is kept.

/** Bytes of a payload. */
export const MAX_FRAME = 16 * 1024 * 1024;

export const HEADER = 4;

/** `little` is for the JSON socket, as its clients expect it. */
export type ByteOrder = 'big' | 'little';

export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly code: 'too-large' | 'cut';

  constructor(code: 'too-large' | 'cut', message: string) {
    super(message);
    this.code = code;
  }
}

/** Writes the length of what stands behind the first four bytes of `frame` into them. Throws `FrameError`. */
export function sealFrame(frame: Uint8Array<ArrayBuffer>, order: ByteOrder = 'big'): Uint8Array<ArrayBuffer> {
  const length = frame.length - HEADER;
  if (length > MAX_FRAME) throw tooLarge(length);
  new DataView(frame.buffer, frame.byteOffset, HEADER).setUint32(0, length, order === 'little');
  return frame;
}

/** The same bound for a message that is text. Throws `FrameError`. */
export function checkLength(text: string): void {
  if (text.length * 3 <= MAX_FRAME) return;
  const { length } = new TextEncoder().encode(text);
  if (length > MAX_FRAME) throw tooLarge(length);
}

/** Cuts what arrives into payloads. Bytes are kept as they came until a payload is complete, and copied once. */
export class FrameReader {
  /** Bytes of a payload that the next header may announce. */
  limit: number;
  readonly #little: boolean;
  #chunks: Uint8Array[] = [];
  #kept = 0;

  constructor(order: ByteOrder = 'big', limit = MAX_FRAME) {
    this.#little = order === 'little';
    this.limit = limit;
  }

  /** The payloads that are complete with these bytes. Throws `FrameError` `too-large`: what follows cannot be read. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (bytes.length > 0) this.#chunks.push(bytes);
    this.#kept += bytes.length;
    const payloads: Uint8Array[] = [];
    while (this.#kept >= HEADER) {
      const length = this.#peekLength();
      if (length > this.limit) throw tooLarge(length, this.limit);
      if (this.#kept < HEADER + length) break;
      this.#take(HEADER);
      payloads.push(this.#take(length));
    }
    return payloads;
  }

  /** For the end of the stream. Throws `FrameError` `cut` when it ends within a frame. */
  end(): void {
    if (this.#kept > 0) throw new FrameError('cut', `The stream ends ${this.#kept} bytes into a frame.`);
  }

  #peekLength(): number {
    const [first] = this.#chunks;
    const head = first !== undefined && first.length >= HEADER ? first : this.#merge();
    return new DataView(head.buffer, head.byteOffset, HEADER).getUint32(0, this.#little);
  }

  #take(length: number): Uint8Array {
    const first = this.#chunks[0] ?? new Uint8Array();
    const whole = first.length >= length ? first : this.#merge();
    if (whole.length === length) this.#chunks.shift();
    else this.#chunks[0] = whole.subarray(length);
    this.#kept -= length;
    return whole.subarray(0, length);
  }

  #merge(): Uint8Array {
    const whole = new Uint8Array(this.#kept);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [whole];
    return whole;
  }
}

function tooLarge(length: number, limit = MAX_FRAME): FrameError {
  return new FrameError('too-large', `A frame of ${length} bytes is larger than ${limit} allow.`);
}
