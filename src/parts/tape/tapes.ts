// The sessions of one home, and those of `--no-session`, which live as long as the process.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Address } from '../../core/conversation.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { createIds } from '../../core/ids.ts';
import {
  type Entry,
  type EntryBody,
  type ListWatch,
  type NewTape,
  type SessionFilter,
  TAPE_VERSION,
  type Tape,
  type TapeCopy,
  type TapeHeader,
  type Tapes,
} from '../../core/tape.ts';
import { DurableFolders } from './durable-folders.ts';
import { type FileContext, FileStorage } from './file-storage.ts';
import { createHeads, defaultHead, requireSessionId } from './heads.ts';
import { type Holder, isHeld, thisProcess } from './lock.ts';
import { projectFolder, SESSION_SUFFIX } from './paths.ts';
import { createMemoryStorage, type Storage } from './storage.ts';
import { nodeSyncFs, type SyncFs } from './sync-fs.ts';
import { createTape } from './tape.ts';
import { EntryTree } from './tree.ts';

export interface TapesOptions {
  /** Crab's home, absolute. */
  readonly home: string;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly disk?: SyncFs;
  /** Who this process is in locks. */
  readonly self?: Holder;
  /** Told of every file that something was written to. It must not throw, and everything waits for it. */
  readonly appended?: (path: string) => void;
}

/** Sessions in files under `home`, and the heads of conversations beside them. */
export function createTapes(options: TapesOptions): Tapes {
  const { home, clock, random, disk = nodeSyncFs } = options;
  let known = options.self;
  const self = () => {
    known ??= thisProcess();
    return known;
  };
  const folders = new DurableFolders(home, disk);
  const ids = createIds({ now: () => clock.now(), random });
  const context: FileContext = { disk, clock, self, folders, appended: options.appended };
  const catalog = async () => (await import('./catalog.ts')).createCatalog(home, self);
  const place = (header: TapeHeader, { agent, cwd }: NewTape) => {
    const path = join(projectFolder(home, agent, cwd), `${header.id}${SESSION_SUFFIX}`);
    if (!existsSync(path)) return path;
    throw new CrabError('session-id-invalid', `Session ${header.id} exists already, as ${path}.`);
  };
  return {
    create: async (request) => {
      const header = headerFor(request, ids, clock);
      return newTape(header, request, new FileStorage(place(header, request), context), ids, clock);
    },
    // Most runs begin a session; what finds, reads and copies old ones is loaded for those that do not.
    copy: async (request) => {
      const { writeSession } = await import('./write-session.ts');
      const header = copyHeader(request, ids, clock);
      const entries = entriesOf(request, ids, header.timestamp);
      const written = await writeSession(place(header, request), { header, entries }, context);
      return createTape({ header, ...written, ids, now: () => clock.now(), notices: [] });
    },
    open: async (path) => (await import('./open-session.ts')).openSession(path, ids, context),
    read: async (path) => (await import('./open-session.ts')).readSession(path),
    find: async (text, filter) => (await catalog()).find(text, filter),
    meta: async (path) => (await catalog()).meta(path),
    paths: async () => (await catalog()).paths(),
    verify: async (path) => (await import('./verify.ts')).verifySession(path, isHeld(path, self())),
    repair: async (path, cwd) => (await import('./repair.ts')).repairSession(path, cwd, context),
    discard: async (path) => (await import('./trash.ts')).discardSession(path, home, context),
    restore: async (path) => (await import('./trash.ts')).restoreSession(path, home, context),
    latest: async (agent, cwd) => (await catalog()).latest(agent, cwd),
    list: async (filter?: SessionFilter, watch?: ListWatch) => (await catalog()).list(filter, watch),
    ...createHeads({ home, clock, disk, self, folders }),
  };
}

/** Sessions that are written nowhere. */
export function createMemoryTapes({ clock, random }: Pick<TapesOptions, 'clock' | 'random'>): Tapes {
  const ids = createIds({ now: () => clock.now(), random });
  const heads = new Map<string, string>();
  const keyOf = ({ agent, sender }: Address) => JSON.stringify([agent, sender]);
  const unknown = async (what: string): Promise<never> => {
    throw new CrabError('session-unknown', `There is no session ${what}: sessions are not kept.`);
  };
  return {
    create: async (request) =>
      newTape(headerFor(request, ids, clock), request, createMemoryStorage(), ids, clock),
    copy: async (request) => {
      const { sessionLines } = await import('./write-session.ts');
      const header = copyHeader(request, ids, clock);
      const storage = createMemoryStorage();
      const entries = entriesOf(request, ids, header.timestamp);
      const tree = new EntryTree();
      for (const line of sessionLines({ header, entries }, tree)) storage.append([line]);
      return createTape({ header, storage, tree, ids, now: () => clock.now(), notices: [] });
    },
    open: unknown,
    read: unknown,
    find: unknown,
    meta: unknown,
    paths: async () => [],
    verify: unknown,
    repair: unknown,
    discard: unknown,
    restore: unknown,
    latest: async () => undefined,
    list: async () => [],
    head: async (address) => heads.get(keyOf(address)) ?? defaultHead(address),
    moveHead: async (address, sessionId) => {
      requireSessionId(sessionId);
      heads.set(keyOf(address), sessionId);
    },
  };
}

function headerFor(request: NewTape, ids: () => string, clock: Clock): TapeHeader {
  const { agent, cwd, sender, id = ids(), parentSession } = request;
  requireSessionId(id);
  const timestamp = new Date(clock.now()).toISOString();
  return {
    ...{ type: 'session', version: TAPE_VERSION, id, timestamp, cwd, agent, sender: sender(id) },
    ...(parentSession !== undefined && { parentSession }),
  };
}

function copyHeader(request: TapeCopy, ids: () => string, clock: Clock): TapeHeader {
  const { origin, timestamp } = request;
  return {
    ...headerFor(request, ids, clock),
    ...(timestamp !== undefined && { timestamp }),
    ...(origin !== undefined && { origin }),
  };
}

function newTape(
  header: TapeHeader,
  { name }: NewTape,
  storage: Storage,
  ids: () => string,
  clock: Clock,
): Tape {
  const unwritten: readonly EntryBody[] = name === undefined ? [] : [{ type: 'session_info', name }];
  const tree = new EntryTree();
  return createTape({ header, storage, tree, ids, now: () => clock.now(), notices: [], unwritten });
}

/** The entries of a copy, and behind them its labels and its name. */
function* entriesOf(request: TapeCopy, ids: () => string, timestamp: string): Generator<Entry> {
  let parentId: string | null = null;
  for (const entry of request.entries) {
    parentId = entry.type === 'leaf' ? entry.targetId : entry.id;
    yield entry;
  }
  const bodies: EntryBody[] = [];
  for (const [targetId, label] of request.labels ?? [])
    bodies.push({ type: 'label', targetId, label: label === '' ? undefined : label });
  if (request.name !== undefined) bodies.push({ type: 'session_info', name: request.name });
  for (const { type, ...fields } of bodies) {
    const id = ids();
    yield { type, id, parentId, timestamp, ...fields } as Entry;
    parentId = id;
  }
}
