// What of the memory a model is told before anybody asks: where the person wants it, a list of what is remembered, made once
// for a session, because the provider's cache lives on the system prompt. The notes themselves are for `recall`. And when
// notes are looked through for what says the same, where the person wants that.

export interface RememberedNote {
  readonly name: string;
  readonly scope: string;
  readonly days: number;
  /** One line. */
  readonly about: string;
}

const MAX_NOTES = 50;
const MAX_LENGTH = 4_000;

const HEADING =
  'Notes from earlier conversations (`recall` shows them whole; each says what was so when it was written):';

/** The newest first, within bounds; undefined where nothing is remembered. */
export function memoryList(notes: readonly RememberedNote[]): string | undefined {
  if (notes.length === 0) return undefined;
  const lines: string[] = [HEADING];
  let length = HEADING.length;
  for (const { name, scope, days, about } of notes.toSorted((a, b) => a.days - b.days).slice(0, MAX_NOTES)) {
    const line = `- ${name} (${scope}, ${days} day${days === 1 ? '' : 's'} old): ${about}`;
    length += line.length + 1;
    if (length > MAX_LENGTH) break;
    lines.push(line);
  }
  const left = notes.length - (lines.length - 1);
  return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n');
}

/** Notes that are new or changed before it is worth a request. */
const NEW_NOTES = 5;
const LEAST_MS = 20 * 60 * 60_000;

export interface LookedThrough {
  /** Of each note that there is. */
  readonly marks: readonly string[];
  /** When they were looked through before, and what there was; undefined where they never were. */
  readonly last: { readonly at: number; readonly marks: readonly string[] } | undefined;
  readonly now: number;
}

export function consolidationDue({ marks, last, now }: LookedThrough): boolean {
  const known = new Set(last?.marks);
  const isLong = last === undefined || now - last.at >= LEAST_MS || now < last.at;
  return isLong && marks.filter((mark) => !known.has(mark)).length >= NEW_NOTES;
}
