// A tape over any storage: it makes the entries, keeps the tree and writes the lines. Storage goes first, so
// that what could not be written is not in the tree either.

import type { SessionInfo } from '../../core/conversation.ts';
import { CrabError } from '../../core/errors.ts';
import type { Appended, Entry, EntryBody, PartialMessage, Tape, TapeHeader } from '../../core/tape.ts';
import type { Totals } from './entry.ts';
import { encodeLine } from './line.ts';
import { sessionName } from './one-line.ts';
import { TreeReader } from './reader.ts';
import type { Storage } from './storage.ts';
import { type EntryTree, summaryOf } from './tree.ts';

export interface TapeParts {
  readonly header: TapeHeader;
  readonly storage: Storage;
  readonly tree: EntryTree;
  readonly ids: () => string;
  readonly now: () => number;
  readonly notices: readonly string[];
  /** Of a session that is not written yet: what goes before the first entries. */
  readonly unwritten?: readonly EntryBody[];
}

export function createTape(parts: TapeParts): Tape {
  return new StoredTape(parts);
}

class StoredTape extends TreeReader implements Tape {
  readonly #storage: Storage;
  readonly #ids: () => string;
  readonly #now: () => number;
  /** Undefined once the header is written. */
  #unwritten: readonly EntryBody[] | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: TapeParts) {
    const { header, notices, tree, storage } = parts;
    super({ header, notices, tree, path: storage.path, lines: () => storage.lines() });
    this.#storage = storage;
    this.#ids = parts.ids;
    this.#now = parts.now;
    this.#unwritten = parts.unwritten;
  }

  override info(): SessionInfo {
    const name = nameIn(this.#unwritten);
    return name === undefined ? super.info() : { ...super.info(), name };
  }

  append(bodies: readonly EntryBody[]): Appended {
    if (this.#closed !== undefined) {
      throw new CrabError('internal', `Session ${this.header.id} is closed; nothing can be appended to it.`);
    }
    if (bodies.length === 0) return { entries: [], synced: this.settled() };
    const first = this.#unwritten ?? [];
    const entries = this.#entriesOf([...first, ...bodies]);
    const header = this.#unwritten === undefined ? [] : [Buffer.from(encodeLine(this.header))];
    const lines = encodeEntries(entries, this.tree.totals);
    const { offset, synced } = this.#storage.append([...header, ...lines]);
    this.#unwritten = undefined;
    addAll(this.tree, entries, lines, offset + (header[0]?.length ?? 0));
    if (entries.some(isAnswer)) this.#storage.dropPartial();
    return { entries: entries.slice(first.length), synced };
  }

  partial(message: PartialMessage): void {
    if (this.#closed === undefined) this.#storage.partial(message, this.tree.lastAnswer);
  }

  settled(): Promise<void> {
    return this.#storage.settled();
  }

  close(): Promise<void> {
    this.#closed ??= this.#storage.close();
    return this.#closed;
  }

  #entriesOf(bodies: readonly EntryBody[]): readonly Entry[] {
    const timestamp = new Date(this.#now()).toISOString();
    const made = new Set<string>();
    let head = this.leafId;
    return bodies.map((body) => {
      const id = this.#newId();
      const { type, ...fields } = body;
      if (body.type !== 'leaf') {
        const entry = { type, id, parentId: head, timestamp, ...fields } as Entry;
        made.add(id);
        head = id;
        return entry;
      }
      const { targetId } = body;
      if (targetId !== null && !made.has(targetId) && !this.has(targetId)) {
        throw new CrabError('internal', `Session ${this.header.id} has no entry ${targetId} to go back to.`);
      }
      head = targetId;
      // Its parent is its target, so that a reader without leaf entries finds the same branch.
      return { type: 'leaf', id, parentId: targetId, timestamp, targetId };
    });
  }

  /** A clock and a random source that repeat themselves must not make one id twice. */
  #newId(): string {
    for (;;) {
      const id = this.#ids();
      if (!this.has(id)) return id;
    }
  }
}

/** The lines of entries that come next; each says what the session holds up to it. */
export function encodeEntries(entries: readonly Entry[], before: Totals): readonly Buffer[] {
  let { messages, name, summary } = before;
  return entries.map((entry) => {
    if (entry.type === 'message') messages++;
    if (entry.type === 'session_info') name = entry.name && sessionName(entry.name);
    if (entry.type === 'compaction') summary = summaryOf(entry) ?? summary;
    const session: Totals = { messages, name, summary };
    return Buffer.from(encodeLine({ ...entry, session }));
  });
}

/** Takes entries into the tree, whose lines follow one another from `offset` on. */
export function addAll(
  tree: EntryTree,
  entries: readonly Entry[],
  lines: readonly Buffer[],
  offset: number,
): void {
  let at = offset;
  for (const [number, entry] of entries.entries()) {
    const length = lines[number]?.length ?? 0;
    // Entries with ids of their own need no number of a line.
    tree.add(entry, { offset: at, length: length - 1, line: 0 });
    at += length;
  }
}

function isAnswer(entry: Entry): boolean {
  return entry.type === 'message' && entry.message.role === 'assistant';
}

function nameIn(bodies: readonly EntryBody[] | undefined): string | undefined {
  const named = bodies?.find((body) => body.type === 'session_info');
  return named && sessionName(named.name);
}
