// What the files of a workspace hold at this moment, as far as commands could change it: a glance at each, and the hash
// of its content, which is in the store before a command may run. A second look after the command tells what changed.
// All bounds are here; what lies beyond them is named, so that a person can be told.

import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import type { ContentStore } from './content-store.ts';
import { ABSENT, type FileChange, type FileState, kindOf, sameState } from './file-state.ts';
import {
  createSlices,
  type Glance,
  glanceAt,
  type ParseIgnoreRules,
  type Scan,
  scan,
  type WhyUncovered,
} from './scan.ts';

export interface Bounds {
  /** Files and folders that are looked at. */
  readonly maxFiles: number;
  /** Bytes of a file whose content is kept. */
  readonly maxFileBytes: number;
  /** Bytes of new content that one command may have to wait for. */
  readonly maxNewBytes: number;
  /** Milliseconds that a command may have to wait for it. */
  readonly maxWaitMs: number;
}

export const BOUNDS: Bounds = {
  maxFiles: 30_000,
  maxFileBytes: 1024 * 1024,
  maxNewBytes: 256 * 1024 * 1024,
  maxWaitMs: 3_000,
};

/** Times of files are as coarse as the kernel's clock tick: one written so shortly before a look may change unseen. */
const COARSE_MS = 50;

export interface Known extends Glance {
  /** Of a file whose content is in the store, or of a link's target. */
  readonly content?: string;
  /** When it was looked at, a change in the same tick could follow. */
  readonly doubtful: boolean;
}

export interface Uncovered {
  /** Relative to the root. */
  readonly path: string;
  readonly why: WhyUncovered | WhyNotKept;
}

export type WhyNotKept = 'too large' | 'denied by a rule' | 'too much at once' | 'unreadable';

function untold(
  changes: readonly FileChange[],
  told: ReadonlyMap<string, FileState> | undefined,
): readonly FileChange[] {
  if (told === undefined) return changes;
  return changes.flatMap((change) => {
    const known = told.get(change.path);
    if (known === undefined) return [change];
    const { path, after } = change;
    return sameState(known, after) || isSameUnread(known, after) ? [] : [{ path, before: known, after }];
  });
}

/** Of a file that is too large for the index, the size has to do. */
function isSameUnread(known: FileState, after: FileState): boolean {
  if (known.kind !== 'file' || after.kind !== 'file' || after.hash !== undefined) return false;
  return known.size === after.size && known.mode === after.mode;
}

export interface IndexOptions {
  /** Absolute and resolved. */
  readonly root: string;
  readonly store: ContentStore;
  readonly parseRules: ParseIgnoreRules;
  readonly own: readonly string[];
  readonly bounds: Bounds;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** What was known when the workspace was last looked at, by whatever process. */
  readonly earlier?: ReadonlyMap<string, Known>;
}

/** A test of absolute paths: what may not be read is not kept. */
export type Withheld = ((path: string) => boolean) | undefined;

/** Whoever must know what changes between two moments. */
export interface Watcher {
  /** A change is told to one watcher of an owner: to the one that came last. */
  readonly owner: unknown;
  take(changes: readonly FileChange[]): void;
}

export class WorkspaceIndex {
  readonly #options: IndexOptions;
  /** In the order in which they came. What one of them finds may be of another. */
  readonly #watchers = new Set<Watcher>();
  /** What files became by changes that their owner knows of since the last look. */
  readonly #told = new Map<unknown, Map<string, FileState>>();
  #known: ReadonlyMap<string, Known>;
  #scan: Scan | undefined;
  #notKept = new Map<string, WhyNotKept>();

  constructor(options: IndexOptions) {
    this.#options = options;
    this.#known = options.earlier ?? new Map();
  }

  get known(): ReadonlyMap<string, Known> {
    return this.#known;
  }

