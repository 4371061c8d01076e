// `awk`: a program is cut into tokens (POSIX.1-2024, XCU awk, grammar and lexical conventions), so that what stands in a
// string or a pattern is text. Whether a slash divides or opens a pattern depends on what stands before it; where that
// does not tell, the program is not understood.

import { dangerous, type Effect, reads, unknown, unknownOption } from './effect.ts';
import { readOptions } from './options.ts';
import type { Word } from './script.ts';
import { mayBeSecret } from './variables.ts';

export function awkEffect(args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(args, '-F: -v: --field-separator: --assign:', true);
  if (strange !== undefined) return unknownOption('awk', strange);
  const [program, ...files] = operands;
  if (program === undefined || program.glob) return unknown('runs an awk program that is not named');
  const does = doneBy(program.value);
  if (does === 'runs') return dangerous('runs a program from awk');
  if (does === 'writes') return unknown('runs an awk program that may write files');
  if (does === 'unclear') return unknown('runs an awk program that may do more than print');
  return reads(files.filter((word) => !/^[A-Za-z_]\w*=/.test(word.value)));
}

type Token = 'operand' | 'operator' | 'closed' | 'stepped';

const STRING = /"((?:[^"\\\n]|\\[\s\S])*)"/y;
const PATTERN = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|[^\]\n/\\]|\\[^\n/])*\])+\//y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
const NAME = /[A-Za-z_]\w*/y;
const SIGN = /\+\+|--|&&|\|\||[-+*/%^<>=!]=|\*\*=?|>>|[-+*/%^<>=!~?:,;(){}[\]$|\n]/y;
const SKIPPED = /(?:[ \t\r]|\\\r?\n|#[^\n]*)+/y;
/** Words behind which a value is still to come. */
const LEADING = new Set(
  'print printf return in do else case exit delete func function if while for'.split(' '),
);
/** What reads other files or sees what was not given to it. */
const UNCLEAR = new Set(['getline', 'ARGV', 'ARGC', 'include', 'load']);
/** Behind `getline`, where it takes the next line of the input and of no other file. */
const NEXT_LINE = /^(?:[ \t]+[A-Za-z_]\w*)?[ \t]*(?:[;}\n]|$)/;
const STANDARD = /^\/dev\/std(?:out|err)$/;

function doneBy(program: string): 'prints' | 'runs' | 'writes' | 'unclear' {
  let before: Token = 'operator';
  let printing = false;
  let depth = 0;
  let redirects = false;
  let asksEnvironment = false;
  let namesSecret = false;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(program);
    if (match !== null) at += match[0].length;
    return match ?? undefined;
  };
  while (at < program.length) {
    if (take(SKIPPED) !== undefined) continue;
    const string = take(STRING)?.[1];
    if (string !== undefined) {
      namesSecret ||= mayBeSecret(string);
      // What stands behind the name would be part of it.
      if (redirects && !(STANDARD.test(string) && /[ \t]*(?:[;}\n]|$)/y.test(program.slice(at))))
        return 'writes';
      redirects = false;
      before = 'operand';
      continue;
    }
    if (redirects) return 'writes';
    if (program[at] === '/' && before !== 'operand') {
      // `if (x) /y/` and `(x) / y` begin alike.
      if (before !== 'operator' || take(PATTERN) === undefined) return 'unclear';
      before = 'operand';
      continue;
    }
    if (take(NUMBER) !== undefined) {
      before = 'operand';
      continue;
    }
    const name = take(NAME)?.[0];
    if (name !== undefined) {
      if (name === 'system') return 'runs';
      if (name === 'getline' && NEXT_LINE.test(program.slice(at))) {
        before = 'closed';
        continue;
      }
      if (UNCLEAR.has(name)) return 'unclear';
      asksEnvironment ||= name === 'ENVIRON';
      if (name === 'print' || name === 'printf') {
        printing = true;
        depth = 0;
      }
      // `length / 2` and `length /x/` begin alike, too.
      before = LEADING.has(name) ? 'operator' : name === 'length' ? 'closed' : 'operand';
      continue;
    }
    const sign = take(SIGN)?.[0];
    // To a program, or from one.
    if (sign === '|') return 'runs';
    if (sign === undefined) return 'unclear';
    if (sign === '(' || sign === '[') depth += 1;
    if (sign === ')' || sign === ']') depth -= 1;
    // A line's end does not always end a statement: to go on is the careful side.
    if (sign === ';' || sign === '}') printing = false;
    // Between parentheses, and outside of a print, it compares.
    if (sign === '>>' || (sign === '>' && printing && depth <= 0)) redirects = true;
    before =
      sign === ')'
        ? 'closed'
        : sign === ']'
          ? 'operand'
          : /^(?:\+\+|--|\$)$/.test(sign)
            ? 'stepped'
            : 'operator';
  }
  if (redirects) return 'writes';
  return asksEnvironment && namesSecret ? 'unclear' : 'prints';
}
