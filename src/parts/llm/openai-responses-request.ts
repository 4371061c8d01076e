// Requests of OpenAI's Responses API (platform.openai.com/docs/api-reference/responses). Nothing is stored there, so
// every request brings the whole history, reasoning included. What a model said goes back as the items that it came
// in, under their own ids: the API checks that reasoning is followed by the item that came of it.

import type {
  AssistantContent,
  AssistantMessage,
  DocumentContent,
  ImageContent,
  InputContent,
  Message,
} from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import type { JsonSchema } from '../../core/schema.ts';
import { jsonBytes, jsonText, listBytes, rememberEach, rememberLast } from './fragments.ts';
import { createPrefix } from './prefix.ts';
import type { ReasoningFamily, ResponsesDialect } from './provider-row.ts';

export const API = 'openai-responses';

export interface ResponsesModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  readonly dialect: ResponsesDialect;
}

const COMMA = Buffer.from(',');
const OPEN_INPUT = Buffer.from(',"input":[');
const CLOSE_BODY = Buffer.from(']}');
const NOTHING = Buffer.alloc(0);

/** The API refuses a smaller limit. */
const LEAST_OUTPUT = 16;
const LONGEST_ID = 64;

export function familyOf(id: string, dialect: ResponsesDialect): ReasoningFamily | undefined {
  return dialect.families.find(({ ids }) => ids.test(id));
}

export function createRequestEncoder(model: ResponsesModel): (request: ModelRequest) => Buffer[] {
  const itemsOf = rememberEach<Message, Buffer>((message) => listBytes(inputItems(message, model)));
  const toolsOf = rememberEach(encodeTools);
  const instructionsOf = rememberLast((text) => Buffer.from(`,"instructions":${jsonText(text)}`));
  const prefix = createPrefix();
  return (request) => {
    const { messages, tools } = request;
    const parts: Buffer[] = [Buffer.from(jsonText(requestHead(request, model)).slice(0, -1))];
    const instructions = request.system.trim() === '' ? model.dialect.instructions : request.system;
    if (instructions !== undefined) parts.push(instructionsOf(instructions));
    if (tools.length > 0) parts.push(toolsOf(tools));
    parts.push(OPEN_INPUT);
    const first = parts.length;
    // The last message may still become another.
    const settled = Math.max(messages.length - 1, 0);
    const settle = (from: number, to: number) => {
      const stretch = messages.slice(from, to);
      const encoded = joinedItems(stretch, itemsOf);
      for (const message of stretch) itemsOf.forget(message);
      return encoded;
    };
    parts.push(...prefix.upTo(messages, settled, settle));
    parts.push(...joinedItems(messages.slice(settled), itemsOf));
    parts[first] = parts[first]?.subarray(1) ?? NOTHING;
    parts.push(CLOSE_BODY);
    return parts;
  };
}

/** The items of each message with a comma before them. */
function joinedItems(messages: readonly Message[], itemsOf: (message: Message) => Buffer): readonly Buffer[] {
  return messages.flatMap((message) => {
    const items = itemsOf(message);
    return items.length === 0 ? [] : [COMMA, items];
  });
}

/** A tool is strict unless it says otherwise, and strict schemas must name every field as required. */
function encodeTools(tools: readonly ToolSchema[]): Buffer {
  const list = tools.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    parameters: input,
    strict: false,
  }));
  return Buffer.concat([Buffer.from(',"tools":'), jsonBytes(list)]);
}

function requestHead(request: ModelRequest, model: ResponsesModel): object {
  const { dialect } = model;
  const most = Math.min(request.maxTokens, model.maxOutput ?? request.maxTokens);
  return {
    model: request.model,
    stream: true,
    store: false,
    ...(!dialect.unlimited && { max_output_tokens: Math.max(most, LEAST_OUTPUT) }),
    ...reasoningFields(request, familyOf(request.model, dialect), dialect),
    ...(request.toolChoice !== undefined && { tool_choice: { type: 'function', name: request.toolChoice } }),
    ...(request.output !== undefined && { text: { format: outputFormat(request.output) } }),
    ...(request.fast && { service_tier: 'priority' }),
    ...(request.conversation !== undefined && {
      prompt_cache_key: request.conversation.slice(0, LONGEST_ID),
    }),
  };
}

/** Models that do not reason refuse all of these. */
function reasoningFields(
  { effort }: ModelRequest,
  family: ReasoningFamily | undefined,
  { summary = 'auto' }: ResponsesDialect,
): object {
  if (family === undefined) return {};
  const named = effort === undefined ? undefined : family.efforts[effort];
  const reasoning = {
    ...(named !== undefined && { effort: named }),
    ...(summary !== 'none' && named !== 'none' && { summary }),
  };
  return {
    include: ['reasoning.encrypted_content'],
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
  };
}

