// Which session a conversation is at: one small file for each pair that is not at its default, replaced in
// one step. A client of its own, `cli:<session id>`, has that session by default, so starting one writes
// nothing that others read.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Address } from '../../core/conversation.ts';
import { CrabError, errnoOf } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { ULID_PATTERN } from '../../core/ids.ts';
import type { Tapes } from '../../core/tape.ts';
import type { DurableFolders } from './durable-folders.ts';
import { decodeLine, encodeLine } from './line.ts';
import { type Holder, lockWhenFree } from './lock.ts';
import { agentFolder, FILE_MODE, safeName } from './paths.ts';
import { type SyncFs, storageError, unlinkIfThere, writeWhole } from './sync-fs.ts';

export type Heads = Pick<Tapes, 'head' | 'moveHead'>;

/** Milliseconds: a head is held for one short step, so waiting is better than failing. */
const WAIT_MS = 3000;

export interface HeadsContext {
  readonly home: string;
  readonly clock: Clock;
  readonly disk: SyncFs;
  readonly self: () => Holder;
  readonly folders: DurableFolders;
}

export function createHeads(context: HeadsContext): Heads {
  return {
    head: async (address) => readHead(headPath(context.home, address)) ?? defaultHead(address),
    moveHead: (address, sessionId) => moveHead(address, sessionId, context),
  };
}

const OWN_CLIENT = /^[a-z]+:(?<session>[0-9A-Z]{26})$/;

/** The session that a sender is named after. */
export function defaultHead({ sender }: Address): string | undefined {
  const id = OWN_CLIENT.exec(sender)?.groups?.['session'];
  return id !== undefined && ULID_PATTERN.test(id) ? id : undefined;
}

export function requireSessionId(id: string): void {
  if (!ULID_PATTERN.test(id))
    throw new CrabError('session-id-invalid', `“${id.slice(0, 100)}” is no session id.`);
}

async function moveHead(address: Address, sessionId: string, context: HeadsContext): Promise<void> {
  requireSessionId(sessionId);
  const path = headPath(context.home, address);
  if ((readHead(path) ?? defaultHead(address)) === sessionId) return;
  try {
    context.folders.make(dirname(path));
    const lock = await lockWhenFree(path, { ...context, self: context.self(), waitMs: WAIT_MS });
    try {
      await replace(path, encodeLine({ type: 'head', ...address, id: sessionId }), context.disk);
    } finally {
      lock.release();
    }
    await context.folders.sync(dirname(path));
  } catch (error) {
    throw storageError(error, `write ${path}`);
  }
}

function headPath(home: string, { agent, sender }: Address): string {
  return join(agentFolder(home, agent), 'heads', safeName(sender));
}

function readHead(path: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw storageError(error, `read ${path}`);
  }
  const id = decodeLine(bytes.subarray(0, -1))?.['id'];
  if (typeof id === 'string' && ULID_PATTERN.test(id)) return id;
  throw new CrabError('session-damaged', `${path} does not name a session: its content is damaged.`, {
    hint: 'Remove the file; the sessions themselves are kept, and --resume opens them.',
  });
}

/** Temporary file, sync, rename; the folder's sync is the caller's. Under the lock the name is ours. */
async function replace(path: string, content: string, disk: SyncFs): Promise<void> {
  const temporary = `${path}.new`;
  unlinkIfThere(disk, temporary);
  const fd = disk.open(temporary, 'ax', FILE_MODE);
  try {
    writeWhole(disk, fd, Buffer.from(content), temporary);
    await disk.fdatasync(fd);
  } finally {
    disk.close(fd);
  }
  disk.rename(temporary, path);
}
