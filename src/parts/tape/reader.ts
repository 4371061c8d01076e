// A session as it can be read: the tree in memory, the entries where their lines are. An entry is read again each time
// somebody asks for it, since most are asked for once or never.

import type { SessionInfo } from '../../core/conversation.ts';
import { CrabError } from '../../core/errors.ts';
import type { BranchPart, Entry, Outline, TapeHeader, TapeReader } from '../../core/tape.ts';
import { entryOf } from './entry.ts';
import { decodeLine } from './line.ts';
import type { LineSource } from './storage.ts';
import type { EntryTree } from './tree.ts';

const UNREADABLE = 'crab.unreadable';

export interface ReaderParts {
  readonly header: TapeHeader;
  readonly tree: EntryTree;
  readonly notices: readonly string[];
  readonly path: string | undefined;
  readonly lines: () => LineSource;
}

export class TreeReader implements TapeReader {
  readonly header: TapeHeader;
  readonly notices: readonly string[];
  readonly tree: EntryTree;
  readonly #path: string | undefined;
  readonly #lines: () => LineSource;

  constructor(parts: ReaderParts) {
    this.header = parts.header;
    this.notices = parts.notices;
    this.tree = parts.tree;
    this.#path = parts.path;
    this.#lines = parts.lines;
  }

  get path(): string | undefined {
    return this.#path;
  }

  get leafId(): string | null {
    return this.tree.head;
  }

  info(): SessionInfo {
    const { name, messages } = this.tree.totals;
    const { id, cwd } = this.header;
    return { id, ...(this.path && { path: this.path }), ...(name !== undefined && { name }), cwd, messages };
  }

  has(id: string): boolean {
    return this.tree.has(id);
  }

  entry(id: string): Entry | undefined {
    const index = this.tree.indexOf(id);
    if (index === undefined) return undefined;
    const [entry] = this.#read([index]);
    return entry;
  }

  branch({ to, from, wanted }: BranchPart = {}): Iterable<Entry> {
    const part = { ...(to !== undefined && { to }), ...(from !== undefined && { from }) };
    return this.#iterate(() => this.tree.path(part), wanted);
  }

  ancestry(id?: string | null): Iterable<Outline> {
    return this.tree.ancestry(id);
  }

  *outlines(): Generator<Outline> {
    for (let index = 0; index < this.tree.size; index++) yield this.tree.outline(index);
  }

  entries(wanted?: (outline: Outline) => boolean): Iterable<Entry> {
    return this.#iterate(() => countTo(this.tree.size), wanted);
  }

  labels(): ReadonlyMap<string, string> {
    return this.tree.labels;
  }

  /** Each iteration begins anew. */
  #iterate(indices: () => Iterable<number>, wanted?: (outline: Outline) => boolean): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#read(indices(), wanted) };
  }

  *#read(indices: Iterable<number>, wanted?: (outline: Outline) => boolean): Generator<Entry> {
    const lines = this.#lines();
    try {
      for (const index of indices) {
        if (wanted !== undefined && !wanted(this.tree.outline(index))) continue;
        yield this.#entryAt(index, lines);
      }
    } finally {
      lines.close();
    }
  }

  #entryAt(index: number, lines: LineSource): Entry {
    const { offset, length, line } = this.tree.place(index);
    const { id, parentId } = this.tree.outline(index);
    const record = decodeLine(lines.read(offset, length));
    if (record === undefined) {
      throw new CrabError('session-damaged', `Entry ${id} of ${this.path} changed after it was read.`);
    }
    const entry = entryOf(record, { version: this.header.version, line, head: parentId });
    // What has the form of an entry and not its fields still holds up what hangs from it.
    if (entry === undefined)
      return { type: 'custom', customType: UNREADABLE, data: null, id, parentId, timestamp: '' };
    return this.tree.mended(index, entry);
  }
}

function* countTo(end: number): Generator<number> {
  for (let at = 0; at < end; at++) yield at;
}
