// What an importer makes of another program's file: a session's entries, and what is known of the session. Importers are
// handed lines and make values; whoever calls them reads files and writes sessions.

import type { AssistantMessage, Message, ToolCallContent } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Entry, EntryBody } from '../../core/tape.ts';

export interface Imported {
  /** Its id in the program that it comes from. */
  readonly id?: string;
  readonly cwd?: string;
  readonly name?: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  /** Parents before children; the last one is the head. */
  readonly entries: readonly Entry[];
}

export interface ImportContext {
  /** Makes ids that sort by age. */
  readonly newId: () => string;
  /** ISO 8601: when something was said that does not say so itself. */
  readonly now: string;
}

export type Importer = (lines: Iterable<JsonObject>, context: ImportContext) => Imported;

/** Entries one after another, each hanging from the one before unless told otherwise. */
export class EntryChain {
  readonly entries: Entry[] = [];
  readonly #context: ImportContext;
  #time: string;
  head: string | null = null;

  constructor(context: ImportContext) {
    this.#context = context;
    this.#time = context.now;
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** Takes the time of what comes next, where there is one. */
  at(timestamp: unknown): void {
    const time = timeOf(timestamp);
    if (time !== undefined) this.#time = new Date(time).toISOString();
  }

  get time(): number {
    return Date.parse(this.#time);
  }

  /** Returns the id. */
  add(body: EntryBody, parentId: string | null = this.head): string {
    const id = this.#context.newId();
    const { type, ...fields } = body;
    this.entries.push({ type, id, parentId, timestamp: this.#time, ...fields } as Entry);
    this.head = id;
    return id;
  }

  say(message: Message, parentId?: string | null): string {
    return this.add({ type: 'message', message }, parentId);
  }

  /** Hidden for good, and told in short. Nothing of what came before is kept in sight. */
  compact(summary: string, title?: string, tokensBefore = 0): string {
    const archivedAt = this.#time;
    const details = { readFiles: [], modifiedFiles: [], archivedAt, ...(title !== undefined && { title }) };
    const id = this.add({ type: 'compaction', summary, firstKeptEntryId: '', tokensBefore, details });
    const entry = this.entries.at(-1);
    if (entry?.type === 'compaction')
      this.entries[this.entries.length - 1] = { ...entry, firstKeptEntryId: id };
    return id;
  }

  /** The message of an entry that this chain made, for an answer that goes on in a later line. */
  replace(id: string, message: AssistantMessage): void {
    const at = this.entries.findLastIndex((entry) => entry.id === id);
    const entry = this.entries[at];
    if (entry?.type === 'message') this.entries[at] = { ...entry, message };
  }
}

/** Milliseconds from ISO 8601, or from seconds or milliseconds since the epoch. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value < 1e11 ? value * 1000 : value;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is JsonObject => objectOf(item) !== undefined);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A call as its provider wrote it: arguments are JSON in a text, or a text that is none. */
export function callOf(id: unknown, name: unknown, input: unknown): ToolCallContent {
  return { type: 'toolCall', id: String(id), name: textOf(name) ?? 'unknown', arguments: argumentsOf(input) };
}

function argumentsOf(input: unknown): ToolCallContent['arguments'] {
  if (typeof input !== 'string') return objectOf(input) ?? {};
  try {
    return objectOf(JSON.parse(input)) ?? { input };
  } catch {
    return { input };
  }
}
