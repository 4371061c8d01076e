// Unified diffs of what a tool changed. What both texts have in common at either end is cut off first, so that the
// cost is that of the change and not of the file; a change that takes the algorithm too long is shown as one block.

import type { Display } from '../../core/display.ts';
import { lazy } from './lazy.ts';

const CONTEXT_LINES = 3;
const MAX_DIFF_MS = 300;

/** Lines of a diff that a person is shown; the counts are those of all. */
const MAX_DIFF_LINES = 1000;

export type DiffDisplay = Extract<Display, { readonly kind: 'diff' }>;

/** Both texts have `\n` line ends. */
export type Differ = (path: string, before: string, after: string) => Promise<DiffDisplay>;

export function createDiffer(): Differ {
  const library = lazy(() => import('diff'));
  return async (path, before, after) => {
    if (before === after) return { kind: 'diff', path, diff: '', added: 0, removed: 0 };
    const { structuredPatch } = await library();
    const window = changedLines(before, after);
    const options = { context: CONTEXT_LINES, timeout: MAX_DIFF_MS };
    const patch = structuredPatch('', '', window.before, window.after, '', '', options);
    const hunks = patch?.hunks ?? [oneBlock(window.before, window.after)];
    return { kind: 'diff', path, ...render(path, hunks, window.line) };
  };
}

interface DiffHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

function render(path: string, hunks: readonly DiffHunk[], offset: number) {
  const lines = [`--- ${path}`, `+++ ${path}`];
  let added = 0;
  let removed = 0;
  let over = 0;
  const show = (line: string) => {
    if (lines.length < MAX_DIFF_LINES) lines.push(line);
    else over++;
  };
  for (const hunk of hunks) {
    // The format counts from the line before where a side is empty.
    const from = hunk.oldStart + offset - (hunk.oldLines === 0 ? 1 : 0);
    const to = hunk.newStart + offset - (hunk.newLines === 0 ? 1 : 0);
    show(`@@ -${from},${hunk.oldLines} +${to},${hunk.newLines} @@`);
    for (const line of hunk.lines) {
      show(line);
      if (line.startsWith('+')) added++;
      else if (line.startsWith('-')) removed++;
    }
  }
  if (over > 0) lines.push(`… ${over} more lines`);
  return { diff: `${lines.join('\n')}\n`, added, removed };
}

/** The lines that differ, with context; `line` is the number of lines before them. */
function changedLines(before: string, after: string) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let tail = 0;
  while (
    tail < most - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail++;
  start = linesBack(before, start);
  const end = linesOn(before, before.length - tail);
  let line = 0;
  for (let at = before.indexOf('\n'); at !== -1 && at < start; at = before.indexOf('\n', at + 1)) line++;
  return {
    line,
    before: before.slice(start, end),
    after: after.slice(start, after.length - (before.length - end)),
  };
}

/** The start of the line that lies the lines of context before the one at `offset`. */
function linesBack(text: string, offset: number): number {
  let at = offset;
  for (let line = 0; line <= CONTEXT_LINES && at > 0; line++) at = text.lastIndexOf('\n', at - 1);
  return at <= 0 ? 0 : at + 1;
}

/** The end of the line that lies the lines of context behind the one at `offset`. */
function linesOn(text: string, offset: number): number {
  let at = offset;
  for (let line = 0; line <= CONTEXT_LINES; line++) {
    at = text.indexOf('\n', at);
    if (at === -1) return text.length;
    at++;
  }
  return at;
}

function oneBlock(before: string, after: string): DiffHunk {
  const [old, fresh] = [splitLines(before), splitLines(after)];
  return {
    oldStart: 1,
    oldLines: old.length,
    newStart: 1,
    newLines: fresh.length,
    lines: [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)],
  };
}

/** The lines of a text; a line end at its end begins no further one. */
export function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
