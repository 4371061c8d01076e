// What is kept of one workspace, in a folder of its own below `$CRAB_HOME/history`: packs of contents, what was known of
// the files when a process last looked, rewinds that are under way, and a lease for each process that uses it, since what
// one process is about to name in a record must not be thrown away by another.

import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { replaceFile } from '../../disk/replace-file.ts';
import { type ContentStore, hashOf, openContentStore } from './content-store.ts';
import type { mergeBytes } from './merge.ts';
import type { ParseIgnoreRules } from './scan.ts';
import { BOUNDS, type Bounds, type Known, WorkspaceIndex } from './workspace-index.ts';

export interface Lock {
  release(): void;
}

export interface HistoryOptions {
  /** `$CRAB_HOME`, absolute. */
  readonly home: string;
  readonly quotaBytes: number;
  readonly parseRules: ParseIgnoreRules;
  readonly newId: () => string;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** A file for this process alone, until it ends or lets go. */
  readonly lock: (path: string) => Promise<Lock>;
  /** Whether a live process holds it. */
  readonly isLocked: (path: string) => Promise<boolean>;
  readonly bounds?: Bounds;
  /** Taken away by a test that must notice it. */
  readonly merge?: typeof mergeBytes;
}

const INDEX_VERSION = 1;

export function historyFolder(home: string): string {
  return join(home, 'history');
}

export function workspaceFolder(home: string, root: string): string {
  const readable = basename(root)
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 40);
  return join(historyFolder(home), `${readable || 'root'}-${digest(root)}`);
}

function digest(root: string): string {
  return hashOf(Buffer.from(root)).slice(0, 16);
}

export class Workspace {
  readonly folder: string;
  readonly store: ContentStore;
  readonly #options: HistoryOptions;
  readonly #lease: Lock;
  /** By the folder that is looked at: a session may be gone on with in another one than it began in. */
  readonly #indexes = new Map<string, { readonly index: WorkspaceIndex; readonly saved: unknown }>();
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, options: HistoryOptions, lease: Lock) {
    this.folder = folder;
    this.#options = options;
    this.#lease = lease;
    this.store = openContentStore(join(folder, 'packs'), options.newId);
  }

  /** `root` is absolute and resolved. */
  static async open(root: string, options: HistoryOptions): Promise<Workspace> {
    const folder = workspaceFolder(options.home, root);
    mkdirSync(join(folder, 'leases'), { recursive: true, mode: 0o700 });
    const lease = await options.lock(join(folder, 'leases', options.newId()));
    return new Workspace(folder, options, lease);
  }

  /** `root` is absolute and resolved. */
  index(root: string): WorkspaceIndex {
    const made = this.#indexes.get(root);
    if (made !== undefined) return made.index;
    const { parseRules, home, now, monotonic, bounds = BOUNDS } = this.#options;
    const earlier = readIndex(this.#indexPath(root), root);
    const index = new WorkspaceIndex({
      root,
      store: this.store,
      parseRules,
      own: [home],
      bounds,
      now,
      monotonic,
      ...(earlier !== undefined && { earlier }),
    });
    this.#indexes.set(root, { index, saved: index.known });
    return index;
  }

  /** Those that a command has needed. */
  get indexes(): readonly WorkspaceIndex[] {
    return [...this.#indexes.values()].map(({ index }) => index);
  }

  #indexPath(root: string): string {
    return join(this.folder, `index-${digest(root)}`);
  }

  /** One look at the workspace at a time. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(task, task);
    this.#queue = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    try {
      await this.#queue;
      await this.store.sync();
      for (const [root, { index, saved }] of this.#indexes)
        if (index.known !== saved) writeIndex(this.#indexPath(root), root, index.known);
    } finally {
      this.store.close();
      this.#lease.release();
    }
  }
}

type Row = readonly [
  path: string,
  kind: Known['kind'],
  size: number,
  changed: number,
  modified: number,
  inode: number,
  mode: number,
  doubtful: boolean,
  content?: string,
];

/** A cache: what cannot be read is made again. */
function readIndex(path: string, root: string): ReadonlyMap<string, Known> | undefined {
  try {
    const stored = JSON.parse(zstdDecompressSync(readFileSync(path)).toString());
    if (stored.version !== INDEX_VERSION || stored.root !== root) return undefined;
    const known = new Map<string, Known>();
    for (const row of stored.files as readonly Row[]) {
      const [name, kind, size, changed, modified, inode, mode, doubtful, content] = row;
      const rest = content === undefined ? {} : { content };
      known.set(name, { kind, size, changed, modified, inode, mode, doubtful, ...rest });
    }
    return known;
  } catch {
    return undefined;
  }
}

function writeIndex(path: string, root: string, known: ReadonlyMap<string, Known>): void {
  const files: Row[] = [];
  for (const [name, { kind, size, changed, modified, inode, mode, doubtful, content }] of known) {
    const row = [name, kind, size, changed, modified, inode, mode, doubtful] as const;
    files.push(content === undefined ? row : [...row, content]);
  }
  const bytes = zstdCompressSync(JSON.stringify({ version: INDEX_VERSION, root, files }));
  replaceFile(path, bytes);
}
