// The file format CRMEM, version 1: a header of 16 bytes, the next id, and the entries one after another. Integers are
// little-endian, texts UTF-8 behind their length in bytes as u32. Nothing in it may be guessed at: what does not fit is
// refused, and the file stays as it is.

import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry, MemoryKind } from '../../core/memory.ts';

export interface Database {
  /** The id of the next entry. */
  readonly nextId: bigint;
  readonly entries: readonly MemoryEntry[];
}

export const EMPTY: Database = { nextId: 1n, entries: [] };

const MAGIC = new TextEncoder().encode('CRMEM\0');
const VERSION = 1;
const HEADER_BYTES = 16;
const KINDS: readonly MemoryKind[] = ['note', 'archive'];
/** The least that an entry takes: its numbers and three empty texts. */
const LEAST_ENTRY_BYTES = 32;

export function encode({ nextId, entries }: Database): Uint8Array {
  const encoder = new TextEncoder();
  const texts = entries.map(({ name, content, aliases }) => ({
    name: encoder.encode(name),
    content: encoder.encode(content),
    aliases: aliases.map((alias) => encoder.encode(alias)),
  }));
  let size = HEADER_BYTES + 12;
  for (const { name, content, aliases } of texts) {
    size += LEAST_ENTRY_BYTES + name.length + content.length;
    for (const alias of aliases) size += 4 + alias.length;
  }
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(6, VERSION, true);
  view.setBigUint64(HEADER_BYTES, nextId, true);
  view.setUint32(HEADER_BYTES + 8, entries.length, true);
  let at = HEADER_BYTES + 12;
  const put = (text: Uint8Array) => {
    view.setUint32(at, text.length, true);
    bytes.set(text, at + 4);
    at += 4 + text.length;
  };
  for (const [number, { id, createdAt, kind }] of entries.entries()) {
    const { name, content, aliases } = texts[number] ?? { name: MAGIC, content: MAGIC, aliases: [] };
    view.setBigUint64(at, id, true);
    view.setBigUint64(at + 8, createdAt, true);
    view.setUint32(at + 16, KINDS.indexOf(kind), true);
    at += 20;
    put(name);
    put(content);
    view.setUint32(at, aliases.length, true);
    at += 4;
    for (const alias of aliases) put(alias);
  }
  return bytes;
}

/** Throws `CrabError memory-damaged` for anything but what `encode` could have made. `path` is for errors. */
export function decode(bytes: Uint8Array, path: string): Database {
  const reader = new Reader(bytes, path);
  reader.header();
  const nextId = reader.u64('the next id');
  const count = reader.u32('the number of entries');
  if (count * LEAST_ENTRY_BYTES > reader.left) throw reader.bad(`is too short for ${count} entries`);
  const entries: MemoryEntry[] = [];
  for (let number = 1; number <= count; number++) entries.push(reader.entry(`entry ${number}`));
  if (reader.left > 0) throw reader.bad(`has ${reader.left} bytes behind its last entry`);
  return { nextId, entries };
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #path: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #at = 0;

  constructor(bytes: Uint8Array, path: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#path = path;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  header(): void {
    if (!MAGIC.every((byte, at) => this.#bytes[at] === byte)) throw this.bad('does not begin as one');
    if (this.left < HEADER_BYTES) throw this.bad('ends in its header');
    const version = this.#view.getUint32(6, true);
    if (version !== VERSION) throw this.bad(`has version ${version}; this Crab knows ${VERSION}`);
    const flags = this.#view.getUint16(10, true);
    if (flags !== 0) throw this.bad(`has flags that this Crab does not know (${flags})`);
    if (this.#view.getUint32(12, true) !== 0) throw this.bad('has data where its header is reserved');
    this.#at = HEADER_BYTES;
  }

  entry(what: string): MemoryEntry {
    const id = this.u64(`the id of ${what}`);
    const createdAt = this.u64(`the time of ${what}`);
    const number = this.u32(`the kind of ${what}`);
    const kind = KINDS[number];
    if (kind === undefined) throw this.bad(`has ${what} of an unknown kind (${number})`);
    const name = this.#text(`the name of ${what}`);
    const content = this.#text(`the content of ${what}`);
    const count = this.u32(`the number of aliases of ${what}`);
    if (count * 4 > this.left) throw this.bad(`is too short for ${count} aliases of ${what}`);
    const aliases: string[] = [];
    for (let number = 1; number <= count; number++) aliases.push(this.#text(`alias ${number} of ${what}`));
    return { id, name, aliases, content, kind, createdAt };
  }

  u32(what: string): number {
    const at = this.#take(4, what);
    return this.#view.getUint32(at, true);
  }

  u64(what: string): bigint {
    const at = this.#take(8, what);
    return this.#view.getBigUint64(at, true);
  }

  #text(what: string): string {
    const length = this.u32(`the length of ${what}`);
    const at = this.#take(length, what);
    try {
      return this.#decoder.decode(this.#bytes.subarray(at, at + length));
    } catch {
      throw this.bad(`has text that is not UTF-8 in ${what}`);
    }
  }

  #take(length: number, what: string): number {
    if (length > this.left) throw this.bad(`ends in ${what}`);
    const at = this.#at;
    this.#at += length;
    return at;
  }

  bad(what: string): CrabError {
    return new CrabError('memory-damaged', `${this.#path} is no memory that can be read: it ${what}.`);
  }
}
