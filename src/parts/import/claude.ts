// Sessions of Claude Code (`~/.claude/projects/<folder>/<uuid>.jsonl`). An answer comes as one line for each of its
// blocks, which share the message's id. Lines hang together by `uuid` and `parentUuid`; results of parallel calls hang
// from the line of their call, beside one another, and stand in a row here.

import type { AssistantContent, AssistantMessage, InputContent, UserMessage } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { usageOf } from '../../core/usage.ts';
import {
  callOf,
  EntryChain,
  type ImportContext,
  type Imported,
  objectOf,
  objectsOf,
  textOf,
} from './imported.ts';

export function importClaude(lines: Iterable<JsonObject>, context: ImportContext): Imported {
  const reading = new ClaudeReading(context);
  for (const line of lines) reading.take(line);
  return reading.finish();
}

interface Answer {
  readonly entryId: string;
  readonly message: AssistantMessage;
}

/** Records of commands that Claude Code answered itself: they were never part of the talk. */
const OWN_COMMAND =
  /^<(command-name|command-message|local-command-stdout|local-command-stderr|bash-input|bash-stdout)>/;

class ClaudeReading {
  readonly #chain: EntryChain;
  /** By the uuid of a line the entry that it became, or that of the nearest line above it. */
  readonly #entries = new Map<string, string | null>();
  /** By the provider's id of the message. */
  readonly #answers = new Map<string, Answer>();
  readonly #callNames = new Map<string, string>();
  /** Entries that a later one may pass over when it looks for its parent. */
  readonly #rowed = new Map<string, string | null>();
  #id: string | undefined;
  #cwd: string | undefined;
  #name: string | undefined;
  #summary: string | undefined;
  #timestamp: string | undefined;
  #model: string | undefined;

  constructor(context: ImportContext) {
    this.#chain = new EntryChain(context);
  }

  take(line: JsonObject): void {
    if (line['type'] === 'summary') this.#summary = textOf(line['summary']) ?? this.#summary;
    if (line['type'] === 'custom-title') this.#name = textOf(line['customTitle']) ?? this.#name;
    const uuid = textOf(line['uuid']);
    if (uuid === undefined || line['isSidechain'] === true) return;
    this.#id ??= textOf(line['sessionId']);
    this.#cwd ??= textOf(line['cwd']);
    this.#timestamp ??= textOf(line['timestamp']);
    this.#chain.at(line['timestamp']);
    const parent = this.#parentOf(line);
    this.#entries.set(uuid, this.#entryFor(line, parent) ?? parent);
  }

