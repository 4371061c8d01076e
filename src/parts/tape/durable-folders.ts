// A file is only as durable as the names on the way to it: every folder above a new file is synced too. The
// names of the folders are the same for all sessions in them, so each is synced once in a process's life.

import { dirname } from 'node:path';

import { FOLDER_MODE } from './paths.ts';
import type { SyncFs } from './sync-fs.ts';

export class DurableFolders {
  readonly #disk: SyncFs;
  /** By folder, the sync of its name in the folder above. */
  readonly #syncs = new Map<string, Promise<void>>();
  /** The topmost folder whose name has to be synced. */
  #top: string;

  /** What lies above `home` is synced only when `make` had to make it. */
  constructor(home: string, disk: SyncFs) {
    this.#disk = disk;
    this.#top = home;
  }

  make(folder: string): void {
    const made = this.#disk.mkdir(folder, FOLDER_MODE);
    if (made === undefined) return;
    if (made.length < this.#top.length) this.#top = made;
    for (const known of this.#syncs.keys()) if (known.startsWith(made)) this.#syncs.delete(known);
  }

  /** Makes all names in `folder`, and those of the folders on the way to it, durable. */
  async sync(folder: string): Promise<void> {
    const syncs = [this.#disk.fsyncDir(folder)];
    for (let at = folder; at.length >= this.#top.length && at !== dirname(at); at = dirname(at)) {
      syncs.push(this.#nameOf(at));
    }
    await Promise.all(syncs);
  }

  #nameOf(folder: string): Promise<void> {
    const known = this.#syncs.get(folder);
    if (known !== undefined) return known;
    const sync = this.#disk.fsyncDir(dirname(folder));
    sync.catch(() => this.#syncs.delete(folder));
    this.#syncs.set(folder, sync);
    return sync;
  }
}
