// `crab session list`, `show` and `tree`: nothing here changes anything, so a session that somebody has open can be
// looked at, too.

import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../core/errors.ts';
import { localTime } from '../core/local-time.ts';
import { type Message, messageText, toolCalls } from '../core/message.ts';
import type { ListWatch, SessionMeta, TapeReader } from '../core/tape.ts';
import { visible, visibleLine } from '../faces/visible.ts';
import { treeRows } from '../parts/tape/tree-rows.ts';
import { drawTree } from '../runtime/draw-tree.ts';
import { locate, numberOf, type SessionCall, usage, wordsOf } from './session-call.ts';
import { sessionRow } from './session-row.ts';

const MESSAGES_SHOWN = 20;

export async function listSessions(call: SessionCall): Promise<number> {
  wordsOf(call, 'list', 0);
  const { flags, tapes } = call;
  const limit = numberOf(flags.limit, '--limit');
  const offset = numberOf(flags.offset, '--offset');
  if (flags.folder !== undefined && flags.all === true) throw usage('--folder and --all exclude each other.');
  const isEverywhere = flags.folder === undefined && (flags.all === true || flags.trash === true);
  const sessions = await watched(call, (watch) =>
    tapes.list(
      {
        ...(!isEverywhere && { cwd: folderOf(flags.folder) }),
        ...(flags.agent !== undefined && { agent: flags.agent }),
        ...(limit !== undefined && { limit }),
        ...(offset !== undefined && { offset }),
        ...(flags.trash === true && { discarded: true }),
      },
      watch,
    ),
  );
  if (flags.json === true) await call.printJson(sessions.map(plainMeta));
  else if (sessions.length === 0) await call.print('There is no session here.\n');
  else {
    const row = (meta: SessionMeta) => `${sessionRow(meta, { hasFolder: flags.all === true })}\n`;
    await call.print(sessions.map(row).join(''));
  }
  return EXIT.success;
}

/** Tells how far it has come, and ends with Ctrl-C. */
async function watched<T>(
  { progress, signal }: SessionCall,
  work: (watch: ListWatch) => Promise<T>,
): Promise<T> {
  try {
    const onProgress = (read: number, all: number) => progress.tell(`${read} of ${all} sessions`);
    return await work({ onProgress, signal });
  } finally {
    await progress.over();
  }
}

/** Sessions keep the name of their folder without links, as the system tells it; one that is gone has no other. */
function folderOf(given: string | undefined): string {
  if (given === undefined) return process.cwd();
  const path = resolve(given);
  return existsSync(path) ? realpathSync(path) : path;
}

export async function showSession(call: SessionCall): Promise<number> {
  const [text] = wordsOf(call, 'show [SESSION]', 0, 1);
  const { flags, tapes } = call;
  const path = await locate(call, text);
  const reader = await tapes.read(path);
  for (const notice of reader.notices) await call.warn(notice);
  // A list takes the count from the end of the file, where another program has left none.
  const meta = { ...(await tapes.meta(path)), messages: reader.info().messages };
  const messages = pageOf(reader, {
    limit: numberOf(flags.limit, '--limit') ?? MESSAGES_SHOWN,
    offset: numberOf(flags.offset, '--offset'),
  });
  const spent = spentIn(reader);
  const { parentSession, origin } = reader.header;
  if (flags.json === true) {
    const from = { ...(parentSession && { parentSession }), ...(origin && { origin }) };
    await call.printJson({ ...plainMeta(meta), ...from, ...spent, shown: messages });
    return EXIT.success;
  }
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['session', meta.id],
    ['name', meta.name],
    ['file', meta.path],
    ['folder', meta.cwd],
    ['agent', meta.sender === undefined ? meta.agent : `${meta.agent}, speaking with ${meta.sender}`],
    ['made', localTime(meta.created)],
    ['written', localTime(meta.updated)],
    ['forked from', parentSession],
    ['imported', origin && `from ${origin.kind}: ${origin.path}`],
    ['messages', `${meta.messages}, ${spent.tokens} tokens, $${spent.costUsd.toFixed(4)}`],
    ['summary', meta.summary],
  ];
  for (const [left, right] of rows)
    if (right !== undefined) await call.print(`${left.padEnd(11)} ${visibleLine(right, 1000)}\n`);
  for (const message of messages) await call.print(`\n${said(message)}\n`);
  return EXIT.success;
}

export async function showTree(call: SessionCall): Promise<number> {
  const [text] = wordsOf(call, 'tree [SESSION]', 0, 1);
  const { flags, tapes } = call;
  const reader = await tapes.read(await locate(call, text));
  for (const notice of reader.notices) await call.warn(notice);
  const rows = [...treeRows(reader, flags.all === true)];
  const limit = numberOf(flags.limit, '--limit') ?? rows.length;
  if (flags.json === true) await call.printJson(rows.slice(Math.max(0, rows.length - limit)));
  else if (rows.length === 0) await call.print('Nothing was said in it.\n');
  else await call.print(`${drawTree(rows, limit)}\n`);
  return EXIT.success;
}

interface Page {
  readonly limit: number;
  /** Messages from the start of the branch; undefined for the last ones. */
  readonly offset: number | undefined;
}

/** Messages of the branch; no more of them are read than are shown. */
function pageOf(reader: TapeReader, { limit, offset }: Page): readonly Message[] {
  const ids: string[] = [];
  for (const { id, type } of reader.ancestry()) if (type === 'message') ids.push(id);
  ids.reverse();
  const from = offset ?? Math.max(0, ids.length - limit);
  const wanted = new Set(ids.slice(from, from + limit));
  const messages: Message[] = [];
  for (const entry of reader.branch({ wanted: ({ id }) => wanted.has(id) }))
    if (entry.type === 'message') messages.push(entry.message);
  return messages;
}

/** What every answer on every branch cost, by the providers' own counts. */
function spentIn(reader: TapeReader): { readonly tokens: number; readonly costUsd: number } {
  let tokens = 0;
  let costUsd = 0;
  for (const entry of reader.entries(({ detail }) => detail === 'assistant')) {
    if (entry.type !== 'message' || entry.message.role !== 'assistant') continue;
    // Another program's message may have no usage.
    const { usage } = entry.message as Partial<typeof entry.message>;
    tokens += usage?.totalTokens ?? 0;
    costUsd += usage?.cost?.total ?? 0;
  }
  return { tokens, costUsd };
}

function said(message: Message): string {
  const text = visible(messageText(message)).trimEnd();
  switch (message.role) {
    case 'user':
      return `› ${text}`;
    case 'assistant': {
      const calls = toolCalls(message).map(
        ({ name, arguments: input }) => `⚙ ${visibleLine(`${name} ${JSON.stringify(input)}`)}`,
      );
      return [text, ...calls].filter((line) => line !== '').join('\n');
    }
    case 'toolResult':
      return `  ${message.isError ? '✗' : '✓'} ${visibleLine(`${message.toolName}: ${text}`)}`;
    default:
      return '';
  }
}

/** As JSON: times in ISO 8601, the name as its title. */
export function plainMeta({ name, created, updated, ...meta }: SessionMeta): object {
  const title = name === undefined ? {} : { title: name };
  return {
    ...meta,
    ...title,
    created: new Date(created).toISOString(),
    updated: new Date(updated).toISOString(),
  };
}
