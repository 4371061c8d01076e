// A disk whose power can fail. A recorder notes each change of the disk, each sync and each acknowledgement; a crash
// keeps what was synced and, of the rest, whatever chance picks: writes in part, by sectors of 512 bytes, and names in
// the order they were made (the way of SQLite's crash tests, sqlite.org/testing.html).

import fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { nodeSyncFs, type SyncFs } from './sync-fs.ts';
import { diskWith, systemError } from './tape.fixture.ts';

/** Nothing here needs a real disk, and memory is ten times as fast. */
export const MEMORY = fs.existsSync('/dev/shm') ? '/dev/shm' : undefined;
const SECTOR = 512;

export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

type DataStep =
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly length: number };

type NameStep =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'create'; readonly path: string; readonly file: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string };

export type Step =
  | DataStep
  | NameStep
  /** `what` is a file's number or a folder's path; `began` is the step that the sync covers up to. */
  | { readonly kind: 'synced'; readonly what: number | string; readonly began: number }
  | { readonly kind: 'acknowledged'; readonly what: Acknowledged };

export type Acknowledged =
  | { readonly kind: 'entry'; readonly id: string; readonly json: string }
  | { readonly kind: 'head'; readonly id: string };

/** What is on the disk: paths are relative to its root, and a folder has no content. */
export type Image = ReadonlyMap<string, Buffer | undefined>;

export interface Faults {
  /** Syncs of files do nothing. */
  readonly fileSyncIsStub?: boolean;
  /** Syncs of folders do nothing. */
  readonly folderSyncIsStub?: boolean;
  /** Entries count as acknowledged as soon as they are written. */
  readonly acknowledgesEarly?: boolean;
  /** Whoever opens a file after the crash leaves its torn end where it is. */
  readonly tailIsMerged?: boolean;
}

/** Carries everything out on the real file system and notes it. Syncs take a few ticks and touch nothing. */
export class Recorder {
  readonly steps: Step[] = [];
  readonly disk: SyncFs;
  /** Files by descriptor, and by path relative to the root. */
  readonly #open = new Map<number, number>();
  readonly #files = new Map<string, number>();
  readonly #root: string;
  readonly #random: () => number;
  readonly #isEverFull: boolean;
  #nextFile = 0;
  isRecording = true;

