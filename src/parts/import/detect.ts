// Which program a file of JSON lines comes from, by what stands in it: names of files and folders say too little.

import type { JsonObject } from '../../core/schema.ts';
import { importChat, isChatLine } from './chat.ts';
import { importClaude } from './claude.ts';
import { importCodex } from './codex.ts';
import { type Importer, objectOf } from './imported.ts';

/** `tape` is our own format and pi's, which the tape itself reads. */
export const IMPORT_KINDS = ['tape', 'claude', 'codex', 'chat'] as const;

export type ImportKind = (typeof IMPORT_KINDS)[number];

export const IMPORTERS: Readonly<Record<Exclude<ImportKind, 'tape'>, Importer>> = {
  claude: importClaude,
  codex: importCodex,
  chat: importChat,
};

/** Lines from the start of a file that are enough to tell. */
export const LINES_TO_TELL = 20;

export function detect(first: readonly JsonObject[]): ImportKind | undefined {
  const [line] = first;
  if (line === undefined) return undefined;
  if (line['type'] === 'session' && typeof line['id'] === 'string') return 'tape';
  if (first.some(isCodexLine)) return 'codex';
  if (first.some(isClaudeLine)) return 'claude';
  return first.some(isChatLine) ? 'chat' : undefined;
}

function isClaudeLine(line: JsonObject): boolean {
  const hasIds = typeof line['sessionId'] === 'string' && typeof line['uuid'] === 'string';
  return (
    (hasIds && objectOf(line['message']) !== undefined) || (line['type'] === 'summary' && 'leafUuid' in line)
  );
}

const CODEX_TYPES = new Set(['session_meta', 'response_item', 'turn_context']);

function isCodexLine(line: JsonObject): boolean {
  if (CODEX_TYPES.has(String(line['type'])) && objectOf(line['payload']) !== undefined) return true;
  // The first line of older versions has no type.
  return line['type'] === undefined && typeof line['id'] === 'string' && 'instructions' in line;
}
