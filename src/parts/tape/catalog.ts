// Finding sessions without opening them. A file is known by its name, its header and the last line's count of
// what came before it, so a list costs two short reads a session however long the sessions are.

import { existsSync, promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { CrabError, errnoOf } from '../../core/errors.ts';
import { messageText } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { ListWatch, SessionFilter, SessionMeta, TapeHeader, Tapes } from '../../core/tape.ts';
import { isMessage, readHeader, type Totals } from './entry.ts';
import { decodeLine, parseObject } from './line.ts';
import { type Holder, isHeld } from './lock.ts';
import { oneLine, sessionName } from './one-line.ts';
import {
  agentFolder,
  projectFolder,
  projectName,
  SESSION_SUFFIX,
  sessionIdOf,
  sessionsFolder,
  trashFolder,
} from './paths.ts';
import { storageError } from './sync-fs.ts';

export type Catalog = Pick<Tapes, 'find' | 'latest' | 'list' | 'meta' | 'paths'>;

export function createCatalog(home: string, self: () => Holder): Catalog {
  return {
    find: (text, filter) => find(text, rootOf(home, filter)),
    latest: async (agent, cwd) => {
      for (const file of await newestFirst(await filesIn(projectFolder(home, agent, cwd)))) {
        if (isHeld(file.path, self())) continue;
        const header = (await glance(file.path))?.header;
        if (header?.cwd === cwd) return file.path;
      }
      return undefined;
    },
    list: (filter = {}, watch = {}) => list(filter, home, watch),
    paths: () => allFiles(sessionsFolder(home)),
    meta: async (path) => {
      const seen = await glance(path);
      if (seen !== undefined) return await metaOf(seen);
      if (!existsSync(path)) throw new CrabError('session-unknown', `There is no session file ${path}.`);
      throw new CrabError('session-damaged', `${path} is no session, or none that can be read.`);
    },
  };
}

const ID_PREFIX = /^[0-9A-Za-z]{1,100}$/;
/** What a name cannot be: empty, a path, or longer than a line. */
const NO_NAME = /^$|[\p{Cc}/\\]|^\.+$|^.{101}/u;
const MOST_NAMED = 5;

function rootOf(home: string, filter: Pick<SessionFilter, 'discarded'> = {}): string {
  return filter.discarded === true ? trashFolder(home) : sessionsFolder(home);
}

async function find(text: string, root: string): Promise<string> {
  if (NO_NAME.test(text)) {
    const shown = text === '' ? 'An empty text' : `“${text.slice(0, 100)}”`;
    throw new CrabError('session-id-invalid', `${shown} is no session id.`);
  }
  const files = await allFiles(root);
  const prefix = text.toUpperCase();
  const byId = files.filter(
    (path) => ID_PREFIX.test(text) && sessionIdOf(path).toUpperCase().startsWith(prefix),
  );
  if (byId.length > 0) return onlyOne(byId, `sessions’ ids begin with ${text}`);
  const byName: string[] = [];
  for await (const { path, totals } of glances(files)) if (totals.name === text) byName.push(path);
  if (byName.length > 0) return onlyOne(byName, `sessions are called ${text}`);
  throw new CrabError('session-unknown', `No session’s id begins with ${text}, and none is called so.`);
}

function onlyOne(found: readonly string[], what: string): string {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const ids = found.map(sessionIdOf).sort().slice(0, MOST_NAMED).join(', ');
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : '';
  throw new CrabError('session-ambiguous', `${found.length} ${what}: ${ids}${more}.`);
}

async function list(filter: SessionFilter, home: string, watch: ListWatch): Promise<readonly SessionMeta[]> {
  const { cwd, offset = 0, limit = Number.POSITIVE_INFINITY } = filter;
  watch.signal?.throwIfAborted();
  const files = await filesFor(filter, home);
  const newest = await newestFirst(files, watch.signal);
  const found: SessionMeta[] = [];
  let passed = 0;
  if (limit <= 0) return found;
  for await (const seen of glances(
    newest.map(({ path }) => path),
    watch,
  )) {
    if (cwd !== undefined && seen.header.cwd !== cwd) continue;
    if (passed++ < offset) continue;
    found.push(await metaOf(seen));
    if (found.length >= limit) break;
  }
  return found;
}

/** Where a folder is named, only what lies where its sessions are kept is looked at. */
async function filesFor(filter: SessionFilter, home: string): Promise<readonly string[]> {
  const { agent, cwd } = filter;
  const root = rootOf(home, filter);
  const agents =
    agent === undefined ? await agentFolders(root) : [join(root, basename(agentFolder(home, agent)))];
  const files = await Promise.all(
    agents.map((folder) =>
      cwd === undefined ? agentFiles(folder) : filesIn(join(folder, projectName(cwd))),
    ),
  );
  return files.flat();
}

async function metaOf({ path, header, totals, modified, start }: Glance): Promise<SessionMeta> {
  const { id, cwd, agent, sender, timestamp, origin } = header;
  const created = Date.parse(timestamp);
  const { messages, name, summary } = totals;
  const firstPrompt = promptIn(start) ?? (messages === 0 ? undefined : promptIn(await startOf(path)));
  return {
    id,
    path,
    ...(name !== undefined && { name }),
    cwd,
    messages,
    ...(agent !== undefined && { agent }),
    ...(sender !== undefined && { sender }),
    created: Number.isNaN(created) ? modified : created,
    updated: modified,
    ...(summary !== undefined && { summary }),
    ...(firstPrompt !== undefined && { firstPrompt }),
    ...(origin !== undefined && { origin }),
  };
}

/** In the order of `paths`, without those that are no sessions. */
async function* glances(
  paths: readonly string[],
  { onProgress, signal }: ListWatch = {},
): AsyncGenerator<Glance> {
  for (let at = 0; at < paths.length; at += READ_AT_ONCE) {
    signal?.throwIfAborted();
    const batch = paths.slice(at, at + READ_AT_ONCE);
    const seen = await Promise.all(batch.map((path) => glance(path)));
    onProgress?.(at + batch.length, paths.length);
    for (const one of seen) if (one !== undefined) yield one;
  }
}

/** Sessions whose ends are in memory at one time. */
const READ_AT_ONCE = 32;
const STAT_AT_ONCE = 256;

/** Bytes read of each end. A header holds a path of at most 4 KiB, mostly far less. */
const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 64 * 1024;

interface Glance {
  readonly path: string;
  readonly header: TapeHeader;
  readonly totals: Totals;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** What the file begins with. */
  readonly start: Buffer;
}

/** Undefined for what is no session, or none that this version reads. */
async function glance(path: string): Promise<Glance | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await fs.open(path, 'r');
    const { size, mtimeMs: modified } = await file.stat();
    const head = await readAt(file, 0, Math.min(size, HEAD_BYTES));
    const { header } = readHeader(head.subarray(0, head.indexOf('\n')), path);
    const from = Math.max(0, size - TAIL_BYTES);
    return { path, header, totals: totalsIn(await readAt(file, from, size - from)), modified, start: head };
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

/** What was said first, where the instructions before it are longer than most. */
const START_BYTES = 256 * 1024;
const PROMPT_LENGTH = 60;

async function startOf(path: string): Promise<Buffer> {
  const file = await fs.open(path, 'r').catch(() => undefined);
  try {
    return file === undefined ? Buffer.alloc(0) : await readAt(file, 0, START_BYTES);
  } finally {
    await file?.close();
  }
}

/** In a line and shortened; undefined when no prompt ends in `start`. */
function promptIn(start: Buffer): string | undefined {
  for (let at = 0, end = start.indexOf('\n'); end !== -1; at = end + 1, end = start.indexOf('\n', at)) {
    const record = decodeLine(start.subarray(at, end));
    if (record?.['type'] !== 'message' || !isMessage(record['message'])) continue;
    const { message } = record;
    const text = message.role === 'user' ? oneLine(messageText(message), PROMPT_LENGTH) : '';
    if (text !== '') return text;
  }
  return undefined;
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
    if (record?.['type'] === 'session_info' && typeof record['name'] === 'string')
      name ??= sessionName(record['name']);
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
  const { messages, name, summary } = (session ?? {}) as JsonObject;
  if (typeof messages !== 'number') return undefined;
  return {
    messages,
    ...(typeof name === 'string' && { name }),
    ...(typeof summary === 'string' && { summary }),
  };
}

interface Dated {
  readonly path: string;
  readonly modified: number;
}

async function newestFirst(paths: readonly string[], signal?: AbortSignal): Promise<readonly Dated[]> {
  const files: Dated[] = [];
  for (let at = 0; at < paths.length; at += STAT_AT_ONCE) {
    signal?.throwIfAborted();
    const batch = paths.slice(at, at + STAT_AT_ONCE);
    const infos = await Promise.all(batch.map((path) => fs.stat(path).catch(() => undefined)));
    for (const [index, path] of batch.entries()) {
      const info = infos[index];
      if (info?.isFile()) files.push({ path, modified: info.mtimeMs });
    }
  }
  // Ids sort by age, which decides between files of the same instant.
  return files.sort((a, b) => b.modified - a.modified || (a.path < b.path ? 1 : -1));
}

async function allFiles(sessions: string): Promise<readonly string[]> {
  const files = await Promise.all((await agentFolders(sessions)).map(agentFiles));
  return files.flat();
}

async function agentFolders(sessions: string): Promise<readonly string[]> {
  // A folder that begins with a dot is no agent's: `.trash` lies there, too.
  const agents = (await namesIn(sessions)).filter((name) => !name.startsWith('.'));
  return agents.map((agent) => join(sessions, agent));
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
