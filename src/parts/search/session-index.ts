// What the index holds, as statements: a row a session with how far its file was read, a row a message with where it
// stands, and the words of both. Whoever writes does so in a transaction, since several processes share one database.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { words } from '../../core/words.ts';
import { SLOTS } from './database.ts';
import type { Columns } from './entry-text.ts';

/** A session as it is indexed. */
export interface IndexedSession {
  readonly id: number;
  readonly path: string;
  /** Empty for a file that is no session, or none that this version reads. */
  readonly session: string;
  readonly agent: string;
  readonly sender: string;
  readonly cwd: string;
  readonly title: string;
  /** How the first prompt begins. */
  readonly opening: string;
  readonly summary: string;
  readonly created: number;
  readonly updated: number;
  readonly messages: number;
  /** Everything before it was read. */
  readonly offset: number;
  /** The last bytes before `offset`: they hold the last line's checksum, and tell whether this is still that file. */
  readonly tail: Uint8Array;
  readonly size: number;
  readonly modified: number;
  readonly inode: number;
}

export interface IndexedMessage {
  readonly index: number;
  readonly at: number;
  readonly offset: number;
  readonly length: number;
  readonly columns: Columns;
}

/** What tells of a file whether it has to be looked into. */
export type FileState = Pick<IndexedSession, 'path' | 'size' | 'modified' | 'inode'>;

const FIELDS = [
  ...['id', 'path', 'session', 'agent', 'sender', 'cwd', 'title', 'opening', 'summary'],
  ...['created', 'updated', 'messages', 'offset', 'tail', 'size', 'modified', 'inode'],
] as const;

const QUOTED = FIELDS.map((field) => `"${field}"`).join(', ');

export class SessionIndex {
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  /** Prepared once, since preparing costs more than most statements. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.database.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  /** How many milliseconds a transaction waits for the one of another process; nothing else goes on meanwhile. */
  waitForOthers(milliseconds: number): void {
    this.database.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  }

  /** All of `change` or nothing; throws when another process goes on writing. */
  transaction<T>(change: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = change();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }

  files(): readonly FileState[] {
    return this.statement('SELECT path, size, modified, inode FROM sessions').all() as unknown as FileState[];
  }

  find(path: string): IndexedSession | undefined {
    const found = this.statement(`SELECT ${QUOTED} FROM sessions WHERE path = ?`).get(path);
    return found as unknown as IndexedSession | undefined;
  }

  /** `wanted`, or the next number that is free. */
  freeId(wanted: number): number {
    const taken = this.statement('SELECT 1 FROM sessions WHERE id = ?');
    let id = wanted;
    while (taken.get(id) !== undefined) id++;
    return id;
  }

  /** Takes the place of the row with the same id. Its words are renewed only where they changed. */
  putSession(session: IndexedSession, before: IndexedSession | undefined): void {
    const marks = FIELDS.map(() => '?').join(', ');
    this.statement(`INSERT OR REPLACE INTO sessions (${QUOTED}) VALUES (${marks})`).run(
      ...FIELDS.map((field) => session[field]),
    );
    const { title, summary } = session;
    if (title === (before?.title ?? '') && summary === (before?.summary ?? '')) return;
    const doc = session.id * SLOTS;
    this.#dropWords(doc);
    if (title !== '' || summary !== '') this.#addWords(doc, { title, summary });
  }

  /** In the order of their indexes, which is the order that FTS5 takes in fastest. */
  addMessages(id: number, messages: readonly IndexedMessage[]): void {
    const insert = this.statement('INSERT INTO messages (doc, at, "offset", length) VALUES (?, ?, ?, ?)');
    for (const { index, at, offset, length, columns } of messages) {
      const doc = id * SLOTS + index + 1;
      insert.run(doc, at, offset, length);
      this.#addWords(doc, columns);
    }
  }

  removeSession(id: number): void {
    const first = id * SLOTS;
    const range = [first, first + SLOTS - 1] as const;
    const rows = this.statement('SELECT doc FROM messages WHERE doc BETWEEN ? AND ?').all(...range);
    this.#dropWords(first);
    for (const { doc } of rows) this.#dropWords(Number(doc));
    this.statement('DELETE FROM messages WHERE doc BETWEEN ? AND ?').run(...range);
    this.statement('DELETE FROM sessions WHERE id = ?').run(id);
  }

  #addWords(doc: number, columns: Partial<Columns & { title: string; summary: string }>): void {
    const { summary = '', title = '', user = '', assistant = '', tool = '' } = columns;
    this.statement(
      'INSERT INTO words (rowid, summary, title, user, assistant, tool) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(doc, tokens(summary), tokens(title), tokens(user), tokens(assistant), tokens(tool));
  }

  #dropWords(doc: number): void {
    this.statement('DELETE FROM words WHERE rowid = ?').run(doc);
  }
}

function tokens(text: string): string {
  return text === '' ? '' : words(text).join(' ');
}
