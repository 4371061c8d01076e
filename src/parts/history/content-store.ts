// The contents of one workspace's files, by their SHA-256: each is kept once. Every process writes packs of its own and
// reads those of all. What is put is in memory until `flush` and durable after `sync`, which a record must wait for.

import { hash as digest } from 'node:crypto';
import { closeSync, fdatasync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import { syncFolder } from '../../disk/replace-file.ts';
import { type Chunk, type Content, encodeChunk, openChunk, readChunks } from './pack.ts';

export const PACK_SUFFIX = '.pack';
/** Bytes of content that are compressed together. */
const CHUNK_BYTES = 256 * 1024;
/** Bytes after which a new pack is begun, so that what is out of use can be dropped a piece at a time. */
const PACK_BYTES = 16 * 1024 * 1024;

interface Place {
  readonly pack: string;
  readonly chunk: Chunk;
  readonly from: number;
  readonly length: number;
}

export interface ContentStore {
  has(hash: string): boolean;
  /** Returns the hash. Throws system errors, such as ENOSPC, when a chunk is full and cannot be written. */
  put(bytes: Uint8Array): string;
  /** Undefined when it is not there or is damaged. */
  get(hash: string): Buffer | undefined;
  /** Bytes of content that were put and were not there before. */
  readonly added: number;
  /** Everything that was put is durable when this resolves. */
  sync(): Promise<void>;
  close(): void;
}

export function hashOf(bytes: Uint8Array): string {
  return digest('sha256', bytes, 'hex');
}

/** `folder` need not exist: it is made when something is put. */
export function openContentStore(folder: string, newId: () => string): ContentStore {
  return new PackedStore(folder, newId);
}

class PackedStore implements ContentStore {
  readonly #folder: string;
  readonly #newId: () => string;
  readonly #places = new Map<string, Place>();
  readonly #seen = new Set<string>();
  /** Put and not yet written. */
  #waiting = new Map<string, Uint8Array>();
  #waitingBytes = 0;
  #pack: { readonly path: string; readonly fd: number; size: number } | undefined;
  /** Packs with bytes that no sync has covered. */
  #unsynced = new Set<number>();
  #retired: number[] = [];
  #opened: { readonly chunk: Chunk; readonly bytes: Buffer } | undefined;
  added = 0;

  constructor(folder: string, newId: () => string) {
    this.#folder = folder;
    this.#newId = newId;
    this.#findPacks();
  }

  has(hash: string): boolean {
    return this.#waiting.has(hash) || this.#places.has(hash);
  }

  put(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    if (this.has(hash)) return hash;
    this.#waiting.set(hash, bytes);
    this.#waitingBytes += bytes.length;
    this.added += bytes.length;
    if (this.#waitingBytes >= CHUNK_BYTES) this.#flush();
    return hash;
  }

  get(hash: string): Buffer | undefined {
    const waiting = this.#waiting.get(hash);
    if (waiting !== undefined) return Buffer.from(waiting);
    if (!this.#places.has(hash)) this.#findPacks();
    const place = this.#places.get(hash);
    const bytes = place && this.#chunkBytes(place)?.subarray(place.from, place.from + place.length);
    // What is damaged must never take a file's place.
    return bytes !== undefined && hashOf(bytes) === hash ? bytes : undefined;
  }

  async sync(): Promise<void> {
    this.#flush();
    const syncing = [...this.#unsynced];
    this.#unsynced.clear();
    await Promise.all(syncing.map(dataSync));
    const done = this.#retired;
    this.#retired = [];
    for (const fd of done) closeSync(fd);
  }

  close(): void {
    if (this.#pack !== undefined) closeSync(this.#pack.fd);
    for (const fd of this.#retired) closeSync(fd);
    this.#pack = undefined;
    this.#retired = [];
    this.#unsynced.clear();
  }

  #flush(): void {
    if (this.#waiting.size === 0) return;
    const contents: readonly Content[] = [...this.#waiting].map(([hash, bytes]) => ({ hash, bytes }));
    const pack = this.#writable();
    const chunk = encodeChunk(contents);
    this.#unsynced.add(pack.fd);
    for (let at = 0; at < chunk.length; )
      at += writeSync(pack.fd, chunk, at, chunk.length - at, pack.size + at);
    const [written] = readChunks(pack.fd, pack.size);
    if (written === undefined) throw new Error(`${pack.path} does not hold what was written to it.`);
    pack.size = written.end;
    this.#place(pack.path, written);
    this.#waiting = new Map();
    this.#waitingBytes = 0;
  }

  #writable() {
    if (this.#pack !== undefined && this.#pack.size < PACK_BYTES) return this.#pack;
    if (this.#pack !== undefined) this.#retired.push(this.#pack.fd);
    this.#pack = undefined;
    const isNew = mkdirSync(this.#folder, { recursive: true, mode: 0o700 }) !== undefined;
    const path = join(this.#folder, `${this.#newId()}${PACK_SUFFIX}`);
    const pack = { path, fd: openSync(path, 'wx+', 0o600), size: 0 };
    syncFolder(this.#folder);
    if (isNew) syncFolder(dirname(this.#folder));
    this.#seen.add(path);
    this.#pack = pack;
    return pack;
  }

  /** Takes in the packs that other processes have written since. */
  #findPacks(): void {
    for (const path of packsIn(this.#folder)) {
      if (this.#seen.has(path)) continue;
      this.#seen.add(path);
      const fd = openSync(path, 'r');
      try {
        for (const chunk of readChunks(fd)) this.#place(path, chunk);
      } finally {
        closeSync(fd);
      }
    }
  }

  #place(pack: string, chunk: Chunk): void {
    for (const { hash, from, length } of chunk.rows) this.#places.set(hash, { pack, chunk, from, length });
  }

  #chunkBytes({ pack, chunk }: Place): Buffer | undefined {
    if (this.#opened?.chunk === chunk) return this.#opened.bytes;
    let fd: number;
    try {
      fd = openSync(pack, 'r');
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const bytes = openChunk(fd, chunk);
      if (bytes !== undefined) this.#opened = { chunk, bytes };
      return bytes;
    } finally {
      closeSync(fd);
    }
  }
}

/** Absolute paths, the oldest first. */
export function packsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(PACK_SUFFIX));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

export function bytesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function dataSync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}
