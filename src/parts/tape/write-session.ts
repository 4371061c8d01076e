// A whole session written at once: what a fork, a copy or an import begins with. It gets its name only when all of it
// is durable, so that there is never half of one.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { CrabError } from '../../core/errors.ts';
import type { Entry, TapeHeader } from '../../core/tape.ts';
import { type FileContext, FileStorage } from './file-storage.ts';
import { encodeLine } from './line.ts';
import { acquireLock, type Lock } from './lock.ts';
import { FILE_MODE } from './paths.ts';
import type { Storage } from './storage.ts';
import { storageError, unlinkIfThere, writeWhole } from './sync-fs.ts';
import { addAll, encodeEntries } from './tape.ts';
import { EntryTree } from './tree.ts';

export interface WholeSession {
  readonly header: TapeHeader;
  readonly entries: Iterable<Entry>;
}

export interface WrittenSession {
  readonly storage: Storage;
  readonly tree: EntryTree;
}

const BATCH_BYTES = 4 * 1024 * 1024;

/** Leaves the file open and locked. */
export async function writeSession(
  path: string,
  session: WholeSession,
  context: FileContext,
): Promise<WrittenSession> {
  let lock: Lock | undefined;
  try {
    context.folders.make(dirname(path));
    lock = acquireLock(path, context.self(), context.disk);
    if (existsSync(path)) throw new CrabError('session-id-invalid', `There is a file ${path} already.`);
    const { tree, length } = await writeFile(path, session, context);
    return { tree, storage: new FileStorage(path, context, { lock, length, hasPartial: false }) };
  } catch (error) {
    lock?.release();
    throw storageError(error, `create ${path}`);
  }
}

async function writeFile(
  path: string,
  session: WholeSession,
  context: FileContext,
): Promise<{ readonly tree: EntryTree; readonly length: number }> {
  const { temporary, tree, length } = await writeTemporary(path, session, context);
  context.disk.rename(temporary, path);
  await context.folders.sync(dirname(path));
  return { tree, length };
}

/** Writes a session beside the name that it shall have. Its content is durable then; the name is the caller's. */
export async function writeTemporary(
  path: string,
  session: WholeSession,
  { disk }: Pick<FileContext, 'disk'>,
): Promise<{ readonly temporary: string; readonly tree: EntryTree; readonly length: number }> {
  const temporary = `${path}.new`;
  unlinkIfThere(disk, temporary);
  const fd = disk.open(temporary, 'ax', FILE_MODE);
  try {
    const writer = new Batches((bytes) => writeWhole(disk, fd, bytes, temporary));
    const tree = new EntryTree();
    for (const line of sessionLines(session, tree)) writer.write(line);
    writer.flush();
    await disk.fdatasync(fd);
    return { temporary, tree, length: writer.length };
  } catch (error) {
    unlinkIfThere(disk, temporary);
    throw error;
  } finally {
    disk.close(fd);
  }
}

/** The lines of a session, one after another, while `tree` takes in where they stand. */
export function* sessionLines({ header, entries }: WholeSession, tree: EntryTree): Generator<Buffer> {
  const first = Buffer.from(encodeLine(header));
  yield first;
  let offset = first.length;
  for (const entry of entries) {
    if (tree.has(entry.id)) throw new CrabError('internal', `Two entries have the id ${entry.id}.`);
    if (entry.parentId !== null && !tree.has(entry.parentId))
      throw new CrabError('internal', `Entry ${entry.id} comes before its parent ${entry.parentId}.`);
    const [line = Buffer.alloc(0)] = encodeEntries([entry], tree.totals);
    yield line;
    addAll(tree, [entry], [line], offset);
    offset += line.length;
  }
}

class Batches {
  readonly #write: (bytes: Uint8Array) => void;
  #waiting: Buffer[] = [];
  #bytes = 0;
  length = 0;

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  write(line: Buffer): void {
    this.#waiting.push(line);
    this.#bytes += line.length;
    this.length += line.length;
    if (this.#bytes >= BATCH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#bytes > 0) this.#write(Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#bytes = 0;
  }
}
