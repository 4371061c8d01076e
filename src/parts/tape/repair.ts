// Makes a damaged session sound: its good entries, in a file that takes the old one's name once it is durable. What the old
// one held is copied beside it first, whole, so that nothing is lost but the order of things.

import { dirname } from 'node:path';

import { CrabError } from '../../core/errors.ts';
import { timeOf, ULID_PATTERN } from '../../core/ids.ts';
import { type Repair, TAPE_VERSION, type TapeHeader } from '../../core/tape.ts';
import { fileLines } from './file-lines.ts';
import type { FileContext } from './file-storage.ts';
import { loadSession } from './load.ts';
import { acquireLock } from './lock.ts';
import { regularFile } from './open-session.ts';
import { sessionIdOf } from './paths.ts';
import { TreeReader } from './reader.ts';
import { storageError } from './sync-fs.ts';
import { copyBeside, setTailAside } from './torn-tail.ts';
import { verifySession } from './verify.ts';
import { writeTemporary } from './write-session.ts';

/** `cwd` goes into a header that has to be made anew. Throws `session-damaged` for what holds no entry. */
export async function repairSession(path: string, cwd: string, context: FileContext): Promise<Repair> {
  const file = regularFile(path);
  const lock = acquireLock(file, context.self(), context.disk);
  try {
    return await repairLocked(file, cwd, context);
  } finally {
    lock.release();
  }
}

async function repairLocked(path: string, cwd: string, context: FileContext): Promise<Repair> {
  const { disk, clock } = context;
  const { faults, findings } = await verifySession(path, false);
  const loaded = await loadSession(path, headerFor(path, cwd, clock.now()));
  const { tree, header, goodLength, damaged, trailing } = loaded;
  if (faults === 0) return { did: 'nothing', entries: tree.size, lost: [] };
  if (tree.size === 0) {
    throw new CrabError('session-damaged', `${path} cannot be repaired: it holds no entry that can be read.`);
  }
  const isTailOnly = faults === 1 && findings[0]?.fault === 'torn';
  if (isTailOnly) {
    const kept = await setTailAside(path, goodLength, clock.now(), disk);
    return { did: 'tail', kept, entries: tree.size, lost: [] };
  }
  try {
    const kept = await copyBeside(path, 0, 'damaged', clock.now(), disk);
    const reader = new TreeReader({ header, tree, notices: [], path, lines: () => fileLines(path) });
    const whole = { header: { ...header, version: TAPE_VERSION }, entries: reader.entries() };
    const { temporary } = await writeTemporary(path, whole, context);
    disk.rename(temporary, path);
    await disk.fsyncDir(dirname(path));
    return { did: 'rewritten', kept, entries: tree.size, lost: [...damaged, ...trailing] };
  } catch (error) {
    throw storageError(error, `repair ${path}`);
  }
}

/** For a file whose first line is lost: its name still says which session it is. */
function headerFor(path: string, cwd: string, now: number): TapeHeader {
  const id = sessionIdOf(path);
  const time = ULID_PATTERN.test(id) ? timeOf(id) : now;
  return { type: 'session', version: TAPE_VERSION, id, timestamp: new Date(time).toISOString(), cwd };
}
