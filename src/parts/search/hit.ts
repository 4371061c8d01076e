// What is shown of a hit: the session's facts from the index, and of the messages around it nothing but their own lines
// from the file. A line that is not there any more is left out; the next search sees that the file changed.

import { MAX_WINDOW, type SessionHit, type WindowItem } from '../../core/search.ts';
import { SLOTS } from './database.ts';
import { shownText, spokenIn } from './entry-text.ts';
import type { Ranked } from './ranking.ts';
import { recordIn } from './read-session.ts';
import type { IndexedSession, SessionIndex } from './session-index.ts';
import { SessionFile } from './session-lines.ts';
import { snippetOf } from './snippet.ts';

export interface Around {
  readonly before: number;
  readonly after: number;
}

/** Within the bounds of a window. */
export function windowSize(before: number, after: number): Around {
  const most = MAX_WINDOW - 1;
  const first = Math.min(Math.max(0, Math.trunc(before)), most);
  return { before: first, after: Math.min(Math.max(0, Math.trunc(after)), most - first) };
}

/** `words` are those that were looked for. */
export function hitOf(
  index: SessionIndex,
  { doc, score }: Ranked,
  around: Around,
  words: readonly string[],
): SessionHit | undefined {
  const id = Math.floor(doc / SLOTS);
  const session = sessionOf(index, id);
  if (session === undefined) return undefined;
  const found = Math.max(0, (doc % SLOTS) - 1);
  const range = { from: Math.max(0, found - around.before), to: found + around.after };
  return {
    session_id: session.session,
    msg_idx: found,
    score,
    meta: {
      title: session.title === '' ? session.opening : session.title,
      created_at: session.created,
      updated_at: session.updated,
      message_count: session.messages,
      agent: session.agent,
      cwd: session.cwd,
    },
    window: windowOf(index, session, range, words),
  };
}

function sessionOf(index: SessionIndex, id: number): IndexedSession | undefined {
  return index.statement('SELECT * FROM sessions WHERE id = ?').get(id) as unknown as
    | IndexedSession
    | undefined;
}

interface Place {
  readonly doc: number;
  readonly offset: number;
  readonly length: number;
}

function windowOf(
  index: SessionIndex,
  { id, path }: IndexedSession,
  { from, to }: { readonly from: number; readonly to: number },
  words: readonly string[],
): readonly WindowItem[] {
  const sql = 'SELECT doc, "offset", length FROM messages WHERE doc BETWEEN ? AND ? ORDER BY doc';
  const first = id * SLOTS + 1;
  const places = index.statement(sql).all(first + from, first + to) as unknown as readonly Place[];
  let file: SessionFile;
  try {
    file = new SessionFile(path);
  } catch {
    return [];
  }
  try {
    return places.flatMap(({ doc, offset, length }) => itemOf(file.read(offset, length), doc - first, words));
  } finally {
    file.close();
  }
}

function itemOf(line: Buffer, index: number, words: readonly string[]): readonly WindowItem[] {
  const record = recordIn(line);
  const spoken = record && spokenIn(record);
  if (spoken === undefined) return [];
  const { role, toolName } = spoken;
  const { snippet, truncated } = snippetOf(shownText(spoken), words);
  return [
    { role, msg_idx: index, snippet, truncated, ...(toolName !== undefined && { tool_name: toolName }) },
  ];
}
