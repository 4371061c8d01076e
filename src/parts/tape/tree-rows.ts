// The tree of a session as rows that a person can read: what was said and what marks it, and not the bookkeeping
// between. Rows come in the order of writing, parents before children.

import { ANCHOR_ENTRY, SHELL_ENTRY } from '../../core/custom.ts';
import { type AssistantMessage, type Message, messageText, toolCalls } from '../../core/message.ts';
import type { Entry, Outline, TapeReader, TreeRow } from '../../core/tape.ts';
import { oneLine } from './one-line.ts';

const SHOWN = new Set(['message', 'compaction', 'branch_summary', 'custom_message']);
const MAX_TEXT = 200;

/** With `everything`, what is bookkeeping is shown, too. */
export function* treeRows(reader: TapeReader, everything = false): Generator<TreeRow> {
  const branch = new Set<string>();
  for (const { id } of reader.ancestry()) branch.add(id);
  /** By entry, itself where it is shown, else the nearest above it that is. */
  const shown = new Map<string | null, string | null>([[null, null]]);
  const labels = reader.labels();
  const wanted = (outline: Outline) => {
    const isRow = everything || isShown(outline);
    shown.set(outline.id, isRow ? outline.id : (shown.get(outline.parentId) ?? null));
    return isRow;
  };
  for (const entry of reader.entries(wanted)) {
    const { id, parentId, timestamp } = entry;
    const label = labels.get(id);
    yield {
      id,
      parentId: shown.get(parentId) ?? null,
      kind: kindOf(entry),
      timestamp,
      text: oneLine(textOf(entry), MAX_TEXT),
      ...(label !== undefined && { label }),
      isOnBranch: branch.has(id),
    };
  }
}

function isShown({ type, detail }: Outline): boolean {
  return SHOWN.has(type) || (type === 'custom' && (detail === SHELL_ENTRY || detail === ANCHOR_ENTRY));
}

function kindOf(entry: Entry): string {
  if (entry.type === 'message') return entry.message.role;
  return entry.type === 'custom' || entry.type === 'custom_message' ? entry.customType : entry.type;
}

function textOf(entry: Entry): string {
  switch (entry.type) {
    case 'message':
      return spoken(entry.message);
    case 'compaction':
      return entry.details?.title ?? entry.summary;
    case 'branch_summary':
      return entry.summary;
    case 'custom_message':
      return messageText({ role: 'user', content: entry.content, timestamp: 0 });
    case 'session_info':
      return entry.name;
    case 'label':
      return `${entry.label ?? ''} → ${entry.targetId}`;
    case 'leaf':
      return `→ ${entry.targetId ?? 'the beginning'}`;
    case 'model_change':
      return `${entry.provider}/${entry.modelId}`;
    case 'thinking_level_change':
      return entry.thinkingLevel;
    case 'active_tools_change':
      return entry.tools.join(' ');
    case 'custom':
      return ofCustom(entry.data);
    default:
      return '';
  }
}

function spoken(message: Message): string {
  switch (message.role) {
    case 'assistant':
      return [messageText(message), ...callNames(message)].filter((text) => text !== '').join(' ');
    case 'toolResult':
      return `${message.toolName}${message.isError ? ' failed' : ''}: ${messageText(message)}`;
    case 'user':
      return messageText(message);
    default:
      return '';
  }
}

function callNames(message: AssistantMessage): readonly string[] {
  return toolCalls(message).map(({ name, arguments: input }) => `${name}(${JSON.stringify(input)})`);
}

function ofCustom(data: unknown): string {
  const { command, name, summary } = (data ?? {}) as Readonly<Record<string, unknown>>;
  return [command && `$ ${command}`, name, summary].filter((text) => typeof text === 'string').join(' ');
}
