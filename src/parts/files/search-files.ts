// Searching without ripgrep: the same files in the same order, with a matcher that no pattern can slow down. It reads each file whole, which is why very large ones are left out, and the result says so.

import { join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { MatchReport } from './match-report.ts';
import { createMatcher } from './pattern-matcher.ts';
import { createSpanFinder, type MatchSpan } from './pattern-spans.ts';
import { literalPattern, parsePattern } from './pattern-syntax.ts';
import type { SearchQuery } from './ripgrep.ts';
import { walkFiles } from './walk.ts';

const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Milliseconds after which the search ends with what it has. */
const MAX_SEARCH_MS = 30_000;

export async function searchWithoutRipgrep(
  query: SearchQuery,
  context: ToolContext,
  report: MatchReport,
  accepts: (path: string) => boolean,
): Promise<void> {
  const matchingLines = createLineFinder(query);
  const ends = performance.now() + MAX_SEARCH_MS;
  let tooLarge = 0;
  const visit = async (path: string): Promise<boolean> => {
    if (!accepts(path)) return true;
    context.signal.throwIfAborted();
    const text = await searchable(join(query.root, path), context);
    if (text === undefined) tooLarge++;
    else if (text !== null)
      searchText(path, text, { matchingLines, before: query.before, after: query.after }, report);
    if (performance.now() < ends) return !report.full;
    report.note(`The search was ended after ${MAX_SEARCH_MS / 1000} s: narrow it with path or glob.`);
    return false;
  };
  if (query.file === undefined)
    await walkFiles({ files: context.files, root: query.root, signal: context.signal, visit });
  else await visit(query.file);
  if (tooLarge > 0)
    report.note(
      `Not searched: ${tooLarge === 1 ? 'one file' : `${tooLarge} files`} larger than ${MAX_FILE_BYTES / 1024 / 1024} MB.`,
    );
}

/** The text of a file; null when it is binary or cannot be read, undefined when it is too large. */
async function searchable(path: string, context: ToolContext): Promise<string | null | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await context.files.read(path, { offset: 0, length: MAX_FILE_BYTES + 1 });
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
  if (bytes.length > MAX_FILE_BYTES) return undefined;
  // The encodings that ripgrep tells by their mark; everything else is taken as UTF-8.
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.includes(0) ? null : new TextDecoder().decode(bytes);
}

/** The numbers, from 0 and in order, of the lines that match or belong to a match. */
type LineFinder = (text: string, lines: readonly string[]) => Iterable<number>;

function createLineFinder({ pattern, literal, ignoreCase, multiline }: SearchQuery): LineFinder {
  const parse = literal ? literalPattern : parsePattern;
  const parsed = parse(pattern, { ignoreCase, multiline });
  if (multiline) {
    const find = createSpanFinder(parsed);
    return (text) => linesOf(find(text), text);
  }
  const matches = createMatcher(parsed);
  return function* (_text, lines) {
    for (const [at, line] of lines.entries()) if (matches(line)) yield at;
  };
}

function* linesOf(spans: readonly MatchSpan[], text: string): Iterable<number> {
  let line = 0;
  let start = 0;
  let next = 0;
  for (const span of spans) {
    // Behind the last line end there is no line.
    if (span.start === text.length && text.endsWith('\n')) return;
    const last = Math.max(span.start, span.end - 1);
    for (;;) {
      const end = text.indexOf('\n', start);
      const isIn = span.start <= end || end === -1;
      if (isIn && line >= next) {
        yield line;
        next = line + 1;
      }
      if (end === -1 || end >= last) break;
      start = end + 1;
      line++;
    }
  }
}

interface Searched {
  readonly matchingLines: LineFinder;
  readonly before: number;
  readonly after: number;
}

function searchText(path: string, text: string, query: Searched, report: MatchReport): void {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const show = (at: number, matched: boolean) => report.line(at + 1, lines[at] ?? '', matched);
  report.begin(path);
  // The line behind the last one that was shown, and how far the context of the last match goes.
  let next = 0;
  let contextEnd = 0;
  for (const at of query.matchingLines(text, lines)) {
    for (; next < contextEnd && next < at; next++) show(next, false);
    for (next = Math.max(next, at - query.before); next < at; next++) show(next, false);
    show(at, true);
    next = at + 1;
    contextEnd = Math.min(lines.length, next + query.after);
    if (report.full) break;
  }
  for (; next < contextEnd; next++) show(next, false);
  report.end(false);
}
