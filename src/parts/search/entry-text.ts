// What of an entry can be searched, and how it is shown. Thinking is left out: it is the model's own. Of a result's text
// the beginning and the end count, which is where commands and errors stand.

import type { JsonObject } from '../../core/schema.ts';
import type { SpokenRole } from '../../core/search.ts';

/** Characters of a message that are indexed. */
const MAX_SAID = 64 * 1024;
/** Characters of each end of what a tool was given or gave back. */
const MAX_TOOL_END = 4 * 1024;
const MAX_DEPTH = 4;

export interface Spoken {
  readonly role: SpokenRole;
  /** What was said, or a result. */
  readonly text: string;
  /** What an assistant's message calls: `bash npm test`, one a line. */
  readonly calls: string;
  readonly toolName?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What of an entry is indexed, by column. */
export interface Columns {
  readonly user: string;
  readonly assistant: string;
  readonly tool: string;
}

/** Undefined for an entry that is no message. */
export function spokenIn(entry: JsonObject): Spoken | undefined {
  const message = entry['message'];
  if (entry['type'] !== 'message' || !isObject(message)) return undefined;
  const at = timeOf(message['timestamp']) ?? timeOf(entry['timestamp']) ?? 0;
  const text = textIn(message['content']);
  switch (message['role']) {
    case 'user':
      return { role: 'user', text, calls: '', at };
    case 'assistant':
      return { role: 'assistant', text, calls: callsIn(message['content']), at };
    default: {
      const name = message['toolName'];
      // Messages of other agents' kinds keep their text in fields of their own.
      const own = [message['command'], message['output']].filter((part) => typeof part === 'string');
      const all = [text, ...own].filter((part) => part !== '').join('\n');
      return { role: 'tool', text: all, calls: '', at, ...(typeof name === 'string' && { toolName: name }) };
    }
  }
}

export function columnsOf({ role, text, calls }: Spoken): Columns {
  if (role === 'tool') return { user: '', assistant: '', tool: ends(text) };
  const said = text.slice(0, MAX_SAID);
  return role === 'user'
    ? { user: said, assistant: '', tool: '' }
    : { user: '', assistant: said, tool: ends(calls) };
}

/** The whole message as a person reads it. */
export function shownText({ text, calls }: Spoken): string {
  return text === '' || calls === '' ? text + calls : `${text}\n${calls}`;
}

function ends(text: string): string {
  if (text.length <= 2 * MAX_TOOL_END) return text;
  return `${text.slice(0, MAX_TOOL_END)}\n${text.slice(-MAX_TOOL_END)}`;
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts: string[] = [];
  for (const block of content)
    if (isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string')
      texts.push(block['text']);
  return texts.join('\n');
}

function callsIn(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const lines: string[] = [];
  for (const block of content) {
    if (!isObject(block) || block['type'] !== 'toolCall') continue;
    const parts = [String(block['name'])];
    addValues(block['arguments'], 0, parts);
    lines.push(parts.join(' '));
  }
  return lines.join('\n');
}

function addValues(value: unknown, depth: number, parts: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') parts.push(String(value));
  else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH)
    for (const each of Object.values(value)) addValues(each, depth + 1, parts);
}

/** Milliseconds of an ISO date, or of a number that is them already. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isSafeInteger(Math.round(time)) ? Math.round(time) : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
