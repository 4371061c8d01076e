// Sessions of Codex (`~/.codex/sessions/**/rollout-*.jsonl`): items of the Responses API, in lines that wrap them
// (`{timestamp, type, payload}`) or, from older versions, as they are. What Codex itself puts before a prompt, the
// surroundings and the instructions, was never said by anybody and is left out.

import type { AssistantContent, AssistantMessage, InputContent } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { NO_USAGE, type Usage, usageOf } from '../../core/usage.ts';
import {
  callOf,
  EntryChain,
  type ImportContext,
  type Imported,
  objectOf,
  objectsOf,
  textOf,
} from './imported.ts';

export function importCodex(lines: Iterable<JsonObject>, context: ImportContext): Imported {
  const reading = new CodexReading(context);
  for (const line of lines) reading.take(line);
  return reading.finish();
}

const FRAMING =
  /^\s*(<environment_context>|<user_instructions>|<permissions instructions>|# AGENTS\.md instructions)/;

const TOOL_CALLS = new Set(['function_call', 'custom_tool_call', 'local_shell_call']);
const TOOL_OUTPUTS = new Set(['function_call_output', 'custom_tool_call_output', 'local_shell_call_output']);

class CodexReading {
  readonly #chain: EntryChain;
  readonly #callNames = new Map<string, string>();
  /** The answer that is being put together: reasoning, text and calls are items of their own. */
  #content: AssistantContent[] = [];
  #usage: Usage = NO_USAGE;
  #model = 'unknown';
  #noted: string | undefined;
  #provider = 'openai';
  #id: string | undefined;
  #cwd: string | undefined;
  #timestamp: string | undefined;

  constructor(context: ImportContext) {
    this.#chain = new EntryChain(context);
  }

  take(line: JsonObject): void {
    this.#chain.at(line['timestamp']);
    const payload = objectOf(line['payload']);
    switch (line['type']) {
      case 'session_meta':
        this.#meta(payload ?? {});
        break;
      case 'turn_context':
        this.#model = textOf(payload?.['model']) ?? this.#model;
        this.#cwd ??= textOf(payload?.['cwd']);
        break;
      case 'event_msg':
        this.#event(payload ?? {});
        break;
      case 'response_item':
        this.#item(payload ?? {});
        break;
      case 'compacted':
        this.#endAnswer();
        this.#chain.compact(textOf(payload?.['message']) ?? '');
        break;
      case undefined:
        this.#meta(line);
        break;
      default:
        this.#item(line);
    }
  }

  finish(): Imported {
    this.#endAnswer();
    return {
      ...(this.#id !== undefined && { id: this.#id }),
      ...(this.#cwd !== undefined && { cwd: this.#cwd }),
      ...(this.#timestamp !== undefined && { timestamp: this.#timestamp }),
      entries: this.#chain.entries,
    };
  }

  #meta(meta: JsonObject): void {
    this.#id ??= textOf(meta['id']);
    this.#cwd ??= textOf(meta['cwd']);
    this.#timestamp ??= textOf(meta['timestamp']);
    this.#provider = textOf(meta['model_provider']) ?? this.#provider;
  }

  /** Of the events only the counts are not said elsewhere. */
  #event(event: JsonObject): void {
    const last = objectOf(objectOf(event['info'])?.['last_token_usage']);
    if (event['type'] !== 'token_count' || last === undefined) return;
    const tokens = (key: string) => (typeof last[key] === 'number' ? last[key] : 0);
    const cacheRead = tokens('cached_input_tokens');
    const input = tokens('input_tokens') - cacheRead;
    this.#usage = usageOf({ input, output: tokens('output_tokens'), cacheRead, cacheWrite: 0 });
  }

  #item(item: JsonObject): void {
    const type = String(item['type']);
    if (type === 'message') this.#message(item);
    else if (type === 'reasoning') this.#reasoning(item);
    else if (TOOL_CALLS.has(type)) this.#call(item);
    else if (TOOL_OUTPUTS.has(type)) this.#output(item);
  }

  #message({ role, content }: JsonObject): void {
    if (role === 'assistant') {
      // A text behind calls begins the next answer.
      if (this.#content.some((block) => block.type === 'toolCall')) this.#endAnswer();
      for (const block of objectsOf(content)) {
        const text = textOf(block['text']);
        if (text !== undefined) this.#content.push({ type: 'text', text });
      }
      return;
    }
    if (role !== 'user') return;
    const said = objectsOf(content).flatMap((block) => inputOf(block) ?? []);
    const [first] = said;
    if (first === undefined || (first.type === 'text' && FRAMING.test(first.text))) return;
    this.#endAnswer();
    this.#chain.say({ role: 'user', content: said, timestamp: this.#chain.time });
  }

  #reasoning({ summary, content }: JsonObject): void {
    const thinking = [...objectsOf(summary), ...objectsOf(content)]
      .flatMap((part) => textOf(part['text']) ?? [])
      .join('\n\n');
    if (this.#content.some((block) => block.type !== 'thinking')) this.#endAnswer();
    if (thinking !== '') this.#content.push({ type: 'thinking', thinking });
  }

  #call(item: JsonObject): void {
    const id = textOf(item['call_id']) ?? textOf(item['id']) ?? `call_${this.#callNames.size}`;
    const input = item['arguments'] ?? item['input'] ?? item['action'];
    const call = callOf(id, item['name'] ?? 'shell', input);
    this.#callNames.set(id, call.name);
    this.#content.push(call);
  }

  #output(item: JsonObject): void {
    const id = textOf(item['call_id']) ?? '';
    const { text, isError } = outputOf(item['output']);
    this.#endAnswer();
    this.#chain.say({
      role: 'toolResult',
      toolCallId: id,
      toolName: this.#callNames.get(id) ?? 'unknown',
      content: [{ type: 'text', text }],
      isError,
      timestamp: this.#chain.time,
    });
  }

  #endAnswer(): void {
    if (this.#content.length === 0) return;
    if (this.#noted !== this.#model && this.#model !== 'unknown')
      this.#chain.add({ type: 'model_change', provider: this.#provider, modelId: this.#model });
    this.#noted = this.#model;
    const message: AssistantMessage = {
      role: 'assistant',
      content: this.#content,
      api: 'openai-responses',
      provider: this.#provider,
      model: this.#model,
      usage: this.#usage,
      stopReason: this.#content.some((block) => block.type === 'toolCall') ? 'toolUse' : 'stop',
      timestamp: this.#chain.time,
    };
    this.#chain.say(message);
    this.#content = [];
    this.#usage = NO_USAGE;
  }
}

