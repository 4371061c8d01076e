// Searching without ripgrep: the same files in the same order, line by line, with a matcher that no pattern can slow
// down. It reads each file whole, which is why very large ones are left out, and the result says so.

import { join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { MatchReport } from './match-report.ts';
import { createMatcher, type LineMatcher } from './pattern-matcher.ts';
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
  const parse = query.literal ? literalPattern : parsePattern;
  const matches = createMatcher(parse(query.pattern, { ignoreCase: query.ignoreCase }));
  const ends = performance.now() + MAX_SEARCH_MS;
  let tooLarge = 0;
  const visit = async (path: string): Promise<boolean> => {
    if (!accepts(path)) return true;
    context.signal.throwIfAborted();
    const text = await searchable(join(query.root, path), context);
    if (text === undefined) tooLarge++;
    else if (text !== null) searchText(path, text, { matches, context: query.context }, report);
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

function searchText(
  path: string,
  text: string,
  query: { readonly matches: LineMatcher; readonly context: number },
  report: MatchReport,
): void {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const show = (at: number, matched: boolean) => report.line(at + 1, lines[at] ?? '', matched);
  report.begin(path);
  // The line behind the last one that was shown, and how far the context of the last match goes.
  let next = 0;
  let contextEnd = 0;
  for (const [at, line] of lines.entries()) {
    if (!query.matches(line)) continue;
    for (; next < contextEnd && next < at; next++) show(next, false);
    for (next = Math.max(next, at - query.context); next < at; next++) show(next, false);
    show(at, true);
    next = at + 1;
    contextEnd = Math.min(lines.length, next + query.context);
    if (report.full) break;
  }
  for (; next < contextEnd; next++) show(next, false);
  report.end(false);
}
