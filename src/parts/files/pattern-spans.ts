// Where in a text a pattern matches, for matches that may span lines: the leftmost first, each ending where its greed has it
// end, none inside of another. It follows all ways through the pattern at once, the preferred one in front (Pike's machine,
// swtch.com/~rsc/regexp/regexp2.html), so that its time grows with the text times the pattern and nothing else.

import { ToolFailure } from '../../core/errors.ts';
import {
  type Ahead,
  aheadOf,
  type Behind,
  behindOf,
  type Compiled,
  compile,
  createKinds,
  createMatcher,
  holds,
  type Kind,
} from './pattern-matcher.ts';
import type { Pattern } from './pattern-syntax.ts';

/** Instructions looked at in one text: less than a second's work, while which nothing else is done. */
const MAX_STEPS = 40_000_000;

/** Characters of the text, the second behind the last; the same for a match without any. */
export interface MatchSpan {
  readonly start: number;
  readonly end: number;
}

/** Throws `ToolFailure` when the pattern is too large, and when matching needs too much work. */
export type SpanFinder = (text: string) => readonly MatchSpan[];

export function createSpanFinder(pattern: Pattern): SpanFinder {
  const isIn = createMatcher(pattern, 'text');
  const compiled = compile(pattern);
  return (text) => {
    // Most texts have no match, and whether there is one is told many times faster than where.
    if (!isIn(text)) return [];
    const next = createNextSpan(compiled);
    const spans: MatchSpan[] = [];
    for (let from = 0; from <= text.length; ) {
      const span = next(text, from);
      if (span === undefined) break;
      spans.push(span);
      from = span.end > span.start ? span.end : span.end + 1;
    }
    return spans;
  };
}

/** The ways that are still open, the preferred first: where each is in the program, and where its match began. */
interface Ways {
  count: number;
  readonly places: Uint16Array;
  readonly starts: Int32Array;
}

function createNextSpan(compiled: Compiled): (text: string, from: number) => MatchSpan | undefined {
  const { program } = compiled;
  const kindOf = createKinds(compiled, 'text');
  const size = program.length;
  const waysOf = (): Ways => ({ count: 0, places: new Uint16Array(size), starts: new Int32Array(size) });
  const ways = waysOf();
  const following = waysOf();
  const marks = new Uint32Array(size);
  const open = new Uint16Array(2 * size + 2);
  let mark = 0;
  let steps = 0;

  /** Adds what is reached from a place without a character, in the order of preference. */
  const follow = (ways: Ways, place: number, start: number, behind: Behind, ahead: Ahead): void => {
    let depth = 0;
    open[depth++] = place;
    while (depth > 0) {
      const at = open[--depth] ?? 0;
      steps++;
      if (marks[at] === mark) continue;
      marks[at] = mark;
      const instruction = program[at];
      if (instruction?.op === 'jump') open[depth++] = instruction.to;
      else if (instruction?.op === 'split') {
        open[depth++] = instruction.second;
        open[depth++] = instruction.first;
      } else if (instruction?.op === 'assert') {
        if (holds(instruction.what, behind, ahead)) open[depth++] = at + 1;
      } else {
        ways.places[ways.count] = at;
        ways.starts[ways.count++] = start;
      }
    }
  };

  return (text, from) => {
    following.count = 0;
    let found: MatchSpan | undefined;
    let behind = behindOf(kindBefore(text, from, kindOf));
    for (let at = from; ; ) {
      const code = text.codePointAt(at);
      const kind = code === undefined ? undefined : kindOf(code).kind;
      const ahead = aheadOf(kind);
      mark++;
      ways.count = 0;
      // What the last character led to stands before what begins here: the leftmost match wins.
      for (let index = 0; index < following.count; index++)
        follow(ways, following.places[index] ?? 0, following.starts[index] ?? 0, behind, ahead);
      if (found === undefined) follow(ways, 0, at, behind, ahead);
      following.count = 0;
      for (let index = 0; index < ways.count; index++) {
        const place = ways.places[index] ?? 0;
        const start = ways.starts[index] ?? 0;
        const instruction = program[place];
        if (instruction?.op === 'match') {
          // Whatever comes behind is less preferred than this.
          found = { start, end: at };
          break;
        }
        if (instruction?.op === 'set' && kind?.inSet[instruction.set] === true) {
          following.places[following.count] = place + 1;
          following.starts[following.count++] = start;
        }
      }
      if (steps > MAX_STEPS) throw tooCostly();
      if (kind === undefined || (found !== undefined && following.count === 0)) return found;
      behind = behindOf(kind);
      at += (code ?? 0) > 0xffff ? 2 : 1;
    }
  };
}

function kindBefore(text: string, at: number, kindOf: ReturnType<typeof createKinds>): Kind | undefined {
  if (at === 0) return undefined;
  const low = text.charCodeAt(at - 1);
  const isPair = low >= 0xdc00 && low < 0xe000;
  return kindOf(text.codePointAt(isPair ? at - 2 : at - 1) ?? 0).kind;
}

function tooCostly(): ToolFailure {
  return new ToolFailure(
    'The search over several lines is too costly without ripgrep: make the pattern simpler, or narrow it with path or glob.',
  );
}
