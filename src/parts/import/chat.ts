// Plain chat logs: one message a line in the shape of OpenAI's chat API, with lines between that say where the log was
// compacted (`{"compact": summary, "title", "archived_at"}`) or where a new view begins (an anchor). The first line may
// tell of the log. Several small agents keep their history so, each with or without an envelope of its own.

import { ANCHOR_ENTRY } from '../../core/custom.ts';
import type { AssistantContent, InputContent } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { NO_USAGE } from '../../core/usage.ts';
import {
  callOf,
  EntryChain,
  type ImportContext,
  type Imported,
  objectOf,
  objectsOf,
  textOf,
} from './imported.ts';

export function importChat(lines: Iterable<JsonObject>, context: ImportContext): Imported {
  const chain = new EntryChain(context);
  const callNames = new Map<string, string>();
  let meta: JsonObject = {};
  for (const line of lines) {
    const record = unwrapped(line);
    chain.at(record['timestamp'] ?? record['archived_at'] ?? record['created_at'] ?? record['date']);
    if (isMark(record)) addMark(chain, record);
    else if (textOf(record['role']) !== undefined) addMessage(chain, record, callNames);
    else if (chain.isEmpty) meta = { ...meta, ...record };
  }
  const [cwd, name] = [textOf(meta['cwd']), textOf(meta['title'])];
  const time = textOf(meta['created_at']) ?? chain.entries[0]?.timestamp;
  return {
    ...(cwd !== undefined && { cwd }),
    ...(name !== undefined && { name }),
    ...(time !== undefined && { timestamp: time }),
    entries: chain.entries,
  };
}

/** Whether a line is of such a log. */
export function isChatLine(line: JsonObject): boolean {
  const record = unwrapped(line);
  return isMark(record) || ['user', 'assistant', 'tool', 'system'].includes(String(record['role']));
}

/** A line that says what it is and keeps the rest apart. */
function unwrapped(line: JsonObject): JsonObject {
  const payload = objectOf(line['payload']) ?? objectOf(line['message']);
  const kind = textOf(line['kind']) ?? textOf(line['type']);
  return payload === undefined ? line : { ...line, ...payload, ...(kind !== undefined && { kind }) };
}

function isMark(record: JsonObject): boolean {
  const { compact, anchor, kind, type, role } = record;
  if (role !== undefined) return false;
  return typeof compact === 'string' || typeof anchor === 'string' || kind === 'anchor' || type === 'anchor';
}

function addMark(chain: EntryChain, record: JsonObject): void {
  const { compact, anchor, name, summary, state, title } = record;
  if (typeof compact === 'string') {
    chain.compact(compact, textOf(title));
    return;
  }
  const told = textOf(summary) ?? textOf(objectOf(state)?.['summary']) ?? '';
  const data = { name: textOf(anchor) ?? textOf(name) ?? 'anchor', summary: told };
  chain.add({ type: 'custom', customType: ANCHOR_ENTRY, data });
}

function addMessage(chain: EntryChain, record: JsonObject, callNames: Map<string, string>): void {
  const timestamp = chain.time;
  if (record['auto_injected'] === true) return;
  if (record['role'] === 'user') {
    const content = contentOf(record['content']);
    if (content.length > 0) chain.say({ role: 'user', content, timestamp });
  } else if (record['role'] === 'assistant') {
    const content = answerOf(record);
    for (const block of content) if (block.type === 'toolCall') callNames.set(block.id, block.name);
    if (content.length === 0) return;
    const agent = textOf(record['agent']);
    chain.say({
      role: 'assistant',
      content,
      api: 'openai-chat',
      provider: 'unknown',
      model: textOf(record['model']) ?? 'unknown',
      usage: NO_USAGE,
      stopReason: content.some((block) => block.type === 'toolCall') ? 'toolUse' : 'stop',
      ...(agent !== undefined && { agent }),
      timestamp,
    });
  } else if (record['role'] === 'tool') {
    const id = String(record['tool_call_id']);
    const content = contentOf(record['content']);
    const blocks: readonly InputContent[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const toolName = textOf(record['name']) ?? callNames.get(id) ?? 'unknown';
    const isError = record['is_error'] === true;
    chain.say({ role: 'toolResult', toolCallId: id, toolName, content: blocks, isError, timestamp });
  }
}

function answerOf(record: JsonObject): readonly AssistantContent[] {
  const thinking = textOf(record['reasoning_content']);
  const content = contentOf(record['content']);
  const texts =
    typeof content === 'string'
      ? content === ''
        ? []
        : [{ type: 'text', text: content } as const]
      : content;
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking } as const]),
    ...texts.flatMap((block) => (block.type === 'text' ? [block] : [])),
    ...objectsOf(record['tool_calls']).map((call) => {
      const { name, arguments: input } = objectOf(call['function']) ?? call;
      return callOf(call['id'], name, input);
    }),
  ];
}

function contentOf(content: unknown): string | readonly InputContent[] {
  if (typeof content === 'string') return content;
  return objectsOf(content).flatMap((block): readonly InputContent[] => {
    const text = textOf(block['text']);
    if (text !== undefined) return [{ type: 'text', text }];
    const url = textOf(objectOf(block['image_url'])?.['url']) ?? '';
    const { mimeType, data } =
      /^data:(?<mimeType>image\/[\w.+-]+);base64,(?<data>[A-Za-z0-9+/=]+)$/.exec(url)?.groups ?? {};
    return mimeType === undefined || data === undefined ? [] : [{ type: 'image', mimeType, data }];
  });
}
