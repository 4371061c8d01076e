// The regular expressions that ripgrep understands (docs.rs/regex/latest/regex/#syntax), parsed for the search that
// works without it, which looks at one line at a time or, with `multiline`, at a whole text; what could mean something else
// than in ripgrep is refused.
// Sets of characters become JavaScript classes with the flag `v`, each tested on one character only.

import { ToolFailure } from '../../core/errors.ts';

export type Pattern =
  /** One character: a class in the syntax of JavaScript's flag `v`; `fold` ignores case. */
  | { readonly kind: 'set'; readonly source: string; readonly fold: boolean }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly Pattern[] }
  /** `most` may be infinite; `lazy` ones match as little as they can, which tells where a match ends. */
  | {
      readonly kind: 'repeat';
      readonly item: Pattern;
      readonly least: number;
      readonly most: number;
      readonly lazy: boolean;
    };

export type Assertion = 'start' | 'end' | 'boundary' | 'inside' | 'wordStart' | 'wordEnd';

const MAX_DEPTH = 200;
const MAX_COUNT = 1000;

const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

/** The class of letters that `\b` and `\w` are about. */
export const WORD_CLASS = `[${WORD}]`;

/** Escapes that are classes, as members of a class. */
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  w: WORD,
  W: `[^${WORD}]`,
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
};

const LETTER_ESCAPES: Readonly<Record<string, number>> = { a: 7, t: 9, n: 10, v: 11, f: 12, r: 13 };

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  b: 'boundary',
  B: 'inside',
  '<': 'wordStart',
  '>': 'wordEnd',
};

/** ASCII, as in ripgrep. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\t\\n\\v\\f\\r\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

export interface PatternOptions {
  readonly ignoreCase: boolean;
  /** A match may span lines, and a dot matches their ends. */
  readonly multiline?: boolean;
}

/** Throws `ToolFailure` that says what is wrong, and where. */
export function parsePattern(source: string, { ignoreCase, multiline = false }: PatternOptions): Pattern {
  const flags = { fold: ignoreCase, dotAll: multiline, swapGreed: false };
  const reader = { letters: [...source], at: 0, depth: 0, multiline, flags };
  const pattern = parseChoice(reader);
  if (reader.at < reader.letters.length) throw fault(reader, 'a ) without its (');
  return pattern;
}

/** A pattern for a text that stands for itself. */
export function literalPattern(text: string, options: PatternOptions): Pattern {
  return { kind: 'sequence', items: [...text].map((letter) => single(letter, options.ignoreCase)) };
}

interface Reader {
  readonly letters: readonly string[];
  at: number;
  depth: number;
  readonly multiline: boolean;
  flags: Flags;
}

interface Flags {
  readonly fold: boolean;
  readonly dotAll: boolean;
  /** `*` is lazy and `*?` is not. */
  readonly swapGreed: boolean;
}

function fault(reader: Reader, what: string): ToolFailure {
  return new ToolFailure(
    `The pattern ${reader.letters.join('')} does not parse at character ${reader.at + 1}: ${what}. Set literal to search for the text itself.`,
  );
}

function peek(reader: Reader, ahead = 0): string | undefined {
  return reader.letters[reader.at + ahead];
}

function take(reader: Reader, text: string): boolean {
  for (const [ahead, letter] of [...text].entries()) if (peek(reader, ahead) !== letter) return false;
  reader.at += text.length;
  return true;
}

function single(letter: string, fold: boolean): Pattern {
  return { kind: 'set', source: `[${escaped(letter.codePointAt(0) ?? 0)}]`, fold };
}

