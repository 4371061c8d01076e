// Watching a folder. What the system reports are only hints where to look: they come many for one change, and some do not
// come at all. On Linux each folder is watched by itself, because Node's recursive watching there takes one watch a file and
// enters `node_modules`; elsewhere the system watches a tree as one. Where nothing more can be watched, or the hints are too
// many to be believed, all of it is looked at now and then.

import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Watch, WatchFiles, WatchRequest } from '../../core/watch.ts';
import { createLocalFiles } from './local-files.ts';
import { createWatchedTree } from './watched-tree.ts';

/** Milliseconds without a hint after which a batch is told. */
const QUIET_MS = 100;
/** Milliseconds after the first hint of a batch after which it is told all the same. */
const MOST_MS = 1000;
/** Milliseconds between looks at everything, where there are no hints; more where a look takes long. */
const POLL_MS = 2000;
/** Of all time a look may take one part in so many. */
const POLL_SHARE = 20;

/** Folders that are watched; the system has a limit for all programs of a person (8192 where memory is small). */
const MAX_WATCHES = 2048;

/** Hints of one batch; the system drops some when there are more than it can queue (16384 for inotify). */
const MAX_HINTS = 1024;

/** Each folder by itself, the whole tree as one, or nothing: then it is only looked at. */
type Way = 'folders' | 'tree' | 'poll';

export interface WatchOptions {
  /** Default: folders on Linux, the tree elsewhere. */
  readonly way?: Way;
}

export function createWatchFiles({ way = ownWay() }: WatchOptions = {}): WatchFiles {
  return async (request, signal) => {
    const watching = new Watching(request, way);
    if (signal.aborted) watching.close();
    signal.addEventListener('abort', watching.close, { once: true });
    await watching.start();
    return watching;
  };
}

function ownWay(): Way {
  return process.platform === 'linux' ? 'folders' : 'tree';
}

class Watching implements Watch {
  readonly #request: WatchRequest;
  readonly #tree: ReturnType<typeof createWatchedTree>;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Names that were reported, by their folders. */
  #hints = new Map<string, Set<string>>();
  #count = 0;
  #way: Way;
  #mustLookAll = false;
  #isClosed = false;
  #firstHint = 0;
  /** How long the last look at everything took. */
  #lookMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(request: WatchRequest, way: Way) {
    this.#request = request;
    this.#way = way;
    this.#tree = createWatchedTree({
      root: request.root,
      files: createLocalFiles(),
      wants: request.wants,
      entered: (folder) => this.#enter(folder),
      left: (folder) => this.#leave(folder),
    });
  }

  async start(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#way === 'tree') this.#enter(this.#request.root);
    await this.#tree.lookAll();
    this.#poll();
  }

  async flush(): Promise<void> {
    // What the system has queued is read once in each turn of the event loop. Only of folders it is queued at once.
    for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#way !== 'folders') this.#mustLookAll = true;
    await this.#look();
  }

  readonly close = (): void => {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#hints.clear();
  };

  #enter(folder: string): void {
    if (this.#isClosed || this.#way === 'poll' || this.#watchers.has(folder)) return;
    if (this.#way === 'tree' && folder !== this.#request.root) return;
    if (this.#watchers.size >= MAX_WATCHES) {
      this.#giveUp();
      return;
    }
    try {
      const recursive = this.#way === 'tree';
      const watcher = watch(folder, { persistent: false, recursive }, (_event, name) =>
        this.#hint(folder, name),
      );
      watcher.on('error', () => this.#giveUp());
      this.#watchers.set(folder, watcher);
    } catch {
      this.#giveUp();
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  /** No more can be watched. */
  #giveUp(): void {
    if (this.#isClosed || this.#way === 'poll') return;
    this.#way = 'poll';
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#mustLookAll = true;
    this.#poll();
  }

  #poll(): void {
    if (this.#way !== 'poll' || this.#isClosed) return;
    this.#schedule(Math.max(POLL_MS, POLL_SHARE * this.#lookMs), () => {
      this.#mustLookAll = true;
      const began = performance.now();
      void this.#look().then(() => {
        this.#lookMs = performance.now() - began;
        this.#poll();
      });
    });
  }

  #hint(watched: string, name: string | null): void {
    if (this.#isClosed) return;
    if (name === null || ++this.#count > MAX_HINTS) {
      this.#mustLookAll = true;
      this.#hints.clear();
    } else {
      const path = join(watched, name);
      const folder = dirname(path);
      const names = this.#hints.get(folder) ?? new Set();
      names.add(path.slice(folder.length + 1));
      this.#hints.set(folder, names);
    }
    const now = performance.now();
    if (this.#firstHint === 0) this.#firstHint = now;
    const left = Math.max(0, this.#firstHint + MOST_MS - now);
    this.#schedule(Math.min(QUIET_MS, left), () => void this.#look());
  }

  #schedule(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms).unref();
  }

  /** One look at a time: the next begins where the last one ended. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookNow());
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    if (this.#isClosed) return;
    const hints = this.#hints;
    const lookAll = this.#mustLookAll;
    this.#hints = new Map();
    this.#mustLookAll = false;
    this.#count = 0;
    this.#firstHint = 0;
    if (lookAll) await this.#tree.lookAll();
    else for (const [folder, names] of hints) await this.#tree.look(folder, names);
    if (this.#isClosed) return;
    const changes = this.#tree.take();
    if (changes.length > 0) this.#request.batch(changes);
  }
}
