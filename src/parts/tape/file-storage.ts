// A session's file. It does not exist before the first append, which makes it, its folders and its lock;
// every append is one `write` at the end, and one that fails is cut off again, so that the file always ends
// behind a whole line.

import { dirname } from 'node:path';

import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { PartialMessage } from '../../core/tape.ts';
import type { DurableFolders } from './durable-folders.ts';
import { fileLines } from './file-lines.ts';
import { GroupCommit } from './group-commit.ts';
import { acquireLock, type Holder, type Lock } from './lock.ts';
import { PartialFile } from './partial-file.ts';
import { FILE_MODE } from './paths.ts';
import type { LineSource, Storage, Written } from './storage.ts';
import { type SyncFs, storageError, unlinkIfThere, writeWhole } from './sync-fs.ts';

export interface FileContext {
  readonly disk: SyncFs;
  readonly clock: Clock;
  readonly self: () => Holder;
  readonly folders: DurableFolders;
  /** As in `TapesOptions`. */
  readonly appended?: ((path: string) => void) | undefined;
}

/** An existing file that was read and locked. */
export interface OpenedFile {
  readonly lock: Lock;
  readonly length: number;
  readonly hasPartial: boolean;
}

interface OpenFile {
  readonly fd: number;
  readonly lock: Lock;
}

export class FileStorage implements Storage {
  readonly path: string;
  readonly #context: FileContext;
  readonly #commits = new GroupCommit(() => this.#sync());
  readonly #partial: PartialFile;
  #file: OpenFile | undefined;
  /** Bytes up to the end of the last whole line. */
  #length = 0;
  /** The folder whose names the next sync includes. */
  #newIn: string | undefined;
  #failure: CrabError | undefined;

  /** Without `opened`, a file that is made by the first append. Throws when it cannot be opened for writing. */
  constructor(path: string, context: FileContext, opened?: OpenedFile) {
    this.path = path;
    this.#context = context;
    this.#partial = new PartialFile(
      partialPathOf(path),
      context.disk,
      context.clock,
      opened?.hasPartial ?? false,
    );
    if (opened === undefined) return;
    try {
      this.#file = { fd: context.disk.open(path, 'a', FILE_MODE), lock: opened.lock };
    } catch (error) {
      throw storageError(error, `open ${path} for writing`);
    }
    this.#length = opened.length;
  }

  append(lines: readonly Buffer[]): Written {
    if (this.#failure !== undefined) throw this.#failure;
    const [only] = lines;
    const bytes = only !== undefined && lines.length === 1 ? only : Buffer.concat(lines);
    if (this.#file === undefined) this.#create(bytes);
    else this.#write(this.#file.fd, bytes);
    const offset = this.#length;
    this.#length += bytes.length;
    this.#context.appended?.(this.path);
    return { offset, synced: this.#commits.request() };
  }

  lines(): LineSource {
    return fileLines(this.path);
  }

  partial(message: PartialMessage, after: string | null): void {
    if (this.#file !== undefined) this.#partial.update(message, after);
  }

  dropPartial(): void {
    this.#partial.drop();
  }

  settled(): Promise<void> {
    return this.#commits.settled();
  }

  async close(): Promise<void> {
    try {
      await this.#commits.settled();
    } finally {
      this.#partial.close();
      if (this.#file !== undefined) {
        this.#context.disk.close(this.#file.fd);
        this.#file.lock.release();
        this.#file = undefined;
      }
    }
  }

  #write(fd: number, bytes: Uint8Array): void {
    try {
      writeWhole(this.#context.disk, fd, bytes, this.path);
    } catch (error) {
      const failure = storageError(error, `write ${this.path}`);
      this.#cutBack(fd);
      throw failure;
    }
  }

  #cutBack(fd: number): void {
    try {
      this.#context.disk.truncate(fd, this.#length);
    } catch (error) {
      // A later line would be merged with what is left of this one.
      this.#failure = lost(error, `cut a failed write off ${this.path}`);
    }
  }

  /** All or nothing: when any of it fails, the next append begins from the start. */
  #create(bytes: Uint8Array): void {
    const { disk, folders, self } = this.#context;
    const folder = dirname(this.path);
    try {
      folders.make(folder);
      const lock = acquireLock(this.path, self(), disk);
      try {
        this.#file = { fd: this.#createFile(bytes), lock };
      } catch (error) {
        lock.release();
        throw error;
      }
    } catch (error) {
      throw storageError(error, `create ${this.path}`);
    }
    this.#newIn = folder;
  }

  #createFile(bytes: Uint8Array): number {
    const { disk } = this.#context;
    const fd = disk.open(this.path, 'ax', FILE_MODE);
    try {
      writeWhole(disk, fd, bytes, this.path);
      return fd;
    } catch (error) {
      disk.close(fd);
      unlinkIfThere(disk, this.path);
      throw error;
    }
  }

  async #sync(): Promise<void> {
    if (this.#file === undefined) return;
    const { disk, folders } = this.#context;
    const syncs = [disk.fdatasync(this.#file.fd)];
    if (this.#newIn !== undefined) syncs.push(folders.sync(this.#newIn));
    this.#newIn = undefined;
    try {
      await Promise.all(syncs);
    } catch (error) {
      this.#failure = lost(error, `make ${this.path} durable`);
      throw this.#failure;
    }
  }
}

/** Space that comes back does not mend this one: the file takes nothing more from this process. */
function lost(error: unknown, doing: string): CrabError {
  return new CrabError('storage-failed', storageError(error, doing).message, { cause: error });
}

export function partialPathOf(path: string): string {
  return `${path}.partial`;
}
