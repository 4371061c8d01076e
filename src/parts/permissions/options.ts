// Reads the options of one program against the list of those that are known to be harmless. What is not on
// the list is reported and not guessed at: a program is understood option by option or not at all.
//
// A list is a string such as `-a -n: --color? --include: -f@ -o> -#`. Suffixes: none is a flag, `:` takes a
// value, `?` takes one only as `--color=x`, `@` a path that is read, `>` a path that is written; `-#` is a number.

import { textWord, type Word } from './script.ts';

export interface Options {
  /** Every option met, with its value where it takes one. */
  readonly seen: ReadonlyMap<string, Word | undefined>;
  /** Every option with a value, in order, as often as it was given. */
  readonly given: readonly (readonly [name: string, value: Word])[];
  readonly operands: readonly Word[];
  readonly reads: readonly Word[];
  readonly writes: readonly Word[];
  /** The first option that is not on the list. */
  readonly unknown: string | undefined;
}

type Kind = '' | ':' | '?' | '@' | '>';

interface Draft {
  readonly seen: Map<string, Word | undefined>;
  readonly given: (readonly [string, Word])[];
  readonly operands: Word[];
  readonly reads: Word[];
  readonly writes: Word[];
  unknown: string | undefined;
}

/** `leading` stops at the first operand, as the options of a program that runs another do. */
export function readOptions(words: readonly Word[], list: string, leading = false): Options {
  const draft: Draft = {
    seen: new Map(),
    given: [],
    operands: [],
    reads: [],
    writes: [],
    unknown: undefined,
  };
  let at = 0;
  while (at < words.length) {
    const word = words[at];
    at += 1;
    if (word === undefined) break;
    const { value } = word;
    if (value === '--') {
      draft.operands.push(...words.slice(at));
      break;
    }
    if (mayBeOption(word)) draft.unknown = word.raw;
    else if (!value.startsWith('-') || value === '-') {
      draft.operands.push(...(leading ? words.slice(at - 1) : [word]));
      if (leading) break;
    } else if (/^-\d+$/.test(value) && kindOf(list, '-#') !== undefined) {
      draft.seen.set('-#', word);
    } else if (value.startsWith('--') || kindOf(list, value) !== undefined) {
      at += readLong(draft, list, word, words[at]);
    } else {
      at += readCluster(draft, list, word, words[at]);
    }
    if (draft.unknown !== undefined) break;
  }
  return draft;
}

/** A word that is not known beforehand could turn into an option, or into several words. */
function mayBeOption({ open, known }: Word): boolean {
  return open === 'words' || (open === 'text' && known === 0);
}

/** Looked up in the text itself: most commands have few options, and a table of each list would cost more. */
function kindOf(list: string, name: string): Kind | undefined {
  if (name.includes(' ')) return undefined;
  for (let at = list.indexOf(name); at !== -1; at = list.indexOf(name, at + 1)) {
    if (at > 0 && list[at - 1] !== ' ') continue;
    const end = at + name.length;
    const suffix = list[end] ?? ' ';
    if (suffix === ' ') return '';
    if (isKind(suffix) && (list[end + 1] ?? ' ') === ' ') return suffix;
  }
  return undefined;
}

function isKind(suffix: string): suffix is Kind {
  return suffix === ':' || suffix === '?' || suffix === '@' || suffix === '>';
}

/** Returns how many further words it took. */
function readLong(draft: Draft, list: string, word: Word, next: Word | undefined): number {
  const equals = word.value.startsWith('--') ? word.value.indexOf('=') : -1;
  const name = equals === -1 ? word.value : word.value.slice(0, equals);
  const kind = word.open === undefined ? kindOf(list, name) : undefined;
  // `--include=*.ts` can only become words that begin alike, but a path has to be known.
  const open = word.glob && (equals === -1 || /[*?[]/.test(name) || kind === '@' || kind === '>');
  if (kind === undefined || (equals !== -1 && kind === '') || open) {
    draft.unknown = name;
    return 0;
  }
  if (equals !== -1) {
    keep(draft, name, kind, textWord(word.value.slice(equals + 1)));
    return 0;
  }
  if (kind === '' || kind === '?') {
    draft.seen.set(name, undefined);
    return 0;
  }
  if (next === undefined || next.open === 'words') draft.unknown = name;
  else keep(draft, name, kind, next);
  return 1;
}

/** `-abc`, where the last letter may take the rest or the next word as its value. */
function readCluster(draft: Draft, list: string, word: Word, next: Word | undefined): number {
  for (let index = 1; index < word.value.length; index += 1) {
    const name = `-${word.value[index]}`;
    const kind = kindOf(list, name);
    if (kind === undefined || word.glob || word.open !== undefined) {
      draft.unknown = name;
      return 0;
    }
    if (kind === '') {
      draft.seen.set(name, undefined);
      continue;
    }
    const rest = word.value.slice(index + 1);
    if (rest !== '' || kind === '?') {
      keep(draft, name, kind, textWord(rest));
      return 0;
    }
    if (next === undefined || next.open === 'words') draft.unknown = name;
    else keep(draft, name, kind, next);
    return 1;
  }
  return 0;
}

function keep(draft: Draft, name: string, kind: Kind, value: Word): void {
  draft.seen.set(name, value);
  draft.given.push([name, value]);
  if (kind === '@') draft.reads.push(value);
  if (kind === '>') draft.writes.push(value);
}
