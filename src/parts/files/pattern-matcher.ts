// Whether a line matches a pattern, in time that grows with the line and nothing else: the pattern becomes a
// nondeterministic automaton, and its sets of states become a deterministic one as they are met (Thompson 1968; the
// lazy form is that of RE2). JavaScript's own engine goes back and tries again, which for `(a+)+$` takes for ever.

import { ToolFailure } from '../../core/errors.ts';
import { type Assertion, isClass, type Pattern, WORD_CLASS } from './pattern-syntax.ts';

/** Instructions of one pattern, counted repetitions unfolded. */
const MAX_PROGRAM = 5000;

/** Deterministic states that are kept; with more of them all are built anew. */
const MAX_STATES = 1000;

/** Instructions looked at while states are built, for all lines of one search. */
const MAX_STEPS = 15_000_000;

/** Stands for bytes that are no text, which no class matches, as for ripgrep. */
const REPLACEMENT = 0xfffd;

/** Both end a line for `^` and `$`, which do not match between the two of them, as with ripgrep's `--crlf`. */
const RETURN = 0x0d;
const NEWLINE = 0x0a;

/** What is looked at: a line without its end, in which nothing matches a return, or a text. */
export type Scope = 'line' | 'text';

export type Instruction =
  | { readonly op: 'set'; readonly set: number }
  | { readonly op: 'assert'; readonly what: Assertion }
  /** Goes on at both, and would rather go on at the first. */
  | { readonly op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { readonly op: 'match' };

type Repeat = Extract<Pattern, { readonly kind: 'repeat' }>;

/** A kind of character: all that no set of the pattern tells apart. */
export interface Kind {
  readonly inSet: readonly boolean[];
  readonly isWord: boolean;
  readonly endsLine: boolean;
  readonly isReturn: boolean;
  readonly isNewline: boolean;
}

interface State extends Behind {
  /** In order. */
  readonly places: Uint16Array;
  /** The state after a character of the kind, or true for a match before it. */
  readonly next: (State | true | undefined)[];
  /** Whether a text that ends here matches. */
  accepts: boolean | undefined;
}

/** Throws `ToolFailure` when the pattern is too large, and when matching needs too much work. */
export type Matcher = (text: string) => boolean;

export function createMatcher(pattern: Pattern, scope: Scope = 'line'): Matcher {
  const compiled = compile(pattern);
  const { program } = compiled;
  const kindOf = createKinds(compiled, scope);
  const states = new Map<string, State>();
  let steps = 0;

  // Scratch space for one step; a place is marked with the number of the step that met it.
  const marks = new Uint32Array(program.length);
  const reached = new Uint16Array(program.length);
  const open = new Uint16Array(2 * program.length + 2);
  let mark = 0;

  const stateOf = (places: Uint16Array, behind: Behind): State => {
    const { atStart, afterWord, afterReturn } = behind;
    const flags = (atStart ? 1 : 0) + (afterWord ? 2 : 0) + (afterReturn ? 4 : 0);
    const key = String.fromCharCode(flags, ...places);
    const known = states.get(key);
    if (known !== undefined) return known;
    if (states.size >= MAX_STATES) states.clear();
    const state: State = { places, next: [], ...behind, accepts: undefined };
    states.set(key, state);
    return state;
  };

  /** Puts into `reached` what is reached without a character; its number, or -1 when the match is. */
  const reach = (state: State, ahead: Ahead): number => {
    mark++;
    let count = 0;
    for (const place of state.places) {
      let depth = 0;
      open[depth++] = place;
      while (depth > 0) {
        const at = open[--depth] ?? 0;
        if (marks[at] === mark) continue;
        marks[at] = mark;
        reached[count++] = at;
        const instruction = program[at];
        if (instruction?.op === 'match') return -1;
        if (instruction?.op === 'jump') open[depth++] = instruction.to;
        else if (instruction?.op === 'split') {
          open[depth++] = instruction.second;
          open[depth++] = instruction.first;
        } else if (instruction?.op === 'assert' && holds(instruction.what, state, ahead))
          open[depth++] = at + 1;
      }
    }
    steps += count;
    if (steps > MAX_STEPS)
      throw new ToolFailure(
        'The pattern is too costly without ripgrep: make it simpler, or set literal to search for a text.',
      );
    return count;
  };

  const step = (state: State, kind: Kind): State | true => {
    const count = reach(state, aheadOf(kind));
    if (count === -1) return true;
    // A match may begin at every character; no other place leads back to the first.
    let kept = 1;
    for (let index = 0; index < count; index++) {
      const at = reached[index] ?? 0;
      const instruction = program[at];
      if (instruction?.op === 'set' && kind.inSet[instruction.set] === true) open[kept++] = at + 1;
    }
    open[0] = 0;
    return stateOf(open.slice(0, kept).sort(), behindOf(kind));
  };

  const start = stateOf(new Uint16Array(1), behindOf(undefined));
  return (line) => {
    let state = start;
    for (let at = 0; at < line.length; at++) {
      const code = line.codePointAt(at) ?? 0;
      if (code > 0xffff) at++;
      const kind = kindOf(code);
      let next = state.next[kind.index];
      if (next === undefined) {
        next = step(state, kind.kind);
        state.next[kind.index] = next;
      }
      if (next === true) return true;
      state = next;
    }
    state.accepts ??= reach(state, aheadOf(undefined)) === -1;
    return state.accepts;
  };
}

/** What an assertion asks of the character behind. */
export interface Behind {
  readonly atStart: boolean;
  readonly afterWord: boolean;
  readonly afterReturn: boolean;
}

/** What an assertion asks of the character that comes next. */
export interface Ahead {
  readonly isWord: boolean;
  readonly atEnd: boolean;
  readonly isNewline: boolean;
}

/** Undefined: the text begins here. */
export function behindOf(kind: Kind | undefined): Behind {
  if (kind === undefined) return { atStart: true, afterWord: false, afterReturn: false };
  return { atStart: kind.endsLine, afterWord: kind.isWord, afterReturn: kind.isReturn };
}

/** Undefined: the text ends here. */
export function aheadOf(kind: Kind | undefined): Ahead {
  if (kind === undefined) return { isWord: false, atEnd: true, isNewline: false };
  return { isWord: kind.isWord, atEnd: kind.endsLine, isNewline: kind.isNewline };
}

export function holds(what: Assertion, state: Behind, ahead: Ahead): boolean {
  switch (what) {
    case 'start':
      return state.atStart && !(state.afterReturn && ahead.isNewline);
    case 'end':
      return ahead.atEnd && !(state.afterReturn && ahead.isNewline);
    case 'boundary':
      return state.afterWord !== ahead.isWord;
    case 'inside':
      return state.afterWord === ahead.isWord;
    case 'wordStart':
      return !state.afterWord && ahead.isWord;
    case 'wordEnd':
      return state.afterWord && !ahead.isWord;
  }
}

interface NumberedKind {
  readonly index: number;
  readonly kind: Kind;
}

/** Sorts characters into kinds as they are met, by asking each set about them once. */
export function createKinds(
  { sets, aboutWords }: Pick<Compiled, 'sets' | 'aboutWords'>,
  scope: Scope,
): (code: number) => NumberedKind {
  const word = new RegExp(`^${WORD_CLASS}$`, 'v');
  const bySignature = new Map<string, NumberedKind>();
  const byCode = new Map<number, NumberedKind>();
  const ascii: (NumberedKind | undefined)[] = new Array(128).fill(undefined);
  const classify = (code: number): NumberedKind => {
    const letter = String.fromCodePoint(code);
    const inSet = sets.map((set) => isMatchable(code, set, scope) && set.test(letter));
    const isReturn = code === RETURN;
    const isNewline = code === NEWLINE;
    const endsLine = isReturn || isNewline;
    const isWord = aboutWords && word.test(letter);
    const signature =
      inSet.map(Number).join('') + (isWord ? 'w' : '') + (isReturn ? 'r' : '') + (isNewline ? 'n' : '');
    const known = bySignature.get(signature);
    if (known !== undefined) return known;
    const kind = { index: bySignature.size, kind: { inSet, isWord, endsLine, isReturn, isNewline } };
    bySignature.set(signature, kind);
    return kind;
  };
  return (code: number): NumberedKind => {
    const known = code < 128 ? ascii[code] : byCode.get(code);
    if (known !== undefined) return known;
    const kind = classify(code);
    if (code < 128) ascii[code] = kind;
    else byCode.set(code, kind);
    return kind;
  };
}

/** A set that is the replacement character alone means the character; every other would match it by chance. */
function isMatchable(code: number, set: RegExp, scope: Scope): boolean {
  if (code === REPLACEMENT) return set.source === `^[\\u{${code.toString(16)}}]$`;
  return scope === 'text' || code !== RETURN;
}

export interface Compiled {
  readonly program: readonly Instruction[];
  readonly sets: readonly RegExp[];
  /** Word boundaries play a part. */
  readonly aboutWords: boolean;
}

/** Throws `ToolFailure`. */
export function compile(pattern: Pattern): Compiled {
  const program: Instruction[] = [];
  const sets: RegExp[] = [];
  const numbers = new Map<string, number>();
  let aboutWords = false;

  const emit = <T extends Instruction>(instruction: T): T => {
    if (program.length >= MAX_PROGRAM)
      throw new ToolFailure('The pattern is too large without ripgrep: lower its counts.');
    program.push(instruction);
    return instruction;
  };

  const setNumber = (source: string, fold: boolean): number => {
    const key = `${source}/${fold ? 'i' : ''}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (!isClass(source)) throw new ToolFailure(`The class ${source} is not supported without ripgrep.`);
    sets.push(new RegExp(`^${source}$`, fold ? 'iv' : 'v'));
    numbers.set(key, sets.length - 1);
    return sets.length - 1;
  };

  const add = (node: Pattern): void => {
    switch (node.kind) {
      case 'set':
        emit({ op: 'set', set: setNumber(node.source, node.fold) });
        return;
      case 'assert':
        aboutWords ||= node.what !== 'start' && node.what !== 'end';
        emit({ op: 'assert', what: node.what });
        return;
      case 'sequence':
        for (const item of node.items) add(item);
        return;
      case 'choice':
        addChoice(node.options);
        return;
      case 'repeat':
        addRepeat(node);
    }
  };

  const addChoice = (options: readonly Pattern[]): void => {
    const jumps = [];
    for (const option of options.slice(0, -1)) {
      const split = emit({ op: 'split', first: program.length + 1, second: 0 });
      add(option);
      jumps.push(emit({ op: 'jump', to: 0 }));
      split.second = program.length;
    }
    const last = options.at(-1);
    if (last !== undefined) add(last);
    for (const jump of jumps) jump.to = program.length;
  };

  const addRepeat = ({ item, least, most, lazy }: Repeat): void => {
    const optional = [];
    const addOptional = () => {
      optional.push({ split: emit({ op: 'split', first: 0, second: 0 }), on: program.length });
      add(item);
    };
    const isEndless = most === Number.POSITIVE_INFINITY;
    for (let count = 0; count < (isEndless ? least - 1 : least); count++) add(item);
    let begin = program.length;
    // `x*` is `(?:x+)?`, so that an item that may be empty is tried before it is passed over.
    if (isEndless && least > 0) add(item);
    else for (let count = least; count < (isEndless ? least + 1 : most); count++) addOptional();
    if (isEndless) {
      if (least === 0) begin++;
      optional.push({ split: emit({ op: 'split', first: 0, second: 0 }), on: begin });
    }
    for (const { split, on } of optional)
      [split.first, split.second] = lazy ? [program.length, on] : [on, program.length];
  };

  add(pattern);
  emit({ op: 'match' });
  return { program, sets, aboutWords };
}
