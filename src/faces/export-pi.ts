// A session as pi reads it (version 3; `session-manager.ts` and `messages.ts` of pi-mono). Our format is pi's, so most
// entries go as they are; what pi has no word for becomes what pi would have written in its place.

import { ANCHOR_ENTRY, type Anchor, SHELL_ENTRY, type ShellRecord } from '../core/custom.ts';
import type { InputContent, Message } from '../core/message.ts';
import { type Entry, TAPE_VERSION, type TapeHeader } from '../core/tape.ts';
import { jsonLine } from './json-line.ts';

/** `entries` in the order of writing, every branch; `leafId` is the head, which pi takes from the last line. */
export function* exportPi(
  header: TapeHeader,
  entries: Iterable<Entry>,
  leafId: string | null,
): Generator<string> {
  const { id, timestamp, cwd, parentSession } = header;
  const parent = parentSession === undefined ? {} : { parentSession };
  yield jsonLine({ type: 'session', version: TAPE_VERSION, id, timestamp, cwd, ...parent });
  let last: string | null = null;
  let time = timestamp;
  for (const entry of entries) {
    // The next entry says whom it hangs from, which is all that a leaf is there for.
    if (entry.type === 'leaf') continue;
    yield jsonLine(piEntry(entry));
    last = entry.id;
    time = entry.timestamp;
  }
  if (leafId !== null && last !== leafId)
    yield jsonLine({
      type: 'custom',
      id: `${leafId}-head`,
      parentId: leafId,
      timestamp: time,
      customType: 'crab.head',
      data: {},
    });
}

function piEntry(entry: Entry): object {
  const { id, parentId, timestamp } = entry;
  const base = { id, parentId, timestamp };
  switch (entry.type) {
    case 'message':
      return { ...entry, message: piMessage(entry.message) };
    case 'custom_message':
      return { ...entry, content: piContent(entry.content) };
    case 'custom': {
      if (entry.customType === SHELL_ENTRY)
        return { type: 'message', ...base, message: bashExecution(entry.data as ShellRecord, timestamp) };
      if (entry.customType !== ANCHOR_ENTRY) return entry;
      const { name, summary } = entry.data as Anchor;
      // Kept from itself on: nothing of what came before.
      return {
        type: 'compaction',
        ...base,
        summary: summary === '' ? `The conversation starts afresh here (${name}).` : summary,
        firstKeptEntryId: id,
        tokensBefore: 0,
      };
    }
    default:
      return entry;
  }
}

function piMessage(message: Message): Message {
  if (message.role === 'user') return { ...message, content: piContent(message.content) };
  if (message.role === 'toolResult') return { ...message, content: message.content.map(piBlock) };
  return message;
}

function piContent(content: string | readonly InputContent[]): string | readonly InputContent[] {
  return typeof content === 'string' ? content : content.map(piBlock);
}

function piBlock(block: InputContent): InputContent {
  return block.type === 'document' ? { type: 'text', text: `[document ${block.name ?? ''}]` } : block;
}

function bashExecution({ command, output, exitCode }: ShellRecord, timestamp: string): object {
  return {
    role: 'bashExecution',
    command,
    output,
    ...(exitCode !== null && { exitCode }),
    cancelled: exitCode === null,
    truncated: false,
    timestamp: Date.parse(timestamp),
  };
}
