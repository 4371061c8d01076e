// Globs as gitignore and ripgrep have them: `*` and `?` stay within a name, `**` crosses folders, `[a-z]`, `[!a-z]`,
// `{a,b}`, and `\` before a letter that is meant itself. Dotfiles are names like any other. They are matched by
// walking, never by a regular expression, so that no pattern is slow: the time is the product of both lengths.

/** Alternatives that braces may unfold into; what is over is dropped. */
const MAX_ALTERNATIVES = 256;

/** `path` is relative, with `/` between names. */
export type Glob = (path: string) => boolean;

type Token =
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly Range[] };

type Range = readonly [from: number, to: number];

type Segment = 'folders' | readonly Token[] | string;

export function compileGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern).map((each) =>
    each
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .map(compileSegment),
  );
  return (path) => {
    const names = path.split('/');
    return alternatives.some((segments) => matchPath(segments, names));
  };
}

/**
 * A pattern without a slash is meant for names in any folder. Folders are called `[id]`, and who writes that as a pattern
 * means them: brackets match what is spelt as they are, too.
 */
export function compilePathGlob(pattern: string): Glob {
  const asSet = compileGlob(pattern);
  const spelt = pattern.replace(/(?<!\\)[[\]]/g, '\\$&');
  const asSpelt = spelt === pattern ? asSet : compileGlob(spelt);
  const matches = (path: string) => asSet(path) || asSpelt(path);
  if (pattern.replace(/\/+$/, '').includes('/')) return matches;
  return (path) => matches(path.slice(path.lastIndexOf('/') + 1));
}

/** The leading folders of a pattern that hold nothing to match, and the rest of it. */
export function splitGlob(pattern: string): { readonly base: string; readonly rest: string } {
  const names = pattern.split('/');
  let count = 0;
  while (count < names.length - 1 && !/[*?[\]{}\\]/.test(names[count] ?? '')) count++;
  const base = names.slice(0, count).join('/');
  return { base: count > 0 && base === '' ? '/' : base, rest: names.slice(count).join('/') };
}

function expandBraces(pattern: string): readonly string[] {
  const result: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined && result.length < MAX_ALTERNATIVES; next = open.pop()) {
    const group = firstGroup(next);
    if (group === undefined) result.push(next);
    else
      for (const option of group.options.toReversed())
        open.push(next.slice(0, group.start) + option + next.slice(group.end));
  }
  return result;
}

/** The first pair of braces with a comma in it; braces that do not close are letters. */
function firstGroup(pattern: string) {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    if (pattern[start - 1] === '\\') continue;
    const options: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < pattern.length; at++) {
      const letter = pattern[at];
      if (letter === '\\') at++;
      else if (letter === '{') depth++;
      else if (letter === ',' && depth === 1) {
        options.push(pattern.slice(from, at));
        from = at + 1;
      } else if (letter === '}' && --depth === 0) {
        options.push(pattern.slice(from, at));
        return { start, end: at + 1, options };
      }
    }
  }
  return undefined;
}

function compileSegment(segment: string): Segment {
  if (segment === '**') return 'folders';
  if (!/[*?[\\]/.test(segment)) return segment;
  const letters = [...segment];
  const tokens: Token[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? '';
    if (letter === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many' });
    } else if (letter === '?') tokens.push({ kind: 'one' });
    else if (letter === '[') {
      const set = parseSet(letters, at);
      if (set === undefined) tokens.push({ kind: 'letter', letter });
      else {
        tokens.push(set.token);
        at = set.last;
      }
    } else if (letter === '\\' && at + 1 < letters.length)
      tokens.push({ kind: 'letter', letter: letters[++at] ?? '' });
    else tokens.push({ kind: 'letter', letter });
  }
  return tokens;
}

function parseSet(letters: readonly string[], start: number) {
  const negated = letters[start + 1] === '!' || letters[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const ranges: Range[] = [];
  for (let at = first; at < letters.length; at++) {
    if (letters[at] === ']' && at > first)
      return { token: { kind: 'set', negated, ranges } as const, last: at };
    if (letters[at] === '\\' && at + 1 < letters.length) at++;
    const from = codeOf(letters[at]);
    const isRange = letters[at + 1] === '-' && letters[at + 2] !== undefined && letters[at + 2] !== ']';
    ranges.push([from, isRange ? codeOf(letters[at + 2]) : from]);
    if (isRange) at += 2;
  }
  return undefined;
}

function codeOf(letter: string | undefined): number {
  return letter?.codePointAt(0) ?? -1;
}

/** Goes back to the last `**` only, which is enough: what stands before it has matched as early as it can. */
function matchPath(segments: readonly Segment[], names: readonly string[]): boolean {
  let segment = 0;
  let name = 0;
  let resumeSegment = -1;
  let resumeName = 0;
  while (name < names.length) {
    const current = segments[segment];
    if (current === 'folders') {
      // At the end it stands for everything inside a folder, and not for the folder.
      if (segment === segments.length - 1) return true;
      resumeSegment = ++segment;
      resumeName = name;
    } else if (current !== undefined && matchName(current, names[name] ?? '')) {
      segment++;
      name++;
    } else if (resumeSegment !== -1) {
      segment = resumeSegment;
      name = ++resumeName;
    } else return false;
  }
  return segment === segments.length;
}

function matchName(segment: Exclude<Segment, 'folders'>, name: string): boolean {
  if (typeof segment === 'string') return segment === name;
  const letters = [...name];
  let token = 0;
  let at = 0;
  let resumeToken = -1;
  let resumeAt = 0;
  while (at < letters.length) {
    const current = segment[token];
    if (current?.kind === 'many') {
      resumeToken = ++token;
      resumeAt = at;
    } else if (current !== undefined && matchLetter(current, letters[at] ?? '')) {
      token++;
      at++;
    } else if (resumeToken !== -1) {
      token = resumeToken;
      at = ++resumeAt;
    } else return false;
  }
  while (segment[token]?.kind === 'many') token++;
  return token === segment.length;
}

function matchLetter(token: Token, letter: string): boolean {
  switch (token.kind) {
    case 'letter':
      return token.letter === letter;
    case 'set': {
      const code = codeOf(letter);
      return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
    }
    default:
      return true;
  }
}
