// What a word of the grammar is to the command that gets it: quotes and escapes removed, braces and known
// variables put in, blanks of an unquoted value split (POSIX.1-2024, XCU 2.2 and 2.6; bash manual 3.5). What is
// not known beforehand leaves the word open; what cannot be read sets a doubt.

import type { SyntaxNode } from './grammar.ts';
import type { Word } from './script.ts';
import type { Known } from './variables.ts';

/** What reading a word needs of the text around it. */
export interface Surrounding {
  readonly text: string;
  /** What reads it need not be bash. */
  readonly posix: boolean;
  /** Of a parameter; undefined when it is not known. */
  lookUp(name: string): readonly Known[] | undefined;
  /** Reads the commands of a substitution, and returns what a word of their output may be where that is known. */
  enter(node: SyntaxNode): readonly Known[] | undefined;
  /** Reads an arithmetic expression. */
  compute(node: SyntaxNode): void;
  /** The indices of this array are text, and are not computed. */
  isKeyed(name: string): boolean;
  /** The parameter gets another value. */
  forget(name: string): void;
  doubt(reason: string): void;
}

interface Piece {
  /** One of these. */
  readonly texts: readonly Known[];
  readonly quoted: boolean;
  readonly kind: 'literal' | 'expansion' | 'open' | 'fed';
}

/** The end of a sentence: it … */
export const ONLY_BASH = 'means something else to another shell than bash';
const MAX_READINGS = 16;
const MAX_BRACES = 100;

export const WORDS: ReadonlySet<string> = new Set([
  'word',
  'number',
  'string',
  'raw_string',
  'ansi_c_string',
  'translated_string',
  'concatenation',
  'simple_expansion',
  'expansion',
  'command_substitution',
  'process_substitution',
  'arithmetic_expansion',
  'brace_expression',
  'extglob_pattern',
  'regex',
  'variable_name',
  'test_operator',
  'subscript',
]);

export interface Expanded {
  /** The words it may turn into: one list for each way in which it can be read. */
  readonly readings: readonly (readonly Word[])[];
  readonly expands: boolean;
}

/** `whole` leaves blanks together, as an assignment and a redirection do. */
export function expandWord(node: SyntaxNode, around: Surrounding, whole = false): Expanded {
  const raw = around.text.slice(node.start, node.end).replaceAll('\\\n', '');
  const pieces = mergeBraces(piecesOf(node, around), around);
  const expands = pieces.list.some(({ kind }) => kind !== 'literal') || pieces.braces !== undefined;
  if (pieces.braces !== undefined && !whole)
    return { readings: [pieces.braces.map((each) => ownRaw(fieldOf(each, raw)))], expands };
  const readings = combinations(pieces.list).map((each) => fieldsOf(each, raw, whole));
  return { readings, expands };
}