function outputFormat({ name, schema }: NonNullable<ModelRequest['output']>): object {
  return { type: 'json_schema', name: plainId(name), schema, strict: canBeStrict(schema) };
}

/** Keywords that a strict schema may not have. */
const LOOSE = ['allOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'patternProperties'];

/** A strict schema is kept without fail, but only one whose objects are closed and whose fields are all required may be. */
function canBeStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(canBeStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { properties, required, additionalProperties, type } = schema as JsonSchema;
  if ([type].flat().includes('object') || properties !== undefined) {
    const names = Object.keys(properties ?? {});
    const all = Array.isArray(required) ? required : [];
    if (additionalProperties !== false || !names.every((name) => all.includes(name))) return false;
  }
  return LOOSE.every((keyword) => !(keyword in schema)) && Object.values(schema).every(canBeStrict);
}

function inputItems(message: Message, model: ResponsesModel): readonly object[] {
  switch (message.role) {
    case 'user': {
      const content = inputParts(message.content);
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    case 'assistant':
      return outputItems(message, model);
    case 'toolResult': {
      const call_id = plainId(message.toolCallId);
      return [{ type: 'function_call_output', call_id, output: callOutput(message.content) }];
    }
  }
}

/** Plain text as a string: servers that imitate the API may know no other output. */
function callOutput(content: readonly InputContent[]): string | readonly object[] {
  if (content.some((block) => block.type !== 'text')) return inputParts(content);
  return content
    .flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : []))
    .join('\n');
}

function inputParts(content: string | readonly InputContent[]): readonly object[] {
  if (typeof content === 'string') return inputParts([{ type: 'text', text: content }]);
  return content.flatMap((block): object[] => {
    if (block.type !== 'text') return [shownPart(block)];
    return block.text === '' ? [] : [{ type: 'input_text', text: block.text }];
  });
}

function shownPart(block: ImageContent | DocumentContent): object {
  const url = `data:${block.mimeType};base64,${block.data}`;
  if (block.type === 'image') return { type: 'input_image', detail: 'auto', image_url: url };
  return { type: 'input_file', filename: block.name ?? 'document.pdf', file_data: url };
}

interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

function outputItems(message: AssistantMessage, model: ResponsesModel): readonly OutputItem[] {
  const own = isOwn(message, model);
  const items = message.content.flatMap((block) => outputItem(block, own) ?? []);
  // Nothing came of this reasoning, because the answer was cut short; the API refuses it.
  while (items.at(-1)?.type === 'reasoning') items.pop();
  return items;
}

/** Whether the model can read the reasoning of a message. */
function isOwn({ api, provider, model: author }: AssistantMessage, model: ResponsesModel): boolean {
  if (api !== API || provider !== model.provider) return false;
  const family = familyOf(model.id, model.dialect);
  return author === model.id || (family !== undefined && family === familyOf(author, model.dialect));
}

function outputItem(block: AssistantContent, own: boolean): OutputItem | undefined {
  switch (block.type) {
    case 'text':
      return block.text === '' ? undefined : messageItem(block.text, own ? block.textSignature : undefined);
    case 'toolCall':
      return {
        type: 'function_call',
        ...(own && block.thoughtSignature !== undefined && { id: block.thoughtSignature }),
        call_id: plainId(block.id),
        name: block.name,
        arguments: JSON.stringify(block.arguments),
      };
    case 'thinking':
      return own ? reasoningItem(block.thinkingSignature) : undefined;
  }
}

function messageItem(text: string, signature: string | undefined): OutputItem {
  const { id, phase } = parsed(signature);
  return {
    type: 'message',
    role: 'assistant',
    ...(typeof id === 'string' && { id, status: 'completed' }),
    content: [{ type: 'output_text', text, annotations: [] }],
    ...(typeof phase === 'string' && { phase }),
  };
}

/** Without its content, reasoning is a mere reference to what the server did not store. */
function reasoningItem(signature: string | undefined): OutputItem | undefined {
  const { type, id, summary, content, encrypted_content: encrypted } = parsed(signature);
  const isEncrypted = typeof encrypted === 'string' && encrypted !== '';
  const isOpen = Array.isArray(content) && content.length > 0;
  if (type !== 'reasoning' || !(isEncrypted || isOpen)) return undefined;
  return {
    type,
    ...(typeof id === 'string' && { id }),
    summary: Array.isArray(summary) ? summary : [],
    ...(isOpen && { content }),
    ...(isEncrypted && { encrypted_content: encrypted }),
  };
}

/** The fields of a signature; none for one that is not JSON, which another program may have written. */
function parsed(signature: string | undefined): Readonly<Record<string, unknown>> {
  if (signature === undefined) return {};
  try {
    const value: unknown = JSON.parse(signature);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Ids of other providers may hold what this one refuses, or be too long; their ends differ the most. */
function plainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-LONGEST_ID);
}
