// The patterns of rules: globs over tool names and commands, and gitignore's patterns over paths (gitignore(5)).
// Commands are matched without regular expressions, because several `*` in one would take polynomial time.

import { isAbsolute, join, relative, sep } from 'node:path';

/** `*`, `?` and `[abc]` over a whole name. */
export function nameGlob(pattern: string): (name: string) => boolean {
  if (!/[*?[]/.test(pattern)) return (name) => name === pattern;
  const expression = new RegExp(`^${globSource(pattern, '[^]*', '[^]')}$`);
  return (name) => expression.test(name);
}

export interface CommandPattern {
  matches(text: string): boolean;
  /** The letters before the first `*`: all of it when there is none. */
  readonly prefix: string;
  readonly exact: boolean;
}

/**
 * `npm test` is that text, `npm run *` (or the older `npm run:*`) that and every argument, any other `*` any letters.
 * Before a `*`, backslashes work as quotes do for it: `\*` is a star, `\\*` a backslash and any letters.
 */
export function commandPattern(spec: string): CommandPattern {
  const source = spec.replace(/:\*$/, ' *').trim();
  const pieces = starPieces(source);
  const last = pieces.at(-1);
  const words = pieces.length > 1 && last === '' && pieces.at(-2)?.endsWith(' ') === true;
  const head = pieces
    .slice(0, -1)
    .map((piece, index, all) => (index === all.length - 1 ? piece.trimEnd() : piece));
  return {
    prefix: pieces[0] ?? '',
    exact: pieces.length === 1,
    matches: (text) => matchPieces(text, pieces) || (words && matchPieces(text, head)),
  };
}

export function escapeCommand(text: string): string {
  return text.replace(/(\\*)\*/g, '$1$1\\*');
}

function starPieces(source: string): readonly string[] {
  const pieces = [''];
  let rest = 0;
  for (const match of source.matchAll(/(\\*)\*/g)) {
    const slashes = match[1]?.length ?? 0;
    const before = source.slice(rest, match.index) + '\\'.repeat(Math.floor(slashes / 2));
    pieces[pieces.length - 1] += before + (slashes % 2 === 1 ? '*' : '');
    if (slashes % 2 === 0) pieces.push('');
    rest = match.index + match[0].length;
  }
  pieces[pieces.length - 1] += source.slice(rest);
  return pieces;
}

/** First piece at the start, last at the end, each other at its first place in between. */
function matchPieces(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > text.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

export interface PathPattern {
  /** Where the pattern begins. Links in it may be followed, because whoever wrote the rule wrote it out. */
  readonly anchor: string;
  matches(path: string, anchor: string): boolean;
}

/**
 * `//abs`, `~/home`, `/from the workspace root`, `./cwd` or `name` at any depth. It matches the path and all below.
 * `wide` is for rules that restrict: case is ignored, as file systems may, and a bare name is meant everywhere.
 */
export function pathPattern(
  spec: string,
  options: { readonly cwd: string; readonly home?: string; readonly wide: boolean },
): PathPattern {
  const { cwd, home, wide } = options;
  const absolute = (text: string): PathPattern => {
    const components = text.split('/');
    const firstGlob = components.findIndex((component) => /[*?[\\]/.test(component));
    const literal = firstGlob === -1 ? components : components.slice(0, firstGlob);
    const rest = firstGlob === -1 ? [] : components.slice(firstGlob);
    const anchor = literal.join('/');
    return anchored(anchor === '' ? '/' : anchor, rest.join('/'), wide);
  };
  if (/^\/?\/[A-Za-z]:[\\/]/.test(spec)) return absolute(spec.replace(/^\/+/, ''));
  if (spec.startsWith('//')) return absolute(spec.slice(1));
  if (spec === '~' || spec.startsWith('~/')) return anchored(home ?? '/', spec.slice(2), wide);
  if (spec.startsWith('/')) return anchored(cwd, spec.slice(1), wide);
  if (/^\.\.?(?:\/|$)/.test(spec)) {
    const [, climbs = '', rest = ''] = /^((?:\.\.?(?:\/|$))*)([\s\S]*)$/.exec(spec) ?? [];
    return anchored(join(cwd, climbs), rest, wide);
  }
  const bare = !spec.replace(/\/$/, '').includes('/');
  return anchored(bare && wide ? '/' : cwd, bare ? `**/${spec}` : spec, wide);
}

function anchored(anchor: string, rest: string, wide: boolean): PathPattern {
  const source = pathSource(rest.replace(/\/+$/, ''));
  const expression = new RegExp(`^${source}$`, wide ? 'i' : '');
  return {
    anchor,
    matches(path, base) {
      const way = relative(wide ? base.toLowerCase() : base, wide ? path.toLowerCase() : path);
      if (isAbsolute(way) || way.split(sep)[0] === '..') return false;
      return expression.test(sep === '/' ? way : way.replaceAll(sep, '/'));
    },
  };
}

function pathSource(pattern: string): string {
  if (pattern === '') return '[^]*';
  // `src/**` is everything below `src`, and naming a folder already means that.
  const components = pattern
    .replace(/(?<=[^/*])(?:\/\*\*)+$/, '')
    .split('/')
    .filter((component, index, all) => component !== '**' || all[index - 1] !== '**');
  let source = '';
  for (const [index, component] of components.entries()) {
    const last = index === components.length - 1;
    if (component === '**') source += last ? '[^]*' : '(?:[^/]+/)*';
    else source += globSource(component, '[^/]*', '[^/]') + (last ? '(?:/[^]*)?' : '/');
  }
  return source;
}

export function escapePath(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, '\\$&');
}

function globSource(pattern: string, any: string, one: string): string {
  return pattern.replace(
    /\\([\s\S])|(\*+)|(\?)|\[(!|\^)?(\]?[^\]]*)\]|([\s\S])/g,
    (_, escaped?: string, star?: string, single?: string, not?: string, set?: string, other?: string) => {
      if (star !== undefined) return any;
      if (single !== undefined) return one;
      if (set !== undefined) return `[${not === undefined ? '' : '^'}${set.replace(/[\\\][]/g, '\\$&')}]`;
      return (escaped ?? other ?? '').replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    },
  );
}
