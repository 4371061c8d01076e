// Finding sessions without opening them. A file is known by its name, its header and the last line's count of
// what came before it, so a list costs two short reads a session however long the sessions are.

import { promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { SessionInfo } from '../../core/conversation.ts';
import { CrabError, errnoOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { TapeHeader, Tapes } from '../../core/tape.ts';
import { readHeader, type Totals } from './entry.ts';
import { decodeLine, parseObject } from './line.ts';
import { type Holder, isHeld } from './lock.ts';
import { agentFolder, projectFolder, SESSION_SUFFIX, sessionsFolder } from './paths.ts';
import { storageError } from './sync-fs.ts';

export type Catalog = Pick<Tapes, 'find' | 'latest' | 'list'>;

export function createCatalog(home: string, self: () => Holder): Catalog {
  return {
    find: (id) => find(id, home),
    latest: async (agent, cwd) => {
      for (const file of await newestFirst(await filesIn(projectFolder(home, agent, cwd)))) {
        if (isHeld(file.path, self())) continue;
        const header = (await glance(file.path))?.header;
        if (header?.cwd === cwd) return file.path;
      }
      return undefined;
    },
    list: (filter = {}) => list(filter, home),
  };
}

const ID_PREFIX = /^[0-9A-Za-z]{1,100}$/;
const MOST_NAMED = 5;

async function find(id: string, home: string): Promise<string> {
  if (!ID_PREFIX.test(id)) {
    const shown = id === '' ? 'An empty text' : `“${id.slice(0, 100)}”`;
    throw new CrabError('session-id-invalid', `${shown} is no session id.`);
  }
  const prefix = id.toUpperCase();
  const files = await allFiles(sessionsFolder(home));
  const found = files.filter((path) => idOf(path).toUpperCase().startsWith(prefix));
  const [first] = found;
  if (first === undefined) throw new CrabError('session-unknown', `No session’s id begins with ${id}.`);
  if (found.length === 1) return first;
  const named = found.map(idOf).sort().slice(0, MOST_NAMED).join(', ');
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : '';
  throw new CrabError(
    'session-ambiguous',
    `${found.length} sessions’ ids begin with ${id}: ${named}${more}.`,
  );
}

async function list(filter: { agent?: string; cwd?: string }, home: string): Promise<readonly SessionInfo[]> {
  const { agent, cwd } = filter;
  const files = await (agent === undefined
    ? allFiles(sessionsFolder(home))
    : cwd === undefined
      ? agentFiles(agentFolder(home, agent))
      : filesIn(projectFolder(home, agent, cwd)));
  const newest = await newestFirst(files);
  const infos: SessionInfo[] = [];
  for (let at = 0; at < newest.length; at += READ_AT_ONCE) {
    const batch = newest.slice(at, at + READ_AT_ONCE).map(({ path }) => glance(path));
    for (const seen of await Promise.all(batch)) {
      if (seen === undefined || (cwd !== undefined && seen.header.cwd !== cwd)) continue;
      infos.push({ id: seen.header.id, path: seen.path, cwd: seen.header.cwd, ...seen.totals });
    }
  }
  return infos;
}

/** Sessions whose ends are in memory at one time. */
const READ_AT_ONCE = 32;

/** Bytes read of each end. A header holds a path of at most 4 KiB, mostly far less. */
const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 64 * 1024;

interface Glance {
  readonly path: string;
  readonly header: TapeHeader;
  readonly totals: Totals;
}

/** Undefined for what is no session, or none that this version reads. */
async function glance(path: string): Promise<Glance | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await fs.open(path, 'r');
    const { size } = await file.stat();
    const head = await readAt(file, 0, Math.min(size, HEAD_BYTES));
    const { header } = readHeader(head.subarray(0, head.indexOf('\n')), path);
    const from = Math.max(0, size - TAIL_BYTES);
    return { path, header, totals: totalsIn(await readAt(file, from, size - from)) };
  } catch (error) {
    if (error instanceof CrabError || errnoOf(error) !== undefined) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** As our own last line says; what others wrote behind it is counted as far as it is in `tail`. */
function totalsIn(tail: Buffer): Totals {
  let messages = 0;
  let name: string | undefined;
  let end = tail.lastIndexOf('\n');
  while (end > 0) {
    const start = tail.lastIndexOf('\n', end - 1) + 1;
    const line = tail.subarray(start, end);
    const own = ownTotals(line);
    if (own !== undefined) return { ...own, messages: own.messages + messages, ...(name && { name }) };
    const record = decodeLine(line);
    if (record?.['type'] === 'message') messages++;
    if (record?.['type'] === 'session_info' && typeof record['name'] === 'string') name ??= record['name'];
    end = start - 1;
  }
  return { messages, ...(name !== undefined && { name }) };
}

const TOTALS_KEY = ',"session":';

/** They stand at the end of the line, so they are found even where the line's start is not in `tail`. */
function ownTotals(line: Buffer): Totals | undefined {
  const at = line.lastIndexOf(TOTALS_KEY);
  if (at === -1) return undefined;
  const { session } = parseObject(`{${line.toString('utf8', at + 1)}`) ?? {};
  const { messages, name } = (session ?? {}) as JsonObject;
  if (typeof messages !== 'number') return undefined;
  return { messages, ...(typeof name === 'string' && { name }) };
}

function idOf(path: string): string {
  return basename(path, SESSION_SUFFIX);
}

async function newestFirst(paths: readonly string[]): Promise<readonly { path: string; modified: number }[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const info = await fs.stat(path).catch(() => undefined);
      return info?.isFile() ? [{ path, modified: info.mtimeMs }] : [];
    }),
  );
  const files = found.flat();
  // Ids sort by age, which decides between files of the same instant.
  return files.sort((a, b) => b.modified - a.modified || (a.path < b.path ? 1 : -1));
}

async function allFiles(sessions: string): Promise<readonly string[]> {
  const files = await Promise.all(
    (await namesIn(sessions)).map((agent) => agentFiles(join(sessions, agent))),
  );
  return files.flat();
}

async function agentFiles(agent: string): Promise<readonly string[]> {
  const files = await Promise.all((await namesIn(agent)).map((folder) => filesIn(join(agent, folder))));
  return files.flat();
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await namesIn(folder);
  return names.filter((name) => name.endsWith(SESSION_SUFFIX)).map((name) => join(folder, name));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw storageError(error, `list ${folder}`);
  }
}
