// A `Display` as text: a headline of one line, and what stands under it. The union is closed, so a new kind
// fails to compile here until it can be drawn; tools are not known by name.

import type { Display } from '../core/display.ts';
import { count, lineCount } from './amounts.ts';
import type { Paint } from './paint.ts';
import { visible, visibleLine } from './visible.ts';

/** What a call is about, in one line of which each part has at most `limit` characters. */
export function headline(display: Display, paint: Paint, limit = LIMIT): string {
  switch (display.kind) {
    case 'command':
      return `$ ${visibleLine(display.command, limit)}`;
    case 'diff':
      return `${visibleLine(display.path, limit)} ${changes(display, paint)}`;
    case 'file':
      return `${visibleLine(display.path, limit)}${range(display)}`;
    case 'matches':
      return visibleLine(display.title, limit);
    case 'table':
      return count(display.rows.length, 'row');
    case 'todo': {
      const done = display.items.filter((item) => item.state === 'done').length;
      return `${done} of ${display.items.length} done`;
    }
    case 'markdown':
      return visibleLine(firstLine(display.text), limit);
    case 'image':
      return visibleLine(display.path ?? display.mimeType, limit);
    case 'progress':
      return visibleLine(display.label, limit) + progress(display);
    case 'subrun':
      return `${visibleLine(display.agent)}: ${visibleLine(display.task, limit)}${doing(display, limit)}`;
  }
}

/** What came of it, in a few words; empty when there is nothing to add. */
export function outcome(display: Display, paint: Paint): string {
  switch (display.kind) {
    case 'command': {
      const lines = lineCount(display.output ?? '');
      const status = display.exitCode === undefined ? [] : [`exit ${display.exitCode}`];
      return [...status, ...(lines > 0 ? [count(lines, 'line')] : [])].join(', ');
    }
    case 'diff':
      return headline(display, paint);
    case 'file':
      return display.text === undefined ? '' : count(lineCount(display.text), 'line');
    case 'matches':
      return `${count(display.count, 'match', 'matches')}${display.truncated ? ', cut' : ''}`;
    case 'table':
    case 'todo':
    case 'progress':
      return headline(display, paint);
    case 'markdown':
      return count(lineCount(display.text), 'line');
    case 'image':
    case 'subrun':
      return '';
  }
}

/** The body, one string a line, sanitised and coloured; empty for what its headline says whole. */
export function details(display: Display, paint: Paint, limit = LIMIT): readonly string[] {
  switch (display.kind) {
    case 'command':
      return bodyLines(display.output ?? '');
    case 'diff':
      return bodyLines(display.diff).map((line) => diffLine(line, paint));
    case 'file':
    case 'markdown':
      return bodyLines(display.text ?? '');
    case 'matches':
      return display.lines.map((line) => visibleLine(line, limit));
    case 'table':
      return tableLines(display.columns, display.rows, paint, limit);
    case 'todo':
      return display.items.map((item) => `${TODO_MARKS[item.state]} ${visibleLine(item.text, limit)}`);
    case 'image':
    case 'progress':
    case 'subrun':
      return [];
  }
}

/** Characters of one part of a line, where somebody only looks on. */
const LIMIT = 200;

const TODO_MARKS = { pending: '☐', active: '▶', done: '☑' } as const;

/** Whether a result is worth more than one line to somebody who only looks on. */
export function showsBody(display: Display, isError: boolean): boolean {
  if (display.kind === 'command') return isError || (display.exitCode ?? 0) !== 0;
  return display.kind === 'diff' || display.kind === 'todo' || display.kind === 'table';
}

function doing({ doing: now }: { readonly doing?: string }, limit: number): string {
  return now === undefined ? '' : ` · ${visibleLine(now, limit)}`;
}

function changes(diff: { readonly added: number; readonly removed: number }, paint: Paint): string {
  return `${paint.green(`+${diff.added}`)} ${paint.red(`−${diff.removed}`)}`;
}

function range(file: { readonly firstLine?: number; readonly lines?: number }): string {
  if (file.firstLine === undefined) return '';
  if (file.lines === undefined) return `:${file.firstLine}`;
  return `:${file.firstLine}–${file.firstLine + Math.max(file.lines, 1) - 1}`;
}

function progress(of: { readonly done?: number; readonly total?: number }): string {
  if (of.done === undefined) return '';
  return of.total === undefined ? ` ${of.done}` : ` ${of.done}/${of.total}`;
}

function diffLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint.green(line);
  if (line.startsWith('-')) return paint.red(line);
  return line.startsWith('@@') ? paint.cyan(line) : line;
}

function tableLines(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  limit: number,
): readonly string[] {
  const cells = [columns, ...rows].map((row) => columns.map((_, at) => visibleLine(row[at] ?? '', limit)));
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  const lines = cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line, at) => (at === 0 ? paint.bold(line) : line));
}

function bodyLines(text: string): readonly string[] {
  if (text === '') return [];
  const whole = visible(text);
  return (whole.endsWith('\n') ? whole.slice(0, -1) : whole).split('\n');
}

export function firstLine(text: string): string {
  const start = text.trimStart();
  const end = start.indexOf('\n');
  return end === -1 ? start : start.slice(0, end);
}
