// One session file taken into the index: from where it was left, or from its start when it is not the file that it was.
// What was read and how far are one transaction, so that a process that dies in between has read nothing.

import type { Stats } from 'node:fs';
import { ULID_PATTERN, timeOf as ulidTime } from '../../core/ids.ts';
import type { JsonObject } from '../../core/schema.ts';
import { TAPE_VERSION } from '../../core/tape.ts';
import { SLOTS } from './database.ts';
import { columnsOf, isObject, type Spoken, spokenIn, timeOf } from './entry-text.ts';
import type { IndexedMessage, IndexedSession, SessionIndex } from './session-index.ts';
import { SessionFile, type SessionLine } from './session-lines.ts';

/** Bytes of a file that one transaction takes in. */
const STEP_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 64;
const MAX_TITLE = 500;
const MAX_SUMMARY = 16 * 1024;

/** Whether the file is read to its end. Belongs into a transaction. Throws what `fs` and SQLite throw. */
export function readSession(index: SessionIndex, path: string): boolean {
  const file = new SessionFile(path);
  try {
    const before = index.find(path);
    const isSame = before !== undefined && before.session !== '' && isStill(before, file);
    if (before !== undefined && !isSame) index.removeSession(before.id);
    const start = isSame ? before : opened(index, path, file);
    const reading = new Reading(start);
    if (start.session !== '') {
      const until = start.offset + STEP_BYTES;
      for (const line of file.lines(start.offset, until)) reading.take(line);
    }
    const session = reading.finish(file);
    index.putSession(session, isSame ? before : undefined);
    index.addMessages(session.id, reading.messages);
    return session.size === file.stats.size;
  } finally {
    file.close();
  }
}

function isStill({ inode, offset, tail }: IndexedSession, file: SessionFile): boolean {
  if (file.stats.ino !== inode || file.stats.size < offset) return false;
  return file.read(offset - tail.length, tail.length).equals(tail);
}

/** A session of which only the header is known; of what is no session that we read, not even that. */
function opened(index: SessionIndex, path: string, file: SessionFile): IndexedSession {
  const [line] = file.lines(0, 1);
  const header = line?.bytes === undefined ? undefined : headerIn(line.bytes);
  const session = header === undefined ? '' : String(header['id']);
  const created = timeOf(header?.['timestamp']) ?? Math.round(file.stats.mtimeMs);
  return {
    id: index.freeId(firstId(session, created)),
    path,
    session,
    agent: textOf(header?.['agent']),
    sender: textOf(header?.['sender']),
    cwd: textOf(header?.['cwd']),
    title: '',
    opening: '',
    summary: '',
    created,
    updated: created,
    messages: 0,
    offset: session === '' || line === undefined ? 0 : line.end,
    tail: new Uint8Array(),
    ...stateOf(file.stats),
  };
}

/** 2020-01-01. */
const EPOCH_SECONDS = 1_577_836_800;
const MAX_ID = 2 ** 32 - 1;

/** Ids sort as sessions age, so that FTS5 finds the newest first when there is too much. */
function firstId(session: string, created: number): number {
  const time = ULID_PATTERN.test(session) ? ulidTime(session) : created;
  return Math.min(Math.max(1, Math.floor(time / 1000) - EPOCH_SECONDS), MAX_ID - 2 ** 20);
}

function headerIn(bytes: Buffer): JsonObject | undefined {
  const record = recordIn(bytes);
  if (record?.['type'] !== 'session' || typeof record['id'] !== 'string' || record['id'] === '')
    return undefined;
  const { version = 1 } = record;
  return typeof version === 'number' && version <= TAPE_VERSION ? record : undefined;
}

function stateOf({ size, mtimeMs, ino }: Stats): Pick<IndexedSession, 'size' | 'modified' | 'inode'> {
  return { size, modified: mtimeMs, inode: ino };
}

/** A session while lines are added to it. */
class Reading {
  readonly messages: IndexedMessage[] = [];
  readonly #start: IndexedSession;
  #offset: number;
  #title: string;
  #opening: string;
  #summary: string;
  #updated: number;

  constructor(start: IndexedSession) {
    this.#start = start;
    this.#offset = start.offset;
    this.#title = start.title;
    this.#opening = start.opening;
    this.#summary = start.summary;
    this.#updated = start.updated;
  }

  take({ bytes, offset, end }: SessionLine): void {
    this.#offset = end;
    if (bytes === undefined || !mayMatter(bytes)) return;
    const entry = recordIn(bytes);
    if (entry === undefined) return;
    const spoken = spokenIn(entry);
    if (spoken === undefined) this.#takeFact(entry);
    else this.#takeMessage(spoken, offset, bytes.length);
  }

  /** The row that says how far the file was read. */
  finish(file: SessionFile): IndexedSession {
    const { stats } = file;
    const isRead = this.#start.session === '' || file.isAtEnd;
    const tailLength = Math.min(TAIL_BYTES, this.#offset);
    return {
      ...this.#start,
      title: this.#title,
      opening: this.#opening,
      summary: this.#summary,
      updated: this.#updated,
      messages: this.#start.messages + this.messages.length,
      offset: this.#offset,
      tail: file.read(this.#offset - tailLength, tailLength),
      ...stateOf(stats),
      // A size that is not the file's own says that there is more to read.
      ...(!isRead && { size: this.#offset }),
    };
  }

  #takeMessage(spoken: Spoken, offset: number, length: number): void {
    const index = this.#start.messages + this.messages.length;
    if (index + 1 >= SLOTS) return;
    this.messages.push({ index, at: spoken.at, offset, length, columns: columnsOf(spoken) });
    this.#updated = Math.max(this.#updated, spoken.at);
    if (this.#opening === '' && spoken.role === 'user') this.#opening = oneLine(spoken.text);
  }

  #takeFact(entry: JsonObject): void {
    const { type, name, summary } = entry;
    if (type === 'session_info') this.#title = oneLine(textOf(name));
    else if (type === 'compaction') this.#summary = textOf(summary).slice(0, MAX_SUMMARY);
    else if (type === 'branch_summary')
      this.#summary = `${this.#summary}\n${textOf(summary)}`.trimStart().slice(-MAX_SUMMARY);
  }
}

const TYPE = /^\{"type":"([a-z_]+)"/;
const MATTERS = new Set(['message', 'session_info', 'compaction', 'branch_summary']);

/** Most lines say first what they are, and what a line of another kind holds may be long. */
function mayMatter(bytes: Buffer): boolean {
  const type = TYPE.exec(bytes.toString('latin1', 0, 64))?.[1];
  return type === undefined || MATTERS.has(type);
}

/** Undefined for what is no JSON object: damaged lines are the tape's affair. */
export function recordIn(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ').slice(0, MAX_TITLE).toWellFormed();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