  finish(): Imported {
    const name = this.#name ?? this.#summary;
    return {
      ...(this.#id !== undefined && { id: this.#id }),
      ...(this.#cwd !== undefined && { cwd: this.#cwd }),
      ...(name !== undefined && { name }),
      ...(this.#timestamp !== undefined && { timestamp: this.#timestamp }),
      entries: this.#chain.entries,
    };
  }

  #parentOf(line: JsonObject): string | null {
    const parent = textOf(line['parentUuid']) ?? textOf(line['logicalParentUuid']);
    return (parent === undefined ? undefined : this.#entries.get(parent)) ?? null;
  }

  /** Returns the entry that the line became; undefined when it became none. */
  #entryFor(line: JsonObject, parent: string | null): string | undefined {
    const message = objectOf(line['message']);
    if (line['type'] === 'system' && line['subtype'] === 'compact_boundary') return undefined;
    if (message === undefined || line['isMeta'] === true || line['isApiErrorMessage'] === true)
      return undefined;
    if (line['type'] === 'assistant') return this.#answer(message, parent);
    if (line['type'] !== 'user') return undefined;
    if (line['isCompactSummary'] === true) {
      const text = textIn(message['content']);
      this.#chain.head = parent ?? this.#chain.head;
      return this.#chain.compact(text);
    }
    return this.#user(message, parent);
  }

  #answer(message: JsonObject, parent: string | null): string | undefined {
    const content = objectsOf(message['content']).flatMap((block) => blockOf(block) ?? []);
    for (const block of content) if (block.type === 'toolCall') this.#callNames.set(block.id, block.name);
    const id = textOf(message['id']) ?? '';
    const begun = this.#answers.get(id);
    if (begun !== undefined) {
      const joined = answerOf(message, [...begun.message.content, ...content], begun.message.timestamp);
      this.#chain.replace(begun.entryId, joined);
      this.#answers.set(id, { entryId: begun.entryId, message: joined });
      return begun.entryId;
    }
    if (content.length === 0) return undefined;
    const answer = answerOf(message, content, this.#chain.time);
    const above = this.#below(parent);
    const entryId = this.#chain.say(answer, this.#noteModel(answer.model, above));
    if (id !== '') this.#answers.set(id, { entryId, message: answer });
    this.#rowed.set(entryId, above);
    return entryId;
  }

  /** Returns whom the answer hangs from then. */
  #noteModel(modelId: string, parent: string | null): string | null {
    if (this.#model === modelId) return parent;
    this.#model = modelId;
    return this.#chain.add({ type: 'model_change', provider: 'anthropic', modelId }, parent);
  }

  #user({ content }: JsonObject, parent: string | null): string | undefined {
    const blocks = objectsOf(content);
    let last: string | undefined;
    for (const block of blocks) {
      if (block['type'] !== 'tool_result') continue;
      const above: string | null = this.#below(last ?? parent);
      last = this.#result(block, above);
      this.#rowed.set(last, above);
    }
    const said = typeof content === 'string' ? content : blocks.flatMap((block) => inputOf(block) ?? []);
    if (said.length === 0 || (typeof said === 'string' && OWN_COMMAND.test(said))) return last;
    const message: UserMessage = { role: 'user', content: said, timestamp: this.#chain.time };
    return this.#chain.say(message, last ?? this.#below(parent));
  }

  #result(block: JsonObject, parent: string | null): string {
    const id = String(block['tool_use_id']);
    const { content } = block;
    const shown: readonly InputContent[] =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : objectsOf(content).flatMap((each) => inputOf(each) ?? []);
    return this.#chain.say(
      {
        role: 'toolResult',
        toolCallId: id,
        toolName: this.#callNames.get(id) ?? 'unknown',
        content: shown,
        isError: block['is_error'] === true,
        timestamp: this.#chain.time,
      },
      parent,
    );
  }

  /** The end of the row of answers and results that begins at `parent`, where it is the one written last. */
  #below(parent: string | null): string | null {
    if (parent === null) return null;
    for (let at: string | null | undefined = this.#chain.head; at != null; at = this.#rowed.get(at)) {
      if (at === parent) return this.#chain.head;
    }
    return parent;
  }
}

function answerOf(
  message: JsonObject,
  content: readonly AssistantContent[],
  timestamp: number,
): AssistantMessage {
  const usage = objectOf(message['usage']) ?? {};
  const tokens = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0);
  return {
    role: 'assistant',
    content,
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: textOf(message['model']) ?? 'unknown',
    usage: usageOf({
      input: tokens('input_tokens'),
      output: tokens('output_tokens'),
      cacheRead: tokens('cache_read_input_tokens'),
      cacheWrite: tokens('cache_creation_input_tokens'),
    }),
    stopReason: content.some((block) => block.type === 'toolCall') ? 'toolUse' : 'stop',
    timestamp,
  };
}

function blockOf(block: JsonObject): AssistantContent | undefined {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: String(block['text'] ?? '') };
    case 'thinking':
      return {
        type: 'thinking',
        thinking: String(block['thinking'] ?? ''),
        thinkingSignature: String(block['signature'] ?? ''),
      };
    case 'redacted_thinking':
      return {
        type: 'thinking',
        thinking: '',
        thinkingSignature: String(block['data'] ?? ''),
        redacted: true,
      };
    case 'tool_use':
      return callOf(block['id'], block['name'], block['input']);
    default:
      return undefined;
  }
}

function inputOf(block: JsonObject): InputContent | undefined {
  if (block['type'] === 'text') return { type: 'text', text: String(block['text'] ?? '') };
  const source = objectOf(block['source']);
  const data = textOf(source?.['data']);
  const mimeType = textOf(source?.['media_type']);
  if (source?.['type'] !== 'base64' || data === undefined || mimeType === undefined) return undefined;
  if (block['type'] === 'image') return { type: 'image', data, mimeType };
  if (block['type'] !== 'document' || mimeType !== 'application/pdf') return undefined;
  const name = textOf(block['title']);
  return { type: 'document', data, mimeType, ...(name !== undefined && { name }) };
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((block) => String(block['text'] ?? ''))
    .join('');
}