function inputOf(block: JsonObject): InputContent | undefined {
  const text = textOf(block['text']);
  if (text !== undefined) return { type: 'text', text };
  const url = /^data:(?<mimeType>image\/[\w.+-]+);base64,(?<data>[A-Za-z0-9+/=]+)$/.exec(
    String(block['image_url']),
  );
  const { mimeType, data } = url?.groups ?? {};
  return mimeType === undefined || data === undefined ? undefined : { type: 'image', mimeType, data };
}

/** A text; a text that is JSON with the output and how it ended; or parts. */
function outputOf(output: unknown): { readonly text: string; readonly isError: boolean } {
  if (Array.isArray(output))
    return {
      text: objectsOf(output)
        .map((part) => String(part['text'] ?? ''))
        .join('\n'),
      isError: false,
    };
  if (typeof output !== 'string') {
    const { content, success } = objectOf(output) ?? {};
    return { text: String(content ?? ''), isError: success === false };
  }
  try {
    const { output: text, metadata } = objectOf(JSON.parse(output)) ?? {};
    const code = objectOf(metadata)?.['exit_code'];
    if (typeof text === 'string') return { text, isError: typeof code === 'number' && code !== 0 };
  } catch {
    // It is the output itself.
  }
  return { text: output, isError: false };
}