function escaped(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

function parseChoice(reader: Reader): Pattern {
  if (++reader.depth > MAX_DEPTH) throw fault(reader, 'groups are nested too deep');
  // Flags set inside a group end with it.
  const { flags } = reader;
  const options = [parseSequence(reader)];
  while (take(reader, '|')) options.push(parseSequence(reader));
  reader.flags = flags;
  reader.depth--;
  const [only] = options;
  return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
}

function parseSequence(reader: Reader): Pattern {
  const items: Pattern[] = [];
  for (
    let letter = peek(reader);
    letter !== undefined && letter !== '|' && letter !== ')';
    letter = peek(reader)
  ) {
    const atom = parseAtom(reader, letter);
    items.push(atom === undefined ? { kind: 'sequence', items: [] } : parseRepeats(reader, atom));
  }
  return { kind: 'sequence', items };
}

/** Undefined for flags, which are nothing that could be repeated. */
function parseAtom(reader: Reader, letter: string): Pattern | undefined {
  switch (letter) {
    case '(':
      return parseGroup(reader);
    case '[':
      return { kind: 'set', source: parseClass(reader), fold: reader.flags.fold };
    case '\\':
      return parseEscape(reader);
    case '*':
    case '+':
    case '?':
    case '{':
      throw fault(reader, `nothing stands before ${letter} that it could repeat`);
  }
  reader.at++;
  if (letter === '.') return { kind: 'set', source: reader.flags.dotAll ? '[^]' : '[^\\n\\r]', fold: false };
  if (letter === '^') return { kind: 'assert', what: 'start' };
  if (letter === '$') return { kind: 'assert', what: 'end' };
  return single(letter, reader.flags.fold);
}

function parseRepeats(reader: Reader, atom: Pattern): Pattern {
  let item = atom;
  for (let bounds = parseBounds(reader); bounds !== undefined; bounds = parseBounds(reader)) {
    const lazy = take(reader, '?') !== reader.flags.swapGreed;
    item = { kind: 'repeat', item, ...bounds, lazy };
  }
  return item;
}

function parseBounds(reader: Reader): { least: number; most: number } | undefined {
  const infinite = Number.POSITIVE_INFINITY;
  if (take(reader, '*')) return { least: 0, most: infinite };
  if (take(reader, '+')) return { least: 1, most: infinite };
  if (take(reader, '?')) return { least: 0, most: 1 };
  if (peek(reader) !== '{') return undefined;
  const rest = reader.letters.slice(reader.at, reader.at + 24).join('');
  const counted = /^\{(\d+)(,(\d*))?\}/.exec(rest);
  if (counted === null)
    throw fault(reader, 'a { here must begin a count such as {2} or {2,5}; write \\{ for the letter');
  const least = Number(counted[1]);
  const most = counted[2] === undefined ? least : counted[3] === '' ? infinite : Number(counted[3]);
  if (least > most) throw fault(reader, 'the count begins higher than it ends');
  if (least > MAX_COUNT || (most !== infinite && most > MAX_COUNT))
    throw fault(reader, `a count is at most ${MAX_COUNT} without ripgrep`);
  reader.at += counted[0].length;
  return { least, most };
}

function parseGroup(reader: Reader): Pattern | undefined {
  const { flags } = reader;
  reader.at++;
  if (take(reader, '?')) {
    const rest = reader.letters.slice(reader.at, reader.at + 200).join('');
    if (/^(?:=|!|<=|<!)/.test(rest)) throw fault(reader, 'look-around is not supported');
    const opening = /^(?:P?<[A-Za-z_][\w.[\]]*>|([A-Za-z]*)(?:-([A-Za-z]+))?([:)]))/.exec(rest);
    if (opening === null) throw fault(reader, 'an unknown kind of group');
    setFlags(reader, opening[1] ?? '', opening[2] ?? '');
    reader.at += opening[0].length;
    if (opening[3] === ')') return undefined;
  }
  const inner = parseChoice(reader);
  if (!take(reader, ')')) throw fault(reader, 'a ( without its )');
  reader.flags = flags;
  return inner;
}

/** What matches is the same with and without `m`, `u` and `R`; `x`, and switching off Unicode or lines, is not supported. */
function setFlags(reader: Reader, on: string, off: string): void {
  if (/[^imsUuR]/.test(on) || /[^isU]/.test(off)) throw fault(reader, 'an unsupported flag');
  const flag = (letter: string, before: boolean) => (before || on.includes(letter)) && !off.includes(letter);
  const { fold, dotAll, swapGreed } = reader.flags;
  reader.flags = { fold: flag('i', fold), dotAll: flag('s', dotAll), swapGreed: flag('U', swapGreed) };
}

function parseEscape(reader: Reader): Pattern {
  const letter = peek(reader, 1);
  if (letter === undefined) throw fault(reader, 'a \\ at the end');
  const what = Object.hasOwn(ASSERTIONS, letter) ? ASSERTIONS[letter] : undefined;
  if (what !== undefined) {
    reader.at += 2;
    if (peek(reader) === '{' && /[a-z]/.test(peek(reader, 1) ?? ''))
      throw fault(reader, 'this kind of word boundary is not supported');
    return { kind: 'assert', what };
  }
  const member = parseMember(reader);
  return { kind: 'set', source: `[${member.source}]`, fold: reader.flags.fold };
}

interface Member {
  /** Fit to stand in a class. */
  readonly source: string;
  /** Of a single character: the code that may begin or end a range. */
  readonly code?: number;
}

