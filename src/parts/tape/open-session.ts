// Opening a session: lock first, then read, then mend what a crash left, so that two processes never mend
// at once. Everything that was mended is told to the person. Only reading one takes no lock and mends nothing.

import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

import { CrabError, errnoOf } from '../../core/errors.ts';
import type { Tape, TapeReader } from '../../core/tape.ts';
import { fileLines } from './file-lines.ts';
import { type FileContext, FileStorage, partialPathOf } from './file-storage.ts';
import { type Loaded, loadSession } from './load.ts';
import { acquireLock, type Lock } from './lock.ts';
import { interruptedAnswer, readLeftOver } from './partial-file.ts';
import { TreeReader } from './reader.ts';
import { storageError } from './sync-fs.ts';
import { createTape } from './tape.ts';
import { setTailAside } from './torn-tail.ts';

export async function openSession(path: string, ids: () => string, context: FileContext): Promise<Tape> {
  const file = regularFile(resolve(path));
  const lock = acquireLock(file, context.self(), context.disk);
  try {
    return await openLocked(file, lock, ids, context);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** As far as it is good: what stands behind may be a line that somebody is writing. */
export async function readSession(path: string): Promise<TapeReader> {
  const file = regularFile(resolve(path));
  const { header, tree, damaged } = await loadSession(file);
  const notices = damageNotice(file, damaged);
  return new TreeReader({ header, tree, notices, path: file, lines: () => fileLines(file) });
}

/** The file itself where `path` is a link, so that both names share one lock. */
export function regularFile(path: string): string {
  let file: string;
  let isFile: boolean;
  try {
    file = lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
    isFile = statSync(file).isFile();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw storageError(error, `read ${path}`);
    throw new CrabError('session-unknown', `There is no session file ${path}.`);
  }
  if (isFile) return file;
  throw new CrabError('session-damaged', `${path} is not a session: it is no regular file.`);
}

async function openLocked(path: string, lock: Lock, ids: () => string, context: FileContext): Promise<Tape> {
  const { header, tree, ...loaded } = await loadSession(path);
  const torn = await mendEnd(path, loaded, context);
  const hasPartial = existsSync(partialPathOf(path));
  const leftOver = hasPartial ? await readLeftOver(partialPathOf(path)) : undefined;
  // With another answer behind it, the left-over is one that reached the tape.
  const isInterrupted = leftOver !== undefined && leftOver.after === tree.lastAnswer;
  const notices = [...torn, ...damageNotice(path, loaded.damaged), ...(isInterrupted ? [INTERRUPTED] : [])];

  const storage = new FileStorage(path, context, { lock, length: loaded.goodLength, hasPartial });
  const now = () => context.clock.now();
  const tape = createTape({ header, storage, tree, ids, now, notices });
  if (!isInterrupted) {
    storage.dropPartial();
    return tape;
  }
  try {
    tape.append([{ type: 'message', message: interruptedAnswer(leftOver.message, now()) }]);
    return tape;
  } catch (error) {
    await tape.close();
    throw error;
  }
}

const INTERRUPTED = 'The last answer was interrupted; the text that had arrived is kept.';

async function mendEnd(
  path: string,
  loaded: Pick<Loaded, 'size' | 'goodLength'>,
  { clock, disk }: FileContext,
): Promise<readonly string[]> {
  const bytes = loaded.size - loaded.goodLength;
  if (bytes === 0) return [];
  const aside = await setTailAside(path, loaded.goodLength, clock.now(), disk);
  return [`The last ${bytes} bytes of ${path} were incomplete or damaged; they were moved to ${aside}.`];
}

const MOST_LINES_NAMED = 10;

function damageNotice(path: string, lines: readonly number[]): readonly string[] {
  if (lines.length === 0) return [];
  const named = lines.slice(0, MOST_LINES_NAMED).join(', ');
  const more = lines.length > MOST_LINES_NAMED ? ` and ${lines.length - MOST_LINES_NAMED} more` : '';
  const subject = lines.length === 1 ? `Line ${named}` : `Lines ${named}${more}`;
  return [
    `${subject} of ${path} ${lines.length === 1 ? 'is' : 'are'} damaged; left in the file and skipped.`,
  ];
}