  get uncovered(): readonly Uncovered[] {
    const folders = [...(this.#scan?.skipped ?? [])].map(([path, why]) => ({ path, why }));
    return [...folders, ...[...this.#notKept].map(([path, why]) => ({ path, why }))];
  }

  /** From here on `watcher` is told of changes. What changed before, with nobody watching, is somebody else's. */
  async watch(watcher: Watcher, withheld: Withheld, signal: AbortSignal): Promise<void> {
    if (this.#watchers.size > 0) await this.look(withheld, signal);
    await this.prepare(withheld, signal);
    this.#watchers.add(watcher);
  }

  /** The last changes are told before it resolves. */
  async release(watcher: Watcher, withheld: Withheld, signal: AbortSignal): Promise<void> {
    try {
      await this.look(withheld, signal);
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  /** Tells what changed since the last look. */
  async look(withheld: Withheld, signal: AbortSignal): Promise<void> {
    const changes = await this.changes(withheld, signal);
    if (changes.length === 0) return;
    const last = new Map([...this.#watchers].map((watcher) => [watcher.owner, watcher]));
    for (const [owner, watcher] of last) watcher.take(untold(changes, this.#told.get(owner)));
    this.#told.clear();
  }

  isWatchedBy(owner: unknown): boolean {
    return [...this.#watchers].some((watcher) => watcher.owner === owner);
  }

  /** The owner has a record of these already: the next look tells it only what came after them. */
  tell(owner: unknown, changes: readonly FileChange[]): void {
    if (!this.isWatchedBy(owner)) return;
    const told = this.#told.get(owner) ?? new Map<string, FileState>();
    this.#told.set(owner, told);
    for (const { path, after } of changes) told.set(path, after);
  }

  /** Brings all that a command could change into the store, as far as the bounds go. Nothing is synced. */
  async prepare(withheld: Withheld, signal: AbortSignal): Promise<void> {
    const { root, bounds, monotonic, now } = this.#options;
    const started = monotonic();
    const at = now();
    const looked = await scan(this.#scanOptions(), signal);
    const { store } = this.#options;
    const before = store.added;
    const known = new Map<string, Known>();
    this.#notKept = new Map();
    const slices = createSlices(monotonic, signal);
    const fresh: [string, Glance][] = [];
    for (const [path, glance] of looked.found) {
      const old = this.#known.get(path);
      if (old !== undefined && isSame(old, glance) && this.#isKept(old)) known.set(path, old);
      else if (glance.kind === 'folder' || glance.kind === 'other')
        known.set(path, { ...glance, doubtful: false });
      else fresh.push([path, glance]);
    }
    // What was worked on last is what will be worked on next: it comes first where not all can be kept.
    fresh.sort(([, a], [, b]) => b.modified - a.modified);
    for (const [path, glance] of fresh) {
      const isOver = store.added - before > bounds.maxNewBytes || monotonic() - started > bounds.maxWaitMs;
      const why = isOver && glance.kind === 'file' ? 'too much at once' : undefined;
      known.set(path, this.#keep(join(root, path), path, { glance, at, withheld, why }));
      if (slices.isOver()) await slices.pause();
    }
    this.#known = known;
    this.#scan = looked;
  }

  /** What is different from what is known; afterwards it is known. Contents are put in the store. */
  async changes(withheld: Withheld, signal: AbortSignal): Promise<readonly FileChange[]> {
    const { root, now, monotonic } = this.#options;
    const before = this.#scan;
    if (before === undefined) return [];
    const at = now();
    const looked = await scan({ ...this.#scanOptions(), before }, signal);
    const known = new Map<string, Known>();
    const changes: FileChange[] = [];
    const slices = createSlices(monotonic, signal);
    for (const [path, glance] of looked.found) {
      const old = this.#known.get(path);
      if (old !== undefined && isSame(old, glance)) {
        known.set(path, old);
      } else {
        const fresh = this.#keep(join(root, path), path, { glance, at, withheld });
        known.set(path, fresh);
        const [was, is] = [old === undefined ? ABSENT : stateOf(old), stateOf(fresh)];
        if (!isUnchanged(was, is, old, fresh))
          changes.push({ path: join(root, path), before: was, after: is });
      }
      if (slices.isOver()) await slices.pause();
    }
    for (const [path, old] of this.#known) {
      if (known.has(path)) continue;
      // A folder that could not be listed takes all that is in it along.
      if (glanceAt(join(root, path)) !== undefined) known.set(path, old);
      else changes.push({ path: join(root, path), before: stateOf(old), after: ABSENT });
    }
    this.#known = known;
    this.#scan = { found: looked.found, skipped: looked.skipped };
    return changes;
  }

  #scanOptions() {
    const { root, parseRules, own, bounds, monotonic } = this.#options;
    return { root, parseRules, own, maxFiles: bounds.maxFiles, monotonic };
  }

  #isKept(old: Known): boolean {
    if (old.doubtful) return false;
    if (old.kind !== 'file') return true;
    return old.content !== undefined && this.#options.store.has(old.content);
  }

  #keep(
    full: string,
    path: string,
    look: {
      readonly glance: Glance;
      readonly at: number;
      readonly withheld: Withheld;
      readonly why?: WhyNotKept | undefined;
    },
  ): Known {
    const { glance, at, withheld } = look;
    const doubtful = Math.max(glance.changed, glance.modified) > at - COARSE_MS;
    if (glance.kind === 'folder' || glance.kind === 'other') return { ...glance, doubtful: false };
    if (glance.kind === 'link') {
      const target = linkAt(full);
      return { ...glance, doubtful, ...(target !== undefined && { content: target }) };
    }
    const { store, bounds } = this.#options;
    const why =
      look.why ??
      (glance.size > bounds.maxFileBytes ? 'too large' : undefined) ??
      (withheld?.(full) === true ? 'denied by a rule' : undefined);
    const bytes = why === undefined ? readRegular(full, bounds.maxFileBytes) : undefined;
    if (bytes === undefined) {
      this.#notKept.set(path, why ?? 'unreadable');
      return { ...glance, doubtful };
    }
    this.#notKept.delete(path);
    return { ...glance, size: bytes.length, doubtful, content: store.put(bytes) };
  }
}

/** Opens without blocking and without following a link; undefined where it is no regular file of that size any more. */
export function readRegular(path: string, maxBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const info = fstatSync(fd);
    if (kindOf(info) !== 'file' || info.size > maxBytes) return undefined;
    return readFileSync(fd);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isSame(known: Known, glance: Glance): boolean {
  if (known.kind !== glance.kind || known.mode !== glance.mode) return false;
  // The times and the size of a folder tell of its entries, which are looked at themselves.
  if (glance.kind === 'folder' || glance.kind === 'other') return true;
  return (
    !known.doubtful &&
    known.size === glance.size &&
    known.changed === glance.changed &&
    known.modified === glance.modified &&
    known.inode === glance.inode
  );
}

/** Where a content is not known, its times are all there is to tell by. */
function isUnchanged(was: FileState, is: FileState, old: Known | undefined, fresh: Known): boolean {
  if (was.kind !== is.kind) return false;
  if (was.kind === 'file' && is.kind === 'file') {
    if (was.mode !== is.mode) return false;
    if (was.hash !== undefined || is.hash !== undefined) return was.hash === is.hash;
    return old !== undefined && old.size === fresh.size && old.modified === fresh.modified;
  }
  if (was.kind === 'link' && is.kind === 'link') return was.target === is.target;
  return was.kind !== 'folder' || is.kind !== 'folder' || was.mode === is.mode;
}

function stateOf({ kind, content, size, mode }: Known): FileState {
  switch (kind) {
    case 'file':
      return { kind, ...(content !== undefined && { hash: content }), size, mode };
    case 'link':
      return { kind, target: content ?? '' };
    case 'folder':
      return { kind, mode };
    case 'other':
      return { kind };
  }
}
