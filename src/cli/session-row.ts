// A session in a line of a list: when it was written last, how to name it, and what it is about.

import { localTime } from '../core/local-time.ts';
import type { SessionMeta } from '../core/tape.ts';
import { count } from '../faces/amounts.ts';
import { visibleLine } from '../faces/visible.ts';

export interface RowOptions {
  readonly hasFolder?: boolean;
}

export function sessionRow(meta: SessionMeta, { hasFolder = false }: RowOptions = {}): string {
  const { id, name, cwd, updated, messages, summary, firstPrompt } = meta;
  const about = name ?? summary ?? firstPrompt ?? '';
  const folder = hasFolder ? `  ${cwd}` : '';
  return visibleLine(
    `${localTime(updated)}  ${id}  ${count(messages, 'message')}${folder}  ${about}`.trimEnd(),
    300,
  );
}
