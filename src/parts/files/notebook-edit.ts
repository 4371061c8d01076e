// One change to a notebook: the source of a cell replaced, a cell put in or taken out. All else of the file keeps its
// bytes. A changed cell of code loses its outputs, since they are not those of the new source (as JupyterLab does).

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { elementSpans, memberSpans, type Span, skipBlank } from './json-spans.ts';
import { parseNotebook } from './notebook.ts';

export type CellType = 'code' | 'markdown' | 'raw';

export type CellEdit =
  | { readonly kind: 'replace'; readonly cell: string; readonly source: string; readonly type?: CellType }
  /** `after` is empty for the beginning. */
  | { readonly kind: 'insert'; readonly after: string; readonly source: string; readonly type: CellType }
  | { readonly kind: 'delete'; readonly cell: string };

export interface EditedNotebook {
  readonly text: string;
  /** Of the cell, from 1. */
  readonly number: number;
  readonly cells: number;
}

/** @param text of the file, with `\n` line ends */
export function editNotebook(text: string, edit: CellEdit, shown: string): EditedNotebook {
  const notebook = parseNotebook(text);
  if (notebook === undefined)
    throw new ToolFailure(`${shown} is no Jupyter notebook of format 4; use edit for other files.`);
  const root = memberSpans(text, skipBlank(text, 0));
  const list = root.get('cells') ?? { start: 0, end: 0 };
  const spans = elementSpans(text, list.start);
  const { cells } = notebook;
  const style = indentation(text);
  if (edit.kind === 'insert') {
    const at = edit.after === '' ? 0 : find(cells, edit.after, shown) + 1;
    const cell = newCell(edit, hasIds(text, root) ? freshId(cells) : undefined);
    return {
      text: inserted(text, list, spans, at, rendered(cell, style)),
      number: at + 1,
      cells: cells.length + 1,
    };
  }
  const at = find(cells, edit.cell, shown);
  const span = spans[at] ?? list;
  if (edit.kind === 'delete')
    return { text: removed(text, list, spans, at), number: at + 1, cells: cells.length - 1 };
  const cell = replaced(text, span, cells[at] ?? {}, edit, style);
  return {
    text: text.slice(0, span.start) + cell + text.slice(span.end),
    number: at + 1,
    cells: cells.length,
  };
}

/** By its id, or by its number from 1 where no id is so. */
function find(cells: readonly JsonObject[], name: string, shown: string): number {
  const byId = cells.findIndex((cell) => cell['id'] === name);
  if (byId !== -1) return byId;
  const number = Number(/^(?:cell[- ]?)?(\d+)$/i.exec(name)?.[1] ?? 0);
  if (number >= 1 && number <= cells.length) return number - 1;
  throw new ToolFailure(
    `${shown} has no cell ${JSON.stringify(name)}: give the id that read shows, or a number from 1 to ${cells.length}.`,
  );
}

function replaced(
  text: string,
  span: Span,
  cell: JsonObject,
  edit: Extract<CellEdit, { kind: 'replace' }>,
  style: Style,
): string {
  const own = text.slice(span.start, span.end);
  const type = edit.type ?? cell['cell_type'];
  if (type !== cell['cell_type']) return rendered(retyped(cell, type as CellType, edit.source), style);
  const members = memberSpans(own, 0);
  const values = new Map<string, unknown>([['source', sourceLines(edit.source)]]);
  if (type === 'code') values.set('outputs', []).set('execution_count', null);
  const changes = [...members].filter(([key]) => values.has(key)).sort(([, a], [, b]) => b.start - a.start);
  let result = own;
  for (const [key, { start, end }] of changes)
    result = result.slice(0, start) + inner(values.get(key), style, 3) + result.slice(end);
  return result;
}

function retyped(cell: JsonObject, type: CellType, source: string): JsonObject {
  const { outputs, execution_count, attachments, ...rest } = cell;
  return { ...rest, ...cellOf(type, source) };
}

function newCell(
  edit: { readonly source: string; readonly type: CellType },
  id: string | undefined,
): JsonObject {
  return { ...(id !== undefined && { id }), metadata: {}, ...cellOf(edit.type, edit.source) };
}

function cellOf(type: CellType, source: string): JsonObject {
  const run = type === 'code' ? { execution_count: null, outputs: [] } : {};
  return { cell_type: type, ...run, source: sourceLines(source) };
}

function sourceLines(source: string): readonly string[] {
  return source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Ids came with format 4.5. */
function hasIds(text: string, root: ReadonlyMap<string, Span>): boolean {
  const number = (key: string) => {
    const span = root.get(key);
    return span === undefined ? 0 : Number(text.slice(span.start, span.end));
  };
  return number('nbformat') > 4 || (number('nbformat') === 4 && number('nbformat_minor') >= 5);
}

function freshId(cells: readonly JsonObject[]): string {
  for (;;) {
    const id = Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
    if (!cells.some((cell) => cell['id'] === id)) return id;
  }
}

/** What one level is indented by; undefined for a text on one line. */
type Style = string | undefined;

function indentation(text: string): Style {
  return /^\s*\{\n([ \t]+)"/.exec(text)?.[1];
}

function rendered(cell: JsonObject, style: Style): string {
  const ordered = Object.fromEntries(Object.entries(cell).sort(([a], [b]) => (a < b ? -1 : 1)));
  return inner(ordered, style, 2);
}

/** The value as it stands `depth` levels deep. */
function inner(value: unknown, style: Style, depth: number): string {
  return JSON.stringify(value, null, style).replaceAll('\n', `\n${(style ?? '').repeat(depth)}`);
}

function inserted(text: string, list: Span, spans: readonly Span[], at: number, cell: string): string {
  const style = indentation(text);
  const line = style === undefined ? '' : `\n${style.repeat(2)}`;
  const next = spans[at];
  if (next !== undefined)
    return `${text.slice(0, next.start)}${cell},${line === '' ? ' ' : line}${text.slice(next.start)}`;
  const last = spans.at(-1);
  if (last !== undefined)
    return `${text.slice(0, last.end)},${line === '' ? ' ' : line}${cell}${text.slice(last.end)}`;
  const end = style === undefined ? '' : `\n${style}`;
  return `${text.slice(0, list.start)}[${line}${cell}${end}]${text.slice(list.end)}`;
}

function removed(text: string, list: Span, spans: readonly Span[], at: number): string {
  const [before, own, after] = [spans[at - 1], spans[at], spans[at + 1]];
  if (own === undefined) return text;
  if (after !== undefined) return text.slice(0, own.start) + text.slice(after.start);
  if (before !== undefined) return text.slice(0, before.end) + text.slice(own.end);
  return `${text.slice(0, list.start)}[]${text.slice(list.end)}`;
}
