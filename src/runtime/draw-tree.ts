// A tree of entries as lines of text. What follows one from another stands one below the other; only where a branch
// parts from another is it set in, so that a long conversation stays as narrow as it is straight.

import type { TreeRow } from '../core/tape.ts';

interface Waiting {
  readonly row: TreeRow;
  /** Stands before the row, and before everything below it. */
  readonly first: string;
  readonly rest: string;
}

const ULID_LENGTH = 26;
const SHORT_LENGTH = 8;

/** Ids of one moment begin alike, so the end is what tells them apart. */
export function shortId(id: string): string {
  return id.length === ULID_LENGTH ? id.slice(-SHORT_LENGTH) : id;
}

/** Of more than `most` rows the newest; rows come parents first. The head is the last row of the branch. */
export function drawTree(rows: readonly TreeRow[], most = Number.POSITIVE_INFINITY): string {
  const shown = rows.slice(Math.max(0, rows.length - most));
  const head = shown.findLast(({ isOnBranch }) => isOnBranch);
  const children = childrenOf(shown);
  const lines = shown.length < rows.length ? [`… ${rows.length - shown.length} earlier entries`] : [];
  const stack = waiting(children.get(null) ?? [], '');
  for (;;) {
    const next = stack.pop();
    if (next === undefined) return lines.join('\n');
    lines.push(`${next.first}${lineOf(next.row, next.row === head)}`);
    stack.push(...waiting(children.get(next.row.id) ?? [], next.rest));
  }
}

/** By parent; what hangs from a row that is not shown stands at the root. */
function childrenOf(rows: readonly TreeRow[]): ReadonlyMap<string | null, readonly TreeRow[]> {
  const known = new Set(rows.map(({ id }) => id));
  const children = new Map<string | null, TreeRow[]>();
  for (const row of rows) {
    const parent = row.parentId !== null && known.has(row.parentId) ? row.parentId : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [row]);
    else siblings.push(row);
  }
  return children;
}

/** The last of them first, as a stack wants it. */
function waiting(rows: readonly TreeRow[], indent: string): Waiting[] {
  const [only] = rows;
  if (only !== undefined && rows.length === 1) return [{ row: only, first: indent, rest: indent }];
  const last = rows.length - 1;
  return rows
    .map((row, at) => ({
      row,
      first: `${indent}${at === last ? '└─' : '├─'}`,
      rest: `${indent}${at === last ? '  ' : '│ '}`,
    }))
    .reverse();
}

function lineOf({ id, kind, text, label, isOnBranch }: TreeRow, isHead: boolean): string {
  const mark = isHead ? '◆' : isOnBranch ? '●' : '○';
  const tag = label === undefined ? '' : ` [${label.replace(/[\p{Cc}\p{Cf}]/gu, ' ')}]`;
  return `${mark} ${shortId(id)}${tag} ${kind.replace(/^crab\./, '')}: ${text}`;
}
