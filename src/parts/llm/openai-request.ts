// Requests of OpenAI's Chat Completions API (platform.openai.com/docs/api-reference/chat), as its many imitators
// understand them. Each message is encoded once; a request is those fragments with commas between them.

import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { jsonBytes, jsonText, type Remembered, rememberEach, rememberLast } from './fragments.ts';
import { requestHead } from './openai-head.ts';
import { CACHE_MARK, encodeMessage, type Fragment, type OpenAiModel } from './openai-message.ts';
import { createPrefix } from './prefix.ts';

const COMMA = Buffer.from(',');
const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');
const OPEN_IMAGES = Buffer.from(
  ',{"role":"user","content":[{"type":"text","text":"The images that the tools returned:"},',
);
const CLOSE_IMAGES = Buffer.from(']}');
const AFTER_RESULT = Buffer.from(',{"role":"assistant","content":"I have seen the results."}');
const NOTHING = Buffer.alloc(0);

/** Turns that end in a cache mark: the newest, and the one that the request before it ended with. */
const MARKED_TURNS = 2;

type FragmentOf = Remembered<Message, Fragment>;

export function createRequestEncoder(model: OpenAiModel): (request: ModelRequest) => Buffer[] {
  const { quirks } = model;
  const marks = quirks.cacheMarks === true;
  const fragmentOf: FragmentOf = rememberEach((message) => encodeMessage(message, model));
  const toolsOf = rememberEach((tools: readonly ToolSchema[]) => encodeTools(tools, quirks.looseTools));
  const systemOf = rememberLast((text) => {
    const content = marks ? [{ type: 'text', text, ...CACHE_MARK }] : text;
    return jsonBytes({ role: quirks.systemRole ?? 'system', content });
  });
  const prefix = createPrefix();
  return (request) => {
    const { messages, system } = request;
    const parts: Buffer[] = [Buffer.from(jsonText(requestHead(request, model)).slice(0, -1))];
    const tools = offered(request, model);
    if (tools.length > 0) parts.push(toolsOf(tools));
    parts.push(OPEN_MESSAGES);
    const hasSystem = system.trim() !== '';
    if (hasSystem) parts.push(systemOf(system));
    const first = parts.length;
    const settled = settledCount(messages, fragmentOf, marks ? MARKED_TURNS : 1);
    const settle = (from: number, to: number) => {
      const stretch = messages.slice(from, to);
      const encoded = encodeMessages(stretch, fragmentOf, quirks.assistantAfterResult === true);
      for (const message of stretch) fragmentOf.forget(message);
      return encoded;
    };
    parts.push(...prefix.upTo(messages, settled, settle));
    const rest = messages.slice(settled);
    const encode = marks ? withMarks(rest, fragmentOf, model) : fragmentOf;
    parts.push(...encodeMessages(rest, encode, quirks.assistantAfterResult === true));
    if (!hasSystem) parts[first] = parts[first]?.subarray(1) ?? NOTHING;
    parts.push(CLOSE_BODY);
    return parts;
  };
}

function offered({ tools, toolChoice }: ModelRequest, { quirks }: OpenAiModel): readonly ToolSchema[] {
  if (quirks.tools === false) return [];
  const alone = quirks.toolChoice === 'required' || quirks.toolChoice === 'none';
  if (toolChoice === undefined || !alone) return tools;
  return tools.filter(({ name }) => name === toolChoice);
}

/**
 * How many messages no later request will encode in another way: those before the last `turns` answers. The last
 * message may still become another, images wait for the end of the results, and marks move on.
 */
function settledCount(messages: readonly Message[], fragmentOf: FragmentOf, turns: number): number {
  let left = turns;
  for (let at = messages.length - 2; at > 0; at--) {
    const message = messages[at];
    if (message?.role !== 'assistant' || fragmentOf(message).message.length === 0) continue;
    left--;
    if (left === 0) return at;
  }
  return 0;
}

/** What encodes the messages of the last turns, those that end one with a mark. */
function withMarks(
  messages: readonly Message[],
  fragmentOf: FragmentOf,
  model: OpenAiModel,
): (message: Message) => Fragment {
  const ends = messages.filter((message, at) => {
    const next = messages[at + 1];
    return message.role !== 'assistant' && (next === undefined || next.role === 'assistant');
  });
  const marked = new Set(ends.slice(-MARKED_TURNS));
  return (message) => (marked.has(message) ? encodeMessage(message, model, true) : fragmentOf(message));
}

/** Each message with a comma before it. */
function encodeMessages(
  messages: readonly Message[],
  fragmentOf: (message: Message) => Fragment,
  assistantAfterResult: boolean,
): readonly Buffer[] {
  const parts: Buffer[] = [];
  let images: Buffer[] = [];
  let afterResult = false;
  const userSpeaks = () => {
    if (assistantAfterResult && afterResult) parts.push(AFTER_RESULT);
    afterResult = false;
  };
  const flush = () => {
    if (images.length === 0) return;
    userSpeaks();
    parts.push(OPEN_IMAGES);
    for (const [at, image] of images.entries()) parts.push(...(at === 0 ? [image] : [COMMA, image]));
    parts.push(CLOSE_IMAGES);
    images = [];
  };
  for (const message of messages) {
    const fragment = fragmentOf(message);
    if (fragment.message.length === 0) continue;
    if (message.role !== 'toolResult') flush();
    if (message.role === 'user') userSpeaks();
    afterResult = message.role === 'toolResult';
    parts.push(COMMA, fragment.message);
    if (fragment.images.length > 0) images.push(fragment.images);
  }
  flush();
  return parts;
}

function encodeTools(tools: readonly ToolSchema[], loose = false): Buffer {
  const list = tools.map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description, parameters: input, ...(loose && { strict: false }) },
  }));
  return Buffer.concat([Buffer.from(',"tools":'), jsonBytes(list)]);
}
