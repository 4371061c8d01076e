// One message of a conversation as Chat Completions has it. What a server must not see (an image, a file, an id of a
// shape that it refuses) is replaced here, so that a history that began with another model stays valid (law 1).

import type {
  AssistantMessage,
  DocumentContent,
  ImageContent,
  InputContent,
  Message,
  ToolCallContent,
  ToolResultMessage,
} from '../../core/message.ts';
import { jsonBytes, listBytes } from './fragments.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';

export const API = 'openai-completions';

/** For whom a request is written. */
export interface OpenAiModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  readonly quirks: OpenAiQuirks;
}

/** One message on the wire; images of a tool result may have to wait for the end of the results. */
export interface Fragment {
  readonly message: Buffer;
  readonly images: Buffer;
}

export const CACHE_MARK = { cache_control: { type: 'ephemeral' } } as const;

const NOTHING = Buffer.alloc(0);

/** An empty fragment for a message that says nothing. `marked`: caches are kept up to here. */
export function encodeMessage(message: Message, model: OpenAiModel, marked = false): Fragment {
  const { quirks } = model;
  switch (message.role) {
    case 'user': {
      const content = userContent(message.content, quirks, marked);
      return { message: content === '' ? NOTHING : jsonBytes({ role: 'user', content }), images: NOTHING };
    }
    case 'assistant':
      return { message: encodeAssistant(message, model), images: NOTHING };
    case 'toolResult':
      return encodeResult(message, quirks, marked);
  }
}

function encodeResult(message: ToolResultMessage, quirks: OpenAiQuirks, marked: boolean): Fragment {
  const shown = message.content.filter((block) => block.type !== 'text' && understands(block, quirks));
  const text = textOf(message.content, quirks);
  const within = quirks.resultImages === true ? shown : [];
  const later = quirks.resultImages === true ? [] : shown;
  const said = text === '' && later.length > 0 ? 'The image follows.' : text;
  if (quirks.tools === false) {
    const content = `The result of ${message.toolName}:\n${said}`;
    return { message: jsonBytes({ role: 'user', content }), images: partBytes(later) };
  }
  return {
    message: jsonBytes({
      role: 'tool',
      tool_call_id: callId(message.toolCallId, quirks),
      ...(quirks.resultName === true && { name: message.toolName }),
      content: within.length > 0 || marked ? parts(said, within, marked) : said,
    }),
    images: partBytes(later),
  };
}

function partBytes(blocks: readonly InputContent[]): Buffer {
  return listBytes(blocks.flatMap((block) => (block.type === 'text' ? [] : [shownPart(block)])));
}

function encodeAssistant(message: AssistantMessage, model: OpenAiModel): Buffer {
  const { quirks } = model;
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const calls =
    quirks.tools === false
      ? []
      : message.content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));
  if (text === '' && calls.length === 0) return NOTHING;
  return jsonBytes({
    role: 'assistant',
    content: text === '' ? null : text,
    ...replay(message, text, calls.length > 0, model),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => wireCall(call, quirks)) }),
  });
}

function wireCall({ id, name, arguments: input }: ToolCallContent, quirks: OpenAiQuirks): object {
  const named = { name, arguments: JSON.stringify(input) };
  return { id: callId(id, quirks), type: 'function', function: named };
}

/** The fields that give a model its own thinking back; that of another provider's model means nothing to it. */
function replay(message: AssistantMessage, text: string, calls: boolean, model: OpenAiModel): object {
  const how = model.quirks.replayThinking ?? 'none';
  if (how === 'none') return {};
  const own = message.api === API && message.provider === model.provider;
  if (how === 'reasoning_details') {
    const details = own && message.model === model.id ? detailsIn(message) : [];
    return details.length === 0 ? {} : { reasoning_details: details };
  }
  const thinking = own ? thinkingIn(message) : '';
  if (how === 'reasoning_content' || how === 'reasoning') {
    const wanted = thinking !== '' || (calls && model.quirks.thinkingRequired === true);
    return wanted ? { [how]: thinking } : {};
  }
  if (thinking === '') return {};
  if (how === 'think_tags') return { content: `<think>\n${thinking}\n</think>\n\n${text}` };
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: thinking }] };
  return { content: text === '' ? [thought] : [thought, { type: 'text', text }] };
}

function thinkingIn({ content }: AssistantMessage): string {
  return content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
}

/** The details that the decoder kept as signatures: each the JSON of a list. */
function detailsIn({ content }: AssistantMessage): readonly unknown[] {
  return content.flatMap((block): unknown[] => {
    if (block.type !== 'thinking' || block.thinkingSignature?.startsWith('[') !== true) return [];
    try {
      return JSON.parse(block.thinkingSignature);
    } catch {
      return [];
    }
  });
}

/** Plain text as a string, which servers that know no parts understand too. */
function userContent(
  content: string | readonly InputContent[],
  quirks: OpenAiQuirks,
  marked: boolean,
): string | object[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  const plain = blocks.every((block) => block.type === 'text' || !understands(block, quirks));
  if (plain) {
    const text = textOf(blocks, quirks);
    return marked && text !== '' ? parts(text, [], true) : text;
  }
  const list = blocks.flatMap((block): object[] => {
    if (block.type !== 'text' && understands(block, quirks)) return [shownPart(block)];
    const text = textIn(block, quirks);
    return text === '' ? [] : [{ type: 'text', text }];
  });
  return marked ? withMark(list) : list;
}

function parts(text: string, shown: readonly InputContent[], marked: boolean): object[] {
  const list = [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...shown.flatMap((block) => (block.type === 'text' ? [] : [shownPart(block)])),
  ];
  return marked ? withMark(list) : list;
}

function withMark(list: readonly object[]): object[] {
  return list.map((part, at) => (at === list.length - 1 ? { ...part, ...CACHE_MARK } : part));
}

function understands(block: InputContent, { images = true, documents = false }: OpenAiQuirks): boolean {
  return block.type === 'image' ? images : block.type === 'document' ? documents : true;
}

function textOf(content: readonly InputContent[], quirks: OpenAiQuirks): string {
  return content
    .map((block) => textIn(block, quirks))
    .filter((text) => text !== '')
    .join('\n');
}

/** The text of a block, or the note that takes the place of what the model cannot be shown. */
function textIn(block: InputContent, quirks: OpenAiQuirks): string {
  if (block.type === 'text') return block.text;
  if (understands(block, quirks)) return '';
  const what = block.type === 'image' ? 'An image' : (block.name ?? 'A document');
  return `[${what} (${block.mimeType}) is left out: this model cannot be shown it.]`;
}

function shownPart(block: ImageContent | DocumentContent): object {
  const { mimeType, data } = block;
  if (block.type === 'document') {
    const filename = block.name ?? 'document.pdf';
    return { type: 'file', file: { filename, file_data: `data:${mimeType};base64,${data}` } };
  }
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** OpenAI's limit; ids of other wires may be longer. */
const LONGEST_ID = 40;
const NINE = /^[a-zA-Z0-9]{9}$/;

/** The same id for the same call in every request, in a shape that the server accepts. */
function callId(id: string, { callIds = 'any' }: OpenAiQuirks): string {
  if (callIds === 'nine') return NINE.test(id) ? id : digest(id).padStart(9, '0').slice(-9);
  return id.length <= LONGEST_ID ? id : `call_${digest(id)}`;
}

/** cyrb53 (public domain, by bryc): 53 well mixed bits, of which nine digits of base 36 keep 46. It guards nothing. */
function digest(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
