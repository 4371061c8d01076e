// The sessions of one home, and those of `--no-session`, which live as long as the process.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Address } from '../../core/conversation.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { createIds } from '../../core/ids.ts';
import {
  type EntryBody,
  type NewTape,
  TAPE_VERSION,
  type Tape,
  type TapeHeader,
  type Tapes,
} from '../../core/tape.ts';
import { DurableFolders } from './durable-folders.ts';
import { type FileContext, FileStorage } from './file-storage.ts';
import { createHeads, defaultHead, type Heads, requireSessionId } from './heads.ts';
import { type Holder, thisProcess } from './lock.ts';
import { projectFolder, SESSION_SUFFIX } from './paths.ts';
import { memoryStorage, type Storage } from './storage.ts';
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
export function createTapes(options: TapesOptions): Tapes & Heads {
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
  return {
    create: async (request) => {
      const header = headerFor(request, ids, clock);
      const path = join(projectFolder(home, request.agent, request.cwd), `${header.id}${SESSION_SUFFIX}`);
      if (existsSync(path)) {
        throw new CrabError('session-id-invalid', `Session ${header.id} exists already, as ${path}.`);
      }
      return newTape(header, request, new FileStorage(path, context), ids, clock);
    },
    // Most runs begin a session; what finds and reads old ones is loaded for those that do not.
    open: async (path) => (await import('./open-session.ts')).openSession(path, ids, context),
    find: async (id) => (await catalog()).find(id),
    latest: async (agent, cwd) => (await catalog()).latest(agent, cwd),
    list: async (filter) => (await catalog()).list(filter),
    ...createHeads({ home, clock, disk, self, folders }),
  };
}

/** Sessions that are written nowhere. */
export function createMemoryTapes({ clock, random }: Pick<TapesOptions, 'clock' | 'random'>): Tapes & Heads {
  const ids = createIds({ now: () => clock.now(), random });
  const heads = new Map<string, string>();
  const keyOf = ({ agent, sender }: Address) => JSON.stringify([agent, sender]);
  const unknown = async (what: string): Promise<never> => {
    throw new CrabError('session-unknown', `There is no session ${what}: sessions are not kept.`);
  };
  return {
    create: async (request) => newTape(headerFor(request, ids, clock), request, memoryStorage, ids, clock),
    open: unknown,
    find: unknown,
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
  const { agent, cwd, sender, id = ids() } = request;
  requireSessionId(id);
  const timestamp = new Date(clock.now()).toISOString();
  return { type: 'session', version: TAPE_VERSION, id, timestamp, cwd, agent, sender: sender(id) };
}

function newTape(
  header: TapeHeader,
  { name }: NewTape,
  storage: Storage,
  ids: () => string,
  clock: Clock,
): Tape {
  const unwritten: readonly EntryBody[] = name === undefined ? [] : [{ type: 'session_info', name }];
  return createTape({
    header,
    storage,
    tree: new EntryTree(),
    ids,
    now: () => clock.now(),
    notices: [],
    unwritten,
  });
}