/** An escape, in a class or outside. */
function parseMember(reader: Reader): Member {
  const letter = peek(reader, 1) ?? '';
  const set = Object.hasOwn(CLASS_ESCAPES, letter) ? CLASS_ESCAPES[letter] : undefined;
  if (set !== undefined) {
    reader.at += 2;
    return { source: set };
  }
  if (letter === 'p' || letter === 'P') return parseProperty(reader);
  if (letter === 'x' || letter === 'u' || letter === 'U') return parseCode(reader, letter);
  if (!reader.multiline && (letter === 'n' || letter === 'r'))
    throw fault(reader, `a search looks at one line at a time, so \\${letter} matches nothing`);
  const special = Object.hasOwn(LETTER_ESCAPES, letter) ? LETTER_ESCAPES[letter] : undefined;
  if (/[1-9]/.test(letter)) throw fault(reader, 'back-references are not supported');
  if (special === undefined && /[0-9A-Za-z<>]|[^\0-\x7f]/.test(letter))
    throw fault(reader, `\\${letter} is not supported`);
  reader.at += 2;
  return character(special ?? letter.codePointAt(0) ?? 0);
}

function character(code: number): Member {
  return { source: escaped(code), code };
}

function parseCode(reader: Reader, kind: string): Member {
  const digits = { x: 2, u: 4, U: 8 }[kind] ?? 2;
  const rest = reader.letters.slice(reader.at + 2, reader.at + 14).join('');
  const match = /^\{([0-9A-Fa-f]{1,8})\}/.exec(rest) ?? new RegExp(`^([0-9A-Fa-f]{${digits}})`).exec(rest);
  const code = Number.parseInt(match?.[1] ?? '', 16);
  if (match === null || code > 0x10ffff) throw fault(reader, `\\${kind} without its hexadecimal number`);
  reader.at += 2 + match[0].length;
  return character(code);
}

/** JavaScript wants scripts to be called so: `\p{Greek}` is tried as a property first. */
function parseProperty(reader: Reader): Member {
  const rest = reader.letters.slice(reader.at + 1, reader.at + 80).join('');
  const match = /^([pP])(?:\{([A-Za-z_]+(?:=[A-Za-z_]+)?)\}|([A-Z]))/.exec(rest);
  const name = match?.[2] ?? match?.[3];
  if (match === null || name === undefined) throw fault(reader, 'a property such as \\p{Lu} was expected');
  for (const property of [name, `Script=${name}`]) {
    const source = `\\${match[1]}{${property}}`;
    if (!isClass(`[${source}]`)) continue;
    reader.at += 1 + match[0].length;
    return { source };
  }
  throw fault(reader, `the property ${name} is not known`);
}

export function isClass(source: string): boolean {
  try {
    new RegExp(source, 'v');
    return true;
  } catch {
    return false;
  }
}

function parseClass(reader: Reader): string {
  if (++reader.depth > MAX_DEPTH) throw fault(reader, 'classes are nested too deep');
  reader.at++;
  const negated = take(reader, '^');
  let members = '';
  for (let first = true; first || peek(reader) !== ']'; first = false) {
    if (peek(reader) === undefined) throw fault(reader, 'a [ without its ]');
    if (
      ['&&', '--', '~~'].some((operator) => peek(reader) === operator[0] && peek(reader, 1) === operator[1])
    )
      throw fault(reader, 'operations on classes are not supported');
    members += parseClassMember(reader);
  }
  reader.at++;
  reader.depth--;
  return `[${negated ? '^' : ''}${members}]`;
}

function parseClassMember(reader: Reader): string {
  if (peek(reader) === '[') return parsePosixClass(reader) ?? parseClass(reader);
  const from = parseClassLetter(reader);
  const last = peek(reader, 1);
  if (from.code === undefined || peek(reader) !== '-' || last === ']' || last === undefined)
    return from.source;
  reader.at++;
  if (peek(reader) === '[') throw fault(reader, 'a class cannot end a range');
  const to = parseClassLetter(reader);
  if (to.code === undefined) throw fault(reader, 'a class cannot end a range');
  if (to.code < from.code) throw fault(reader, 'the range begins higher than it ends');
  return `${from.source}-${to.source}`;
}

function parseClassLetter(reader: Reader): Member {
  const letter = peek(reader);
  if (letter === undefined) throw fault(reader, 'a [ without its ]');
  if (letter === '\\') return parseMember(reader);
  reader.at++;
  return character(letter.codePointAt(0) ?? 0);
}

function parsePosixClass(reader: Reader): string | undefined {
  const rest = reader.letters.slice(reader.at, reader.at + 14).join('');
  const match = /^\[:(\^?)([a-z]+):\]/.exec(rest);
  const name = match?.[2] ?? '';
  const members = Object.hasOwn(POSIX_CLASSES, name) ? POSIX_CLASSES[name] : undefined;
  if (match === null || members === undefined) return undefined;
  reader.at += match[0].length;
  return `[${match[1]}${members}]`;
}
