// What can be done with the tree of a session, over the interfaces alone, so that it holds for files and memory alike.
// Nothing here removes anything: going back leaves the way that was gone on the tape, and a fork is a file of its own.

import { RESTRICTION_ENTRY } from '../../core/custom.ts';
import { CrabError } from '../../core/errors.ts';
import type {
  Appended,
  Entry,
  EntryBody,
  FilesTouched,
  NewTape,
  Tape,
  TapeHeader,
  TapeReader,
  Tapes,
} from '../../core/tape.ts';

/** What a fork is called and whose it is; what is left out is as in its source. */
export type ForkOptions = Partial<NewTape> & {
  /** The last entry that it begins with; the head when absent. */
  readonly at?: string;
};

/**
 * A session of its own that begins with the branch up to an entry, and with the labels on it. What was forbidden later, or on
 * another branch, is forbidden there, too.
 */
export function fork(tapes: Tapes, source: TapeReader, options: ForkOptions = {}): Promise<Tape> {
  const { at, ...given } = options;
  const to = at ?? source.leafId;
  return tapes.copy({
    ...newTape(source, given),
    entries: withRestrictions(source, to),
    labels: labelsBehind(source, to),
    ...(source.path !== undefined && { parentSession: source.path }),
  });
}

function* withRestrictions(source: TapeReader, to: string | null): Generator<Entry> {
  const copied = new Set<string>();
  let last: string | null = null;
  for (const entry of source.branch({ to })) {
    copied.add(entry.id);
    last = entry.id;
    yield entry;
  }
  const forbidden = source.entries(({ type, detail }) => type === 'custom' && detail === RESTRICTION_ENTRY);
  for (const entry of forbidden) {
    if (copied.has(entry.id)) continue;
    yield { ...entry, parentId: last };
    last = entry.id;
  }
}

/** A session of its own with all that its source has, other branches included. */
export function clone(tapes: Tapes, source: TapeReader, options: Partial<NewTape> = {}): Promise<Tape> {
  return tapes.copy({
    ...newTape(source, options),
    entries: source.entries(),
    ...(source.path !== undefined && { parentSession: source.path }),
  });
}

/**
 * Makes an entry the head; null leads before the first. A summary of what was said since is kept there for the model
 * to see.
 */
export function moveTo(tape: Tape, targetId: string | null, summary = '', files?: FilesTouched): Appended {
  const left: EntryBody[] = [{ type: 'leaf', targetId }];
  const details = files === undefined ? {} : { details: files };
  if (summary !== '') left.push({ type: 'branch_summary', fromId: targetId ?? 'root', summary, ...details });
  return tape.append(left);
}

/** An empty label takes the label away. */
export function setLabel(tape: Tape, targetId: string, label: string): Appended {
  return tape.append([{ type: 'label', targetId, label: label === '' ? undefined : label }]);
}

const LEAST_LETTERS = 4;

/**
 * The entry with this label or id, or whose id begins or ends so: ids of one moment begin alike. Throws
 * `entry-unknown`.
 */
export function findEntry(reader: TapeReader, text: string): string {
  if (reader.has(text)) return text;
  const found = new Set<string>();
  for (const [id, label] of reader.labels()) if (label === text) found.add(id);
  if (found.size === 0 && text.length >= LEAST_LETTERS) {
    const letters = text.toUpperCase();
    for (const { id } of reader.outlines()) {
      const whole = id.toUpperCase();
      if (whole.startsWith(letters) || whole.endsWith(letters)) found.add(id);
    }
  }
  const [first] = found;
  if (first !== undefined && found.size === 1) return first;
  const how = found.size === 0 ? 'No entry has' : `${found.size} entries have`;
  throw new CrabError(
    'entry-unknown',
    `${how} the label or id ${JSON.stringify(text.slice(0, 100))} in session ${reader.header.id}.`,
  );
}

function newTape({ header }: TapeReader, options: Partial<NewTape>): NewTape {
  const { agent = 'crab', cwd } = header;
  return { agent, cwd, sender: (id) => senderOf(header, id), ...options };
}

/** A client of its own is named after its session, so that of a copy has another name. */
function senderOf({ sender, id: own }: TapeHeader, id: string): string {
  return sender === undefined ? `cli:${id}` : sender.replace(own, id);
}

/** What labels have to be written behind a branch, so that they are there what they are in the whole tree. */
function labelsBehind(source: TapeReader, to: string | null): ReadonlyMap<string, string> {
  const all = source.labels();
  const written = new Map<string, string>();
  for (const entry of source.branch({ to, wanted: ({ type }) => type === 'label' }))
    if (entry.type === 'label') written.set(entry.targetId, entry.label ?? '');
  const behind = new Map<string, string>();
  for (const { id } of source.ancestry(to)) {
    const label = all.get(id) ?? '';
    if (label !== (written.get(id) ?? '')) behind.set(id, label);
  }
  return behind;
}
