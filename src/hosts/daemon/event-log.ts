// What a conversation has said lately, numbered, for any number of readers at their own pace. The run that writes waits
// for nobody: what is too much for the log goes, deltas first, since the message that follows them says it all again. Pieces
// that came together go on together: written, read and checked one by one they would cost more than the run itself.

import type { Event, EventType } from '../../core/event.ts';

export interface LoggedEvents {
  /** The number of the first of them. */
  readonly first: number;
  readonly count: number;
  /** An array of `Event`, written once for all readers. */
  readonly json: string;
  /** The run that said them, counted from 1. */
  readonly run: number;
  /** As its client named it. */
  readonly name: string | undefined;
}

export interface Reading {
  readonly events: LoggedEvents;
  /** Others before these are gone. */
  readonly gap: boolean;
}

/** Characters of JSON that a conversation keeps. */
const ROOM = 8 * 1024 * 1024;

const DELTAS: ReadonlySet<EventType> = new Set([
  'contentDelta',
  'thinkingDelta',
  'toolUseDelta',
  'toolOutputDelta',
  'toolProgress',
  'shellOutput',
]);

type Delta = Extract<Event, { readonly delta: string }>;

/** One delta for those of a batch that follow one another in the same place. */
function joined(events: readonly Event[]): readonly Event[] {
  const result: Event[] = [];
  let open: (Delta & { delta: string }) | undefined;
  for (const event of events) {
    if (open !== undefined && 'delta' in event && isSamePlace(open, event)) {
      open.delta += event.delta;
      continue;
    }
    open = 'delta' in event ? { ...event } : undefined;
    result.push(open ?? event);
  }
  return result;
}

function isSamePlace(one: Delta, other: Delta): boolean {
  if (one.type !== other.type) return false;
  if ('index' in one && 'index' in other) return one.index === other.index;
  return !('id' in one) || !('id' in other) || one.id === other.id;
}

interface Kept extends LoggedEvents {
  readonly isDelta: boolean;
}

export class EventLog {
  readonly #room: number;
  /** The oldest first; some in between may be gone. */
  #kept: Kept[] = [];
  #size = 0;
  #next = 0;
  /** Before this place there is no delta left to let go. */
  #withoutDeltas = 0;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(room = ROOM) {
    this.#room = room;
  }

  /** The number of the next event. */
  get next(): number {
    return this.#next;
  }

  append(told: readonly Event[], run: number, name?: string): void {
    if (told.length === 0) return;
    const events = joined(told);
    const json = JSON.stringify(events);
    const isDelta = events.every(({ type }) => DELTAS.has(type));
    this.#kept.push({ first: this.#next, count: events.length, json, run, name, isDelta });
    this.#next += events.length;
    this.#size += json.length;
    while (this.#size > this.#room && this.#kept.length > 1) this.#letGo();
    this.#wake();
  }

  /** Nothing more is said; whoever waits is told. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #letGo(): void {
    let at = this.#withoutDeltas;
    // The newest stays: somebody is about to read it.
    while (at < this.#kept.length - 1 && this.#kept[at]?.isDelta !== true) at++;
    const place = at < this.#kept.length - 1 ? at : 0;
    this.#withoutDeltas = place === 0 ? 0 : place;
    const [gone] = this.#kept.splice(place, 1);
    this.#size -= gone?.json.length ?? 0;
  }

  /** The oldest that are kept from number `from` on, whole batches; undefined when there are none. */
  read(from: number): Reading | undefined {
    if (from >= this.#next) return undefined;
    const events = this.#kept[this.#placeOf(from)];
    return events === undefined ? undefined : { events, gap: events.first > from };
  }

  /** The place of the first batch that ends behind `from`. */
  #placeOf(from: number): number {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { first, count } = this.#kept[middle] ?? { first: 0, count: 0 };
      if (first + count > from) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Resolves when there is something from number `from` on, or nothing more will be, or the signal aborts. */
  async wait(from: number, signal: AbortSignal): Promise<void> {
    if (from < this.#next || this.#isClosed || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done);
      this.#waiting.push(done);
    });
  }
}
