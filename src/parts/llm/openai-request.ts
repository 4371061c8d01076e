// Requests of OpenAI's Chat Completions API (platform.openai.com/docs/api-reference/chat), as its many imitators
// understand them. Each message is encoded once; a request is those fragments with commas between them.

import type {
  AssistantMessage,
  DocumentContent,
  ImageContent,
  InputContent,
  Message,
} from '../../core/message.ts';
import type { Effort, ModelRequest, ToolSchema } from '../../core/model.ts';
import { jsonBytes, listBytes, rememberEach, rememberLast } from './fragments.ts';
import { createPrefix } from './prefix.ts';
import type { EffortNames } from './provider-row.ts';

export const API = 'openai-completions';

export interface OpenAiModel {
  readonly maxOutput: number | undefined;
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  readonly efforts: EffortNames | undefined;
}

/** One message on the wire; images of a tool result have to wait for the end of the results. */
interface Fragment {
  readonly message: Buffer;
  readonly images: Buffer;
}

const COMMA = Buffer.from(',');
const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');
const OPEN_IMAGES = Buffer.from(
  ',{"role":"user","content":[{"type":"text","text":"The images that the tools returned:"},',
);
const CLOSE_IMAGES = Buffer.from(']}');
const NOTHING = Buffer.alloc(0);

export function createRequestEncoder(model: OpenAiModel): (request: ModelRequest) => Buffer[] {
  const fragmentOf = rememberEach(encodeMessage);
  const toolsOf = rememberEach(encodeTools);
  const systemOf = rememberLast((text) => jsonBytes({ role: 'system', content: text }));
  const prefix = createPrefix();
  return (request) => {
    const { messages, system, tools } = request;
    const parts: Buffer[] = [Buffer.from(JSON.stringify(requestHead(request, model)).slice(0, -1))];
    if (tools.length > 0) parts.push(toolsOf(tools));
    parts.push(OPEN_MESSAGES);
    const hasSystem = system.trim() !== '';
    if (hasSystem) parts.push(systemOf(system));
    const first = parts.length;
    const settled = settledCount(messages);
    const settle = (from: number, to: number) => {
      const stretch = messages.slice(from, to);
      const encoded = encodeMessages(stretch, fragmentOf);
      for (const message of stretch) fragmentOf.forget(message);
      return encoded;
    };
    parts.push(...prefix.upTo(messages, settled, settle));
    parts.push(...encodeMessages(messages.slice(settled), fragmentOf));
    if (!hasSystem) parts[first] = parts[first]?.subarray(1) ?? NOTHING;
    parts.push(CLOSE_BODY);
    return parts;
  };
}

/** How many messages no later request will encode in another way: the last may become another, and images wait. */
function settledCount(messages: readonly Message[]): number {
  for (let at = messages.length - 2; at > 0; at--) if (messages[at]?.role !== 'toolResult') return at;
  return 0;
}

/** Each message with a comma before it. */
function encodeMessages(
  messages: readonly Message[],
  fragmentOf: (message: Message) => Fragment,
): readonly Buffer[] {
  const parts: Buffer[] = [];
  let images: Buffer[] = [];
  const flush = () => {
    if (images.length === 0) return;
    parts.push(OPEN_IMAGES);
    for (const [at, image] of images.entries()) parts.push(...(at === 0 ? [image] : [COMMA, image]));
    parts.push(CLOSE_IMAGES);
    images = [];
  };
  for (const message of messages) {
    const fragment = fragmentOf(message);
    if (fragment.message.length === 0) continue;
    if (message.role !== 'toolResult') flush();
    parts.push(COMMA, fragment.message);
    if (fragment.images.length > 0) images.push(fragment.images);
  }
  flush();
  return parts;
}

function encodeTools(tools: readonly ToolSchema[]): Buffer {
  const list = tools.map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description, parameters: input },
  }));
  return Buffer.concat([Buffer.from(',"tools":'), jsonBytes(list)]);
}

function requestHead(request: ModelRequest, model: OpenAiModel): object {
  const effort = effortName(request, model.efforts);
  return {
    model: request.model,
    [model.maxTokensField]: Math.min(request.maxTokens, model.maxOutput ?? request.maxTokens),
    stream: true,
    stream_options: { include_usage: true },
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(request.toolChoice !== undefined && {
      tool_choice: { type: 'function', function: { name: request.toolChoice } },
    }),
  };
}

function effortName(request: ModelRequest, efforts: EffortNames | undefined): string | undefined {
  if (request.tools.length > 0 && efforts?.withTools !== undefined) return efforts.withTools;
  const { effort } = request;
  if (effort === undefined) return undefined;
  return efforts?.names[effort] ?? COMMON_EFFORTS[effort];
}

/** What every server with efforts understands; there is no common word for none at all. */
const COMMON_EFFORTS: Readonly<Record<Effort, string | undefined>> = {
  off: undefined,
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

function encodeMessage(message: Message): Fragment {
  switch (message.role) {
    case 'user': {
      const content = userContent(message.content);
      return { message: content === '' ? NOTHING : jsonBytes({ role: 'user', content }), images: NOTHING };
    }
    case 'assistant':
      return { message: encodeAssistant(message), images: NOTHING };
    case 'toolResult': {
      const images = message.content.filter((block) => block.type !== 'text');
      const text = textOf(message.content);
      const content = text === '' && images.length > 0 ? 'The image follows.' : text;
      return {
        message: jsonBytes({ role: 'tool', tool_call_id: message.toolCallId, content }),
        images: listBytes(images.map(shownPart)),
      };
    }
  }
}

/** Thinking is left out: the API has no place for it. */
function encodeAssistant(message: AssistantMessage): Buffer {
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));
  if (text === '' && calls.length === 0) return NOTHING;
  return jsonBytes({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
  });
}

/** Plain text as a string, which servers that know no parts understand too. */
function userContent(content: string | readonly InputContent[]): string | object[] {
  if (typeof content === 'string') return content;
  if (content.every((block) => block.type === 'text')) return textOf(content);
  return content.flatMap((block): object[] => {
    if (block.type !== 'text') return [shownPart(block)];
    return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  });
}

function textOf(content: readonly InputContent[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : []))
    .join('\n');
}

function shownPart(block: ImageContent | DocumentContent): object {
  const { mimeType, data } = block;
  if (block.type === 'document') {
    const filename = block.name ?? 'document.pdf';
    return { type: 'file', file: { filename, file_data: `data:${mimeType};base64,${data}` } };
  }
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}