function piecesOf(node: SyntaxNode, around: Surrounding): readonly Piece[] {
  const text = around.text.slice(node.start, node.end);
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
    case 'test_operator':
    case 'brace_expression':
      return plainPieces(text, around);
    case 'extglob_pattern':
    case 'regex':
      if (/[$`]\(|`|\$\{|[<>]\(/.test(text)) around.doubt('hides something in a pattern');
      return [{ texts: [{ text, glob: true }], quoted: false, kind: 'literal' }];
    case 'raw_string':
      return [literal(text.slice(1, -1), true)];
    case 'ansi_c_string':
      // To other shells the quote ends at the first mark, whatever stands before it.
      if (around.posix) around.doubt(ONLY_BASH);
      return [literal(ansiString(text.slice(2, -1), around), true)];
    case 'string':
      return stringPieces(node, around);
    case 'concatenation':
      return node.children.flatMap((child) => piecesOf(child, around));
    case 'simple_expansion':
    case 'expansion':
      return [parameterPiece(node, around, false)];
    case 'command_substitution': {
      const printed = around.enter(node);
      if (printed === undefined || splitsOtherwise(around)) return [open(text, false)];
      return [{ texts: printed, quoted: false, kind: 'expansion' }];
    }
    case 'process_substitution':
      if (around.posix) around.doubt(ONLY_BASH);
      around.enter(node);
      return [{ texts: [{ text: '/dev/stdin', glob: false }], quoted: true, kind: 'fed' }];
    case 'arithmetic_expansion':
      around.compute(node);
      return [{ texts: [{ text: '0', glob: false }], quoted: true, kind: 'expansion' }];
    case 'translated_string':
      around.doubt('uses a translated string');
      return [literal(text.replace(/^\$?"|"$/g, ''), true)];
    default:
      if (!node.named) return plainPieces(text, around);
      around.doubt('uses a word that is not known');
      return [open(text, false)];
  }
}

function literal(text: string, quoted: boolean): Piece {
  return { texts: [{ text, glob: false }], quoted, kind: 'literal' };
}

function open(text: string, quoted: boolean): Piece {
  return { texts: [{ text, glob: false }], quoted, kind: 'open' };
}

/** Text outside quotes. The grammar has set apart whatever expands: a sign of it here means that it was read wrongly. */
function plainPieces(text: string, around: Surrounding): readonly Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character !== '\\') {
      if (/[\s"'`;&|<>()]/.test(character)) around.doubt('cannot be read as a word');
      plain += character;
      continue;
    }
    at += 1;
    const next = text[at];
    if (next === undefined) around.doubt('ends before it is complete');
    if (next === undefined || next === '\n') continue;
    if (plain !== '') pieces.push(literal(plain, false));
    plain = '';
    pieces.push(literal(next, true));
  }
  if (plain !== '') pieces.push(literal(plain, false));
  if (/^#/.test(text) || /\$[\w{(]/.test(plain)) around.doubt('cannot be read as a word');
  if (/^~[^/]/.test(text)) around.doubt("names another user's home folder");
  return pieces;
}

function stringPieces(node: SyntaxNode, around: Surrounding): readonly Piece[] {
  const pieces: Piece[] = [literal('', true)];
  let at = node.start + 1;
  const text = (end: number) => {
    const between = around.text.slice(at, end);
    if (/(?<!\\)(?:\\\\)*(?:`|\$[({\w])/.test(between)) around.doubt('cannot be read as a string');
    if (end > at) pieces.push(literal(unescaped(between), true));
  };
  for (const child of node.children) {
    if (!child.named || child.type === 'string_content') continue;
    // The dollar of an expansion is given the blanks before it.
    const blanks = /^\s*/.exec(around.text.slice(child.start, child.end))?.[0].length ?? 0;
    text(child.start + blanks);
    pieces.push(insidePiece(child, around));
    at = child.end;
  }
  text(node.end - 1);
  return pieces;
}

/** An expansion inside double quotes or a here-document. */
export function insidePiece(child: SyntaxNode, around: Surrounding): Piece {
  if (child.type === 'simple_expansion' || child.type === 'expansion')
    return parameterPiece(child, around, true);
  return { ...(piecesOf(child, around)[0] ?? open('', true)), quoted: true };
}

function unescaped(text: string): string {
  return text.replace(/\\([$`"\\\n])/g, (_, next: string) => (next === '\n' ? '' : next));
}

const HARMLESS_OPERATORS = new Set(
  `$\{ } # ## % %% / // /# /% : :- - :+ + :? ? ^ ^^ , ,, [ ] @ * $ Q U u L K k`.split(' '),
);

function parameterPiece(node: SyntaxNode, around: Surrounding, quoted: boolean): Piece {
  const raw = around.text.slice(node.start, node.end).trimStart();
  const named = node.children.find(({ type }) => /^(?:special_)?variable_name$|^subscript$/.test(type));
  const name = named === undefined ? '' : around.text.slice(named.start, named.end);
  const others = node.children.filter((child) => child !== named);
  // The keys of an array, and the names that begin alike.
  if (/^\$\{!\w+(?:\[[@*]\]|[@*])\}$/.test(raw)) {
    // Those of an array that is written as a list are numbers.
    const array = /^\$\{!(\w+)\[/.exec(raw)?.[1];
    const listed = array !== undefined && new RegExp(`(?:^|[\\s;&|(])${array}=\\(`).test(around.text);
    if (!listed || /declare|typeset|local|readonly|eval|source/.test(around.text)) return open(raw, quoted);
    return { texts: [{ text: '0', glob: false }], quoted, kind: 'expansion' };
  }
  const textOf = (child: SyntaxNode) => around.text.slice(child.start, child.end).trim();
  // `${x:from:length}` computes both.
  const cuts = others.some((child) => !child.named && textOf(child) === ':');
  if (cuts && others.some((child) => child.named && !/^-?\d+$/.test(textOf(child))))
    around.doubt('computes with a variable that is not known to be a number');
  for (const child of others) readOperand(child, around, name);
  // Between double quotes a single one is a letter, and what stands between two of them expands.
  if (quoted && others.some((child) => hidesInQuotes(child, around)))
    around.doubt('hides something between quotes');
  if (named === undefined) {
    around.doubt('uses a variable in a way that is not known');
    return open(raw, quoted);
  }
  if (named.type === 'subscript') readSubscript(named, around);
  if (/^\$\{#[^}]/.test(raw)) return { texts: [{ text: '0', glob: false }], quoted, kind: 'expansion' };
  const found = around.lookUp(name.replace(/\[.*$/s, ''));
  const plain = raw === `$${name}` || raw === `\${${name}}`;
  if (!plain || found === undefined || named.type === 'subscript') return open(raw, quoted);
  if (!quoted && splitsOtherwise(around)) return open(raw, quoted);
  return { texts: found, quoted, kind: 'expansion' };
}

/** Words are split at other signs than blanks. */
function splitsOtherwise(around: Surrounding): boolean {
  if (!/\bIFS\b/.test(around.text)) return false;
  const signs = around.lookUp('IFS');
  return signs?.length !== 1 || signs[0]?.text !== ' ';
}

function hidesInQuotes({ type, start, end, children }: SyntaxNode, around: Surrounding): boolean {
  const isQuote = type === 'raw_string' || type === 'ansi_c_string';
  if (isQuote) return /[$`]/.test(around.text.slice(start + 1, end));
  return children.some((child) => hidesInQuotes(child, around));
}

function readOperand(child: SyntaxNode, around: Surrounding, name: string): void {
  const sign = around.text.slice(child.start, child.end).trim();
  if (child.type === 'variable_name' || child.type === 'special_variable_name') return;
  if (child.named) {
    // What is put in or taken away is text, blanks and all.
    if (child.type === 'word' || child.type === 'regex' || child.type === 'number') {
      if (/[$`]\(|`|\$\{|\$\w|[<>]\(/.test(sign)) around.doubt('hides something in a pattern');
    } else if (WORDS.has(child.type)) expandWord(child, around, true);
    else if (child.type === 'array' || /expression$/.test(child.type)) around.compute(child);
    else around.doubt('uses a variable in a way that is not known');
  } else if (sign === '=' || sign === ':=') around.forget(name);
  else if (sign === '!' || sign === 'P' || !HARMLESS_OPERATORS.has(sign))
    around.doubt('uses a variable in a way that is not known');
}

/** An index is computed, and computing can run what a variable holds. */
export function readSubscript(node: SyntaxNode, around: Surrounding): void {
  const text = around.text.slice(node.start, node.end);
  const [, name = '', index = ''] = /^(\w*)\[(.*)\]$/s.exec(text) ?? [];
  if (/^(?:\d+|-\d+|[@*])$/.test(index)) return;
  const inner = node.children.slice(1).filter(({ named }) => named);
  // What it holds may be code to bash wherever it is put in twice, so that nothing but a plain variable or word will do.
  if (around.isKeyed(name) && /^(?:\$\w+|\$\{\w+\}|"\$\w+"|[\w.-]+)$/.test(index)) return;
  if (inner.length === 1 && inner[0] !== undefined && /^[\w$+\-*%{} ]+$/.test(index))
    around.compute(inner[0]);
  else around.doubt('computes an index');
}

/** Every way in which alternatives can be put together, or one that is open where there are too many. */
function combinations(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  let all: readonly (readonly Piece[])[] = [[]];
  for (const piece of pieces) {
    const many = all.length * piece.texts.length > MAX_READINGS || piece.texts.length === 0;
    const choices = many ? [open('', piece.quoted)] : piece.texts.map((one) => ({ ...piece, texts: [one] }));
    all = all.flatMap((before) => choices.map((choice) => [...before, choice]));
  }
  return all;
}

function fieldsOf(pieces: readonly Piece[], raw: string, whole: boolean): readonly Word[] {
  const fields: Piece[][] = [[]];
  let words = false;
  for (const piece of pieces) {
    const [text] = piece.texts;
    words ||= piece.kind === 'open' && !piece.quoted;
    if (whole || piece.quoted || piece.kind !== 'expansion' || text === undefined || text.glob) {
      fields.at(-1)?.push(piece);
      continue;
    }
    for (const [index, part] of text.text.split(/[ \t\n]+/).entries()) {
      if (index > 0) fields.push([]);
      if (part !== '') fields.at(-1)?.push({ ...piece, texts: [{ text: part, glob: false }] });
    }
  }
  const filled = fields.filter((field) => field.length > 0);
  const made = filled.map((field) => fieldOf(field, raw, words));
  return made.length > 1 ? made.map(ownRaw) : made;
}

/** Of several words that one word of the text turned into, each is shown as what it is. */
function ownRaw(word: Word): Word {
  return { ...word, raw: word.value };
}

function fieldOf(pieces: readonly Piece[], raw: string, words = false): Word {
  const first = pieces.findIndex(({ kind }) => kind === 'open');
  const textOf = (list: readonly Piece[]) => list.map(({ texts }) => texts[0]?.text ?? '').join('');
  // A word of which nothing is known, all of it quoted, is no pattern: what is known to follow stands for a name.
  const unknown =
    first !== -1 && textOf(pieces.slice(0, first)) === '' && pieces.every(({ quoted }) => quoted);
  const glob =
    !unknown &&
    pieces.some(
      ({ texts, quoted, kind }) =>
        texts[0]?.glob === true || (!quoted && kind !== 'open' && /[*?[]/.test(texts[0]?.text ?? '')),
    );
  return {
    raw,
    value: textOf(pieces),
    quoted: pieces.some(({ quoted }) => quoted),
    glob,
    ...(first !== -1 && {
      open: words ? 'words' : 'text',
      known: textOf(pieces.slice(0, first)).length,
    }),
    ...(pieces.some(({ kind }) => kind === 'fed') && { fed: true }),
  };
}

interface Letter {
  readonly text: string;
  readonly quoted: boolean;
}

interface Merged {
  readonly list: readonly Piece[];
  readonly braces: readonly (readonly Piece[])[] | undefined;
}

/** Braces are put in before anything else is; only those among plain letters are followed. */
function mergeBraces(list: readonly Piece[], around: Surrounding): Merged {
  const hasBrace = list.some(
    ({ kind, quoted, texts }) => kind === 'literal' && !quoted && /\{/.test(texts[0]?.text ?? ''),
  );
  if (!hasBrace) return { list, braces: undefined };
  const letters = list.flatMap(({ texts, quoted, kind }): Letter[] =>
    kind === 'literal'
      ? [...(texts[0]?.text ?? '')].map((text) => ({ text, quoted }))
      : [{ text: '\0', quoted: true }],
  );
  const plain = letters.map(({ text, quoted }) => (quoted ? '\0' : text)).join('');
  const inner = plain.slice(plain.indexOf('{'), plain.lastIndexOf('}'));
  if (!inner.includes(',') && !inner.includes('..')) return { list, braces: undefined };
  const expanded = list.every(({ kind }) => kind === 'literal') ? expandBraces(letters) : undefined;
  if (expanded === undefined || expanded.length > MAX_BRACES) {
    around.doubt('uses brace expansion');
    return { list, braces: undefined };
  }
  const braces = expanded.map((each) => each.map(({ text, quoted }) => literal(text, quoted)));
  return { list, braces: braces.filter((each) => each.length > 0) };
}

function expandBraces(letters: readonly Letter[]): readonly (readonly Letter[])[] | undefined {
  const start = letters.findIndex(({ text, quoted }) => text === '{' && !quoted);
  if (start === -1) return [letters];
  const commas: number[] = [start];
  let depth = 0;
  let end = -1;
  for (let at = start; at < letters.length && end === -1; at += 1) {
    const letter = letters[at];
    if (letter === undefined || letter.quoted) continue;
    if (letter.text === '{') depth += 1;
    if (letter.text === '}') depth -= 1;
    if (letter.text === ',' && depth === 1) commas.push(at);
    if (depth === 0) end = at;
  }
  if (end === -1) return undefined;
  const before = letters.slice(0, start);
  const inner = letters.slice(start + 1, end);
  const items =
    commas.length > 1 ? commas.map((at, i) => letters.slice(at + 1, commas[i + 1] ?? end)) : rangeOf(inner);
  if (items === undefined && inner.some(({ text, quoted }) => text === '{' && !quoted)) return undefined;
  const heads = items === undefined ? [letters.slice(0, end + 1)] : undefined;
  const tails = expandBraces(letters.slice(end + 1));
  const bodies = items?.map(expandBraces);
  if (tails === undefined || bodies?.some((each) => each === undefined)) return undefined;
  const middles = heads ?? (bodies ?? []).flatMap((each) => each ?? []).map((each) => [...before, ...each]);
  if (middles.length * tails.length > MAX_BRACES) return undefined;
  return middles.flatMap((middle) => tails.map((tail) => [...middle, ...tail]));
}

/** `1..5`, `a..e`. Undefined when it is none, and then the braces are text. */
function rangeOf(inner: readonly Letter[]): readonly (readonly Letter[])[] | undefined {
  if (inner.some(({ quoted }) => quoted)) return undefined;
  const text = inner.map((letter) => letter.text).join('');
  const numbers = /^(-?\d{1,6})\.\.(-?\d{1,6})$/.exec(text);
  const letters = /^([a-z])\.\.([a-z])$/i.exec(text);
  const [from, to] = numbers
    ? [Number(numbers[1]), Number(numbers[2])]
    : [letters?.[1]?.charCodeAt(0) ?? Number.NaN, letters?.[2]?.charCodeAt(0) ?? Number.NaN];
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
  const count = Math.min(Math.abs(to - from), MAX_BRACES) + 1;
  const step = to < from ? -1 : 1;
  return Array.from({ length: count }, (_, index) => {
    const at = from + index * step;
    return [...(numbers ? `${at}` : String.fromCharCode(at))].map((each) => ({ text: each, quoted: true }));
  });
}

const ANSI: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  r: '\r',
  v: '\v',
};

/** `$'\x72m'` names a program as well as `rm` does. */
function ansiString(body: string, around: Surrounding): string {
  const text = body.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|[uU]([0-9a-fA-F]{1,8})|([0-7]{1,3})|([\s\S]))/g,
    (_, hex: string | undefined, unicode: string | undefined, octal: string | undefined, other: string) => {
      if (hex !== undefined || unicode !== undefined)
        return codePoint(Number.parseInt(hex ?? unicode ?? '', 16));
      if (octal !== undefined) return codePoint(Number.parseInt(octal, 8));
      if (!/[nabeEfrvt\\'"?]/.test(other)) around.doubt('uses an escaped string');
      return ANSI[other] ?? other;
    },
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text)) around.doubt('uses an escaped string');
  return text;
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
