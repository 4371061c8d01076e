// The entries of one session as a tree with a head: of each its id, its parent, what kind it is and where its line
// stands, and never the line itself, so that memory follows the number of entries and not what they hold. Columns
// in place of an object for each: a session may have a million of them.

import type { BranchPart, Entry, Outline } from '../../core/tape.ts';
import type { Totals } from './entry.ts';
import { sessionName } from './one-line.ts';

/** Where an entry's line stands: bytes from the start of the file, its length without the newline. */
export interface Place {
  readonly offset: number;
  readonly length: number;
  /** Counted from 1; what an entry of version 1 takes its id from. */
  readonly line: number;
}

interface Kind {
  readonly type: string;
  readonly detail: string;
}

const NONE = -1;
/** As `firstSentence` of whoever wrote the compaction, cut again where that was somebody else. */
const SUMMARY_LENGTH = 60;

export class EntryTree {
  readonly #index = new Map<string, number>();
  readonly #ids: string[] = [];
  /** Always smaller than the entry's own index, so that no way up is a circle. */
  readonly #parents: number[] = [];
  readonly #kinds: number[] = [];
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #lines: number[] = [];
  readonly #kindTable: Kind[] = [];
  readonly #kindIndex = new Map<string, number>();
  /** Where leaf entries lead. */
  readonly #targets = new Map<number, number>();
  /** Parents whose lines are damaged, and the entry that takes their place. */
  readonly #lost = new Map<string, number>();
  readonly #labels = new Map<string, string>();
  #head = NONE;
  #messages = 0;
  #name: string | undefined;
  #summary: string | undefined;
  #lastAnswer = NONE;

  get size(): number {
    return this.#ids.length;
  }

  get head(): string | null {
    return this.#idAt(this.#head);
  }

  /** The last assistant message in the order of writing, on whatever branch. */
  get lastAnswer(): string | null {
    return this.#idAt(this.#lastAnswer);
  }

  get totals(): Totals {
    return {
      messages: this.#messages,
      ...(this.#name !== undefined && { name: this.#name }),
      ...(this.#summary !== undefined && { summary: this.#summary }),
    };
  }

  get labels(): ReadonlyMap<string, string> {
    return this.#labels;
  }

  has(id: string): boolean {
    return this.#index.has(id);
  }

  indexOf(id: string): number | undefined {
    return this.#index.get(id);
  }

  place(index: number): Place {
    return {
      offset: this.#offsets[index] ?? 0,
      length: this.#lengths[index] ?? 0,
      line: this.#lines[index] ?? 0,
    };
  }

  outline(index: number): Outline {
    const { type, detail } = this.#kindTable[this.#kinds[index] ?? 0] ?? { type: '', detail: '' };
    return { id: this.#ids[index] ?? '', parentId: this.#idAt(this.#parents[index] ?? NONE), type, detail };
  }

  /** The entry as it stands in the tree: a parent or a target that is damaged gave its place to another. */
  mended(index: number, entry: Entry): Entry {
    const parentId = this.#idAt(this.#parents[index] ?? NONE);
    if (entry.type === 'leaf') {
      return { ...entry, parentId, targetId: this.#idAt(this.#targets.get(index) ?? NONE) };
    }
    return entry.parentId === parentId ? entry : { ...entry, parentId };
  }

  /**
   * Takes the next entry of a file. One whose parent is missing hangs from the head instead, so that a damaged line
   * costs that line and not the branch behind it. `entry` is needed of the types that say something of the session.
   */
  addRead(outline: Outline, place: Place, entry?: Entry): void {
    const target = entry?.type === 'leaf' ? this.#known(entry.targetId) : NONE;
    this.#add(outline, this.#known(outline.parentId), target, place, entry);
  }

  /** Takes an entry whose parent is in the tree. */
  add(entry: Entry, place: Place): void {
    const target = entry.type === 'leaf' ? this.#at(entry.targetId) : NONE;
    this.#add(outlineOf(entry), this.#at(entry.parentId), target, place, entry);
  }

  /** From the root to the head, as indices. */
  path({ to = this.head, from }: Pick<BranchPart, 'to' | 'from'> = {}): readonly number[] {
    const until = from === undefined ? NONE : this.#index.get(from);
    const path: number[] = [];
    if (until === undefined) return path;
    let at = this.#at(to);
    for (; at !== NONE && at !== until; at = this.#parents[at] ?? NONE) path.push(at);
    if (at !== until) return [];
    if (until !== NONE) path.push(until);
    return path.reverse();
  }

  *ancestry(id: string | null = this.head): Generator<Outline> {
    for (let at = this.#at(id); at !== NONE; at = this.#parents[at] ?? NONE) yield this.outline(at);
  }

  #add(
    { id, type, detail }: Outline,
    parent: number,
    target: number,
    place: Place,
    entry: Entry | undefined,
  ): void {
    const index = this.#ids.length;
    this.#index.set(id, index);
    this.#ids.push(id);
    this.#parents.push(parent);
    this.#kinds.push(this.#kindOf(type, detail));
    this.#offsets.push(place.offset);
    this.#lengths.push(place.length);
    this.#lines.push(place.line);
    this.#head = type === 'leaf' ? target : index;
    if (type === 'leaf') this.#targets.set(index, target);
    if (type === 'message') {
      this.#messages++;
      if (detail === 'assistant') this.#lastAnswer = index;
    } else if (entry !== undefined) {
      this.#note(entry);
    }
  }

  #note(entry: Entry): void {
    if (entry.type === 'session_info') this.#name = entry.name && sessionName(entry.name);
    else if (entry.type === 'compaction') this.#summary = summaryOf(entry) ?? this.#summary;
    else if (entry.type === 'label') {
      if (entry.label === undefined || entry.label === '') this.#labels.delete(entry.targetId);
      else this.#labels.set(entry.targetId, entry.label);
    }
  }

  #kindOf(type: string, detail: string): number {
    const key = `${type}\n${detail}`;
    const known = this.#kindIndex.get(key);
    if (known !== undefined) return known;
    this.#kindIndex.set(key, this.#kindTable.length);
    return this.#kindTable.push({ type, detail }) - 1;
  }

  #idAt(index: number): string | null {
    return this.#ids[index] ?? null;
  }

  #at(id: string | null): number {
    return id === null ? NONE : (this.#index.get(id) ?? NONE);
  }

  #known(id: string | null): number {
    if (id === null) return NONE;
    const index = this.#index.get(id) ?? this.#lost.get(id);
    if (index !== undefined) return index;
    this.#lost.set(id, this.#head);
    return this.#head;
  }
}

export function outlineOf(entry: Entry): Outline {
  const { id, parentId, type } = entry;
  const detail =
    type === 'message'
      ? entry.message.role
      : type === 'custom' || type === 'custom_message'
        ? entry.customType
        : '';
  return { id, parentId, type, detail: typeof detail === 'string' ? detail : '' };
}

/** What a list shows of a compaction. */
export function summaryOf({ summary, details }: Entry & { type: 'compaction' }): string | undefined {
  const text = details?.title ?? summary;
  return typeof text === 'string' ? text.slice(0, SUMMARY_LENGTH) : undefined;
}
