// A tape over any storage: it makes the entries, keeps the tree and writes the lines. Storage goes first, so
// that what could not be written is not in the tree either.

import type { SessionInfo } from '../../core/conversation.ts';
import { CrabError } from '../../core/errors.ts';
import type { Appended, Entry, EntryBody, PartialMessage, Tape, TapeHeader } from '../../core/tape.ts';
import type { Totals } from './entry.ts';
import { encodeLine } from './line.ts';
import type { Storage } from './storage.ts';
import type { EntryTree } from './tree.ts';

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

class StoredTape implements Tape {
  readonly header: TapeHeader;
  readonly notices: readonly string[];
  readonly #storage: Storage;
  readonly #tree: EntryTree;
  readonly #ids: () => string;
  readonly #now: () => number;
  /** Undefined once the header is written. */
  #unwritten: readonly EntryBody[] | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: TapeParts) {
    this.header = parts.header;
    this.notices = parts.notices;
    this.#storage = parts.storage;
    this.#tree = parts.tree;
    this.#ids = parts.ids;
    this.#now = parts.now;
    this.#unwritten = parts.unwritten;
  }

  get path(): string | undefined {
    return this.#storage.path;
  }

  get leafId(): string | null {
    return this.#tree.head;
  }

  info(): SessionInfo {
    const { name = nameIn(this.#unwritten), messages } = this.#tree.totals;
    const { id, cwd } = this.header;
    return { id, ...(this.path && { path: this.path }), ...(name !== undefined && { name }), cwd, messages };
  }

  branch(): readonly Entry[] {
    return this.#tree.branch();
  }

  append(bodies: readonly EntryBody[]): Appended {
    if (this.#closed !== undefined) {
      throw new CrabError('internal', `Session ${this.header.id} is closed; nothing can be appended to it.`);
    }
    if (bodies.length === 0) return { entries: [], synced: this.settled() };
    const first = this.#unwritten ?? [];
    const entries = this.#entriesOf([...first, ...bodies]);
    const synced = this.#storage.append(() => this.#encode(entries));
    this.#unwritten = undefined;
    for (const entry of entries) this.#tree.add(entry);
    if (entries.some(isAnswer)) this.#storage.dropPartial();
    return { entries: entries.slice(first.length), synced };
  }

  partial(message: PartialMessage): void {
    if (this.#closed === undefined) this.#storage.partial(message, this.#tree.lastAnswer);
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
    let head = this.#tree.head;
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
      if (targetId !== null && !made.has(targetId) && !this.#tree.has(targetId)) {
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
      if (!this.#tree.has(id)) return id;
    }
  }

  #encode(entries: readonly Entry[]): string {
    let { messages, name }: Totals = this.#tree.totals;
    let lines = this.#unwritten === undefined ? '' : encodeLine(this.header);
    for (const entry of entries) {
      if (entry.type === 'message') messages++;
      if (entry.type === 'session_info') name = entry.name;
      lines += encodeLine({ ...entry, session: { messages, name } satisfies Totals });
    }
    return lines;
  }
}

function isAnswer(entry: Entry): boolean {
  return entry.type === 'message' && entry.message.role === 'assistant';
}

function nameIn(bodies: readonly EntryBody[] | undefined): string | undefined {
  return bodies?.find((body) => body.type === 'session_info')?.name;
}
