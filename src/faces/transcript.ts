// A branch as what a person reads: each answer together with what came of its calls, and the marks between. Everything
// that shows a session to people is made from these items.

import { ANCHOR_ENTRY, type Anchor, SHELL_ENTRY, type ShellRecord } from '../core/custom.ts';
import {
  type AssistantMessage,
  type InputContent,
  type Message,
  type ToolResultMessage,
  toolCalls,
} from '../core/message.ts';
import type { JsonObject } from '../core/schema.ts';
import type { Entry } from '../core/tape.ts';

type Content = string | readonly InputContent[];

export type TranscriptItem = { /** ISO 8601. */ readonly timestamp: string } & (
  | { readonly kind: 'user'; readonly content: Content }
  | {
      readonly kind: 'assistant';
      readonly message: AssistantMessage;
      /** By call; one that was never answered is missing. */
      readonly results: ReadonlyMap<string, ToolResultMessage>;
    }
  | { readonly kind: 'shell'; readonly record: ShellRecord }
  /** What an extension said. */
  | { readonly kind: 'note'; readonly from: string; readonly content: Content }
  /** The model started afresh here, with this text where there is one. */
  | { readonly kind: 'compaction' | 'branch' | 'anchor'; readonly title: string; readonly summary: string }
);

/** `entries` from the root to the head. */
export function* transcript(entries: Iterable<Entry>): Generator<TranscriptItem> {
  let answer: { readonly item: TranscriptItem; readonly results: Map<string, ToolResultMessage> } | undefined;
  for (const entry of entries) {
    if (entry.type === 'message' && entry.message.role === 'toolResult') {
      answer?.results.set(entry.message.toolCallId, entry.message);
      continue;
    }
    const item = itemOf(entry);
    if (item === undefined) continue;
    if (answer !== undefined) yield answer.item;
    answer = undefined;
    if (item.kind === 'assistant' && toolCalls(item.message).length > 0) {
      const results = new Map<string, ToolResultMessage>();
      answer = { item: { ...item, results }, results };
    } else yield item;
  }
  if (answer !== undefined) yield answer.item;
}

function itemOf(entry: Entry): TranscriptItem | undefined {
  const { timestamp } = entry;
  switch (entry.type) {
    case 'message':
      return spoken(entry.message, timestamp);
    case 'compaction': {
      const { summary, details } = entry;
      return { kind: 'compaction', title: details?.title ?? 'Compaction', summary, timestamp };
    }
    case 'branch_summary':
      return { kind: 'branch', title: 'Back from another branch', summary: entry.summary, timestamp };
    case 'custom_message':
      if (!entry.display) return undefined;
      return { kind: 'note', from: entry.customType, content: entry.content, timestamp };
    case 'custom':
      return ofCustom(entry.customType, entry.data, timestamp);
    default:
      return undefined;
  }
}

function ofCustom(type: string, data: unknown, timestamp: string): TranscriptItem | undefined {
  if (type === SHELL_ENTRY) return { kind: 'shell', record: data as ShellRecord, timestamp };
  if (type !== ANCHOR_ENTRY) return undefined;
  const { name, summary } = data as Anchor;
  return { kind: 'anchor', title: name, summary, timestamp };
}

/** Messages of the three roles, and the two more that pi writes (`messages.ts` of pi-mono). */
function spoken(message: Message, timestamp: string): TranscriptItem | undefined {
  if (message.role === 'user') return { kind: 'user', content: message.content, timestamp };
  if (message.role === 'assistant') return { kind: 'assistant', message, results: new Map(), timestamp };
  const { role, customType, content, display, command, output, exitCode } = message as unknown as JsonObject;
  if (role === 'custom' && display !== false)
    return { kind: 'note', from: String(customType), content: content as Content, timestamp };
  if (role !== 'bashExecution') return undefined;
  const code = typeof exitCode === 'number' ? exitCode : null;
  const record = { command: String(command), cwd: '', exitCode: code, output: String(output) };
  return { kind: 'shell', record, timestamp };
}