  constructor(
    root: string,
    image: Image,
    random: () => number,
    faults: Faults,
    { isEverFull = true }: { readonly isEverFull?: boolean } = {},
  ) {
    this.#isEverFull = isEverFull;
    this.#root = root;
    this.#random = random;
    for (const [path, content] of image) if (content !== undefined) this.#files.set(path, this.#nextFile++);
    const sync = (what: () => number | string, isStub: boolean) => async () => {
      const began = this.steps.length;
      const target = what();
      for (let ticks = Math.floor(random() * 4); ticks > 0; ticks--) await nextTick();
      if (!isStub) this.#note({ kind: 'synced', what: target, began });
    };
    this.disk = diskWith({
      open: (path, flags, mode) => this.#openFile(path, flags, mode),
      write: (fd, bytes) => this.#write(fd, bytes),
      truncate: (fd, length) => {
        nodeSyncFs.truncate(fd, length);
        this.#note({ kind: 'truncate', file: this.#fileOf(fd), length });
      },
      rename: (from, to) => {
        nodeSyncFs.rename(from, to);
        this.#files.set(this.#name(to), this.#files.get(this.#name(from)) ?? -1);
        this.#files.delete(this.#name(from));
        this.#note({ kind: 'rename', path: this.#name(from), to: this.#name(to) });
      },
      unlink: (path) => {
        nodeSyncFs.unlink(path);
        this.#files.delete(this.#name(path));
        this.#note({ kind: 'unlink', path: this.#name(path) });
      },
      mkdir: (path, mode) => {
        const made = nodeSyncFs.mkdir(path, mode);
        const folders: string[] = [];
        for (let at = path; made !== undefined && at.length >= made.length; at = dirname(at))
          folders.unshift(at);
        for (const folder of folders) this.#note({ kind: 'folder', path: this.#name(folder) });
        return made;
      },
      fdatasync: (fd) => sync(() => this.#fileOf(fd), faults.fileSyncIsStub ?? false)(),
      fsyncDir: (path) => sync(() => this.#name(path), faults.folderSyncIsStub ?? false)(),
    });
  }

  acknowledge(what: Acknowledged): void {
    this.#note({ kind: 'acknowledged', what });
  }

  #openFile(path: string, flags: 'a' | 'ax', mode: number): number {
    const isNew = !fs.existsSync(path);
    const fd = nodeSyncFs.open(path, flags, mode);
    const name = this.#name(path);
    if (isNew) {
      this.#files.set(name, this.#nextFile);
      this.#note({ kind: 'create', path: name, file: this.#nextFile++ });
    }
    this.#open.set(fd, this.#files.get(name) ?? -1);
    return fd;
  }

  /** Now and then the disk is full: half of the bytes, or none, are written. */
  #write(fd: number, bytes: Uint8Array): number {
    const offset = fs.fstatSync(fd).size;
    const isFull = this.#isEverFull && this.#random() < 0.02;
    const part = isFull ? bytes.subarray(0, Math.floor(this.#random() * 2) * (bytes.length >> 1)) : bytes;
    const written = part.length === 0 ? 0 : nodeSyncFs.write(fd, part);
    this.#note({ kind: 'write', file: this.#fileOf(fd), offset, bytes: Buffer.from(part) });
    if (isFull && this.#random() < 0.5) throw systemError('ENOSPC');
    return written;
  }

  #fileOf(fd: number): number {
    return this.#open.get(fd) ?? -1;
  }

  #name(path: string): string {
    return relative(this.#root, path);
  }

  #note(step: Step): void {
    if (this.isRecording) this.steps.push(step);
  }
}

function isName(step: Step): step is NameStep {
  return ['folder', 'create', 'rename', 'unlink'].includes(step.kind);
}

/** What is on the disk when the power fails behind the first `count` steps. */
export function crashed(image: Image, steps: readonly Step[], count: number, random: () => number): Image {
  /** The number of the step up to which a file or folder is durable. */
  const durable = new Map<number | string, number>();
  for (const step of steps.slice(0, count)) {
    if (step.kind === 'synced') durable.set(step.what, Math.max(step.began, durable.get(step.what) ?? 0));
  }
  const names = new Map<string, number | 'folder'>();
  const contents = new Map<number, Buffer>();
  for (const [path, content] of image) {
    names.set(path, content === undefined ? 'folder' : contents.size);
    if (content !== undefined) contents.set(contents.size, content);
  }
  /** Folders whose later names did not make it. */
  const stopped = new Set<string>();
  for (const [at, step] of steps.slice(0, count).entries()) {
    if (isName(step)) {
      const folder = dirname(step.path);
      if (at >= (durable.get(folder === '.' ? '' : folder) ?? 0) && random() < 0.3) stopped.add(folder);
      if (!stopped.has(folder)) applyName(names, step);
      if (step.kind === 'create') contents.set(step.file, Buffer.alloc(0));
    } else if (step.kind === 'write' || step.kind === 'truncate') {
      const isDurable = at < (durable.get(step.file) ?? 0);
      contents.set(step.file, applied(contents.get(step.file) ?? Buffer.alloc(0), step, isDurable, random));
    }
  }
  const left = new Map<string, Buffer | undefined>();
  for (const [path, what] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const folder = dirname(path);
    if (folder !== '.' && names.get(folder) !== 'folder') continue;
    if (folder !== '.' && !left.has(folder)) continue;
    left.set(path, what === 'folder' ? undefined : (contents.get(what) ?? Buffer.alloc(0)));
  }
  return left;
}

function applyName(names: Map<string, number | 'folder'>, step: NameStep): void {
  if (step.kind === 'folder') names.set(step.path, 'folder');
  else if (step.kind === 'create') names.set(step.path, step.file);
  else if (step.kind === 'unlink') names.delete(step.path);
  else {
    const file = names.get(step.path);
    names.delete(step.path);
    if (file !== undefined) names.set(step.to, file);
  }
}

/** A step that is not durable is done, or not, or in part. */
function applied(content: Buffer, step: DataStep, isDurable: boolean, random: () => number): Buffer {
  const fate = isDurable ? 1 : random();
  if (step.kind === 'truncate') {
    if (fate < 0.5) return content;
    const shorter = Buffer.alloc(step.length);
    content.copy(shorter);
    return shorter;
  }
  if (fate < 0.3) return content;
  const end = step.offset + step.bytes.length;
  const result = Buffer.alloc(Math.max(content.length, end));
  content.copy(result);
  let reached = content.length;
  for (let from = step.offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / SECTOR) + 1) * SECTOR);
    if (fate >= 0.6 || random() < 0.5) {
      step.bytes.copy(result, from, from - step.offset, to - step.offset);
      reached = Math.max(reached, to);
    }
    from = to;
  }
  return result.subarray(0, reached);
}

/** No machine is back within seconds of losing its power. */
const SECONDS_DARK = 10;

export function restore(image: Image, root: string): void {
  const then = Date.now() / 1000 - SECONDS_DARK;
  for (const [path, content] of image) {
    if (content === undefined) fs.mkdirSync(join(root, path), { recursive: true });
    else fs.writeFileSync(join(root, path), content);
    fs.utimesSync(join(root, path), then, then);
  }
}
