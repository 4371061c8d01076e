// The binary form of Protocol Buffers (protobuf.dev/programming-guides/encoding), as far as crab.proto needs it: varints,
// strings and nested messages. What is not understood is skipped; what is not well-formed is refused.

export class WireError extends Error {
  override readonly name = 'WireError';
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const MAX_VARINT_BYTES = 10;

/** Strings up to this many units are written and read without the help of an encoder, which costs more than they do. */
const SHORT = 48;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class Writer {
  #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** A copy of what was written, with `before` bytes left free in front of it. */
  finish(before = 0): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(before + this.#at);
    result.set(this.#bytes.subarray(0, this.#at), before);
    return result;
  }

  /** Everything written is forgotten; the room stays. */
  clear(): void {
    this.#at = 0;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }

  /** A whole number between 0 and 2^53 - 1. */
  varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
  }

  number(field: number, value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new WireError(`Field ${field} must be a whole number from 0 to 2^53 - 1, and is ${value}.`);
    this.varint(field * 8 + VARINT);
    this.varint(value);
  }

  string(field: number, value: string): void {
    this.varint(field * 8 + BYTES);
    if (value.length <= SHORT && this.#ascii(value)) return;
    const bytes = encoder.encode(value);
    this.varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes a short string with its length, unless it has a character beyond ASCII. */
  #ascii(value: string): boolean {
    this.#reserve(value.length + 1);
    const start = this.#at + 1;
    for (let index = 0; index < value.length; index++) {
      const unit = value.charCodeAt(index);
      if (unit > 0x7f) return false;
      this.#bytes[start + index] = unit;
    }
    this.#bytes[this.#at] = value.length;
    this.#at = start + value.length;
    return true;
  }

  /** A nested message. Its length is known only afterwards: one byte is kept for it, which is nearly always enough. */
  message<Message>(field: number, value: Message, encode: (value: Message, to: Writer) => void): void {
    this.varint(field * 8 + BYTES);
    this.#reserve(1);
    const start = ++this.#at;
    encode(value, this);
    const length = this.#at - start;
    const end = this.#at;
    const extra =
      length < 0x80 ? 0 : length < 0x4000 ? 1 : length < 0x200000 ? 2 : length < 0x10000000 ? 3 : 4;
    this.#reserve(extra);
    if (extra > 0) this.#bytes.copyWithin(start + extra, start, end);
    this.#at = start - 1;
    this.varint(length);
    this.#at = end + extra;
  }
}

export class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** The number of the next field and its wire type as one number, or 0 at the end of the message. */
  tag(): number {
    if (this.#at === this.#end) return 0;
    const tag = this.number();
    if (tag < 8 || tag > 0xffffffff) throw new WireError(`There is no field ${Math.floor(tag / 8)}.`);
    return tag;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < MAX_VARINT_BYTES; count++) {
      if (this.#at >= this.#end) throw new WireError('The message ends within a number.');
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new WireError('A number is larger than 2^53 - 1.');
        return value;
      }
      scale *= 128;
    }
    throw new WireError('A number has more than ten bytes.');
  }

  uint32(): number {
    const value = this.number();
    if (value > 0xffffffff) throw new WireError('A 32-bit number is larger than 2^32 - 1.');
    return value;
  }

  bool(): boolean {
    return this.number() !== 0;
  }

  string(): string {
    const length = this.#length();
    const start = this.#at;
    this.#at += length;
    if (length <= SHORT) {
      let text = '';
      for (let at = start; at < this.#at; at++) {
        const byte = this.#bytes[at] ?? 0;
        if (byte > 0x7f) return this.#decoded(start);
        text += String.fromCharCode(byte);
      }
      return text;
    }
    return this.#decoded(start);
  }

  #decoded(start: number): string {
    try {
      return decoder.decode(this.#bytes.subarray(start, this.#at));
    } catch (error) {
      throw new WireError('A string is not valid UTF-8.', { cause: error });
    }
  }

  message<Message>(decode: (from: Reader) => Message): Message {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    const message = decode(this);
    this.#end = outer;
    return message;
  }

  /** Numbers that stand one behind the other in one field. */
  packed(into: number[]): void {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    while (this.#at < this.#end) into.push(this.uint32());
    this.#end = outer;
  }

  /** A field that this version does not know. */
  skip(tag: number): void {
    const type = tag % 8;
    if (type === VARINT) this.number();
    else if (type === BYTES) this.#pass(this.#length());
    else if (type === FIXED32) this.#pass(4);
    else if (type === FIXED64) this.#pass(8);
    else
      throw new WireError(`Field ${Math.floor(tag / 8)} has the wire type ${type}, which is not used here.`);
  }

  #length(): number {
    const length = this.number();
    if (length > this.#end - this.#at)
      throw new WireError(
        `A field of ${length} bytes does not fit into the ${this.#end - this.#at} that are left.`,
      );
    return length;
  }

  #pass(count: number): void {
    if (count > this.#end - this.#at) throw new WireError('The message ends within a field.');
    this.#at += count;
  }
}
