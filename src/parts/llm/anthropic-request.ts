// Requests of Anthropic's Messages API (platform.claude.com/docs/en/api/messages). Each message is encoded once, as
// the content blocks that it adds; a request is those fragments with roles around them. Marks for the prompt cache
// are put between fragments, never into one, so that what was encoded stays what it was.

import type { AssistantContent, AssistantMessage, InputContent, Message } from '../../core/message.ts';
import type { Effort, ModelRequest, ToolSchema } from '../../core/model.ts';
import { jsonText, listBytes, type Remembered, rememberEach, rememberLast } from './fragments.ts';
import { createPrefix } from './prefix.ts';
import type { AdaptiveThinking } from './provider-row.ts';

export const API = 'anthropic-messages';

export interface AnthropicModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  /** Undefined for a model that thinks within a budget. */
  readonly adaptive: AdaptiveThinking | undefined;
}

/** Tokens for thinking. */
const BUDGETS: Readonly<Record<Exclude<Effort, 'off'>, number>> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  max: 32_768,
};
const LEAST_BUDGET = 1024;

const COMMA = Buffer.from(',');
const CLOSE_TURN = Buffer.from(']}');
const CACHE_MARK = ',"cache_control":{"type":"ephemeral"}}';
const CLOSE_MARKED_TURN = Buffer.from(`${CACHE_MARK}]}`);
const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');

const OPEN_TURN = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
} as const;

/** Turns that end in a cache mark: the newest, and the one that the request before it ended with. */
const MARKED_TURNS = 2;

export function createRequestEncoder(model: AnthropicModel): (request: ModelRequest) => Buffer[] {
  const blocksOf = rememberEach<Message, Buffer>((message) => listBytes(contentBlocks(message, model)));
  const toolsOf = rememberEach<readonly ToolSchema[], Buffer>(encodeTools);
  const systemOf = rememberLast((system) =>
    Buffer.from(`,"system":[${marked(jsonText({ type: 'text', text: system }))}]`),
  );
  const prefix = createPrefix();
  return (request) => {
    const { messages, system, tools } = request;
    const head = JSON.stringify(requestHead(request, model)).slice(0, -1);
    const parts: Buffer[] = [Buffer.from(head)];
    if (system.trim() !== '') parts.push(systemOf(system));
    if (tools.length > 0) parts.push(toolsOf(tools));
    parts.push(OPEN_MESSAGES);
    const settled = settledCount(messages, blocksOf);
    const encode = (from: number, to: number) => settledTurns(messages.slice(from, to), blocksOf);
    for (const piece of prefix.upTo(messages, settled, encode)) parts.push(piece);
    markLast(parts, addTurns(parts, messages.slice(settled), blocksOf));
    parts.push(CLOSE_BODY);
    return parts;
  };
}

type BlocksOf = Remembered<Message, Buffer>;

/**
 * How many messages no later request will encode in another way: those before the turns that may carry a mark. What
 * follows them begins with a turn of the assistant.
 */
function settledCount(messages: readonly Message[], blocksOf: BlocksOf): number {
  let turns = 0;
  for (let at = messages.length - 1; at > 0; at--) {
    const message = messages[at];
    const opens = message?.role === 'assistant' && messages[at - 1]?.role !== 'assistant';
    if (!opens || blocksOf(message).length === 0) continue;
    turns++;
    // A turn more than can be marked, since the last message may still become another.
    if (turns > MARKED_TURNS) return at;
  }
  return 0;
}

/** Whole turns with a comma behind them, for what comes next. */
function settledTurns(messages: readonly Message[], blocksOf: BlocksOf): readonly Buffer[] {
  const parts: Buffer[] = [];
  addTurns(parts, messages, blocksOf);
  if (parts.length > 0) parts.push(COMMA);
  for (const message of messages) blocksOf.forget(message);
  return parts;
}

/** Consecutive messages of one role become one turn, so that roles alternate. Returns where the user's turns end. */
function addTurns(parts: Buffer[], messages: readonly Message[], blocksOf: BlocksOf): readonly number[] {
  const userEnds: number[] = [];
  let open: 'user' | 'assistant' | undefined;
  const close = () => {
    if (open === 'user') userEnds.push(parts.length);
    parts.push(CLOSE_TURN);
  };
  for (const message of messages) {
    const blocks = blocksOf(message);
    if (blocks.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (role === open) {
      parts.push(COMMA);
    } else {
      if (open !== undefined) {
        close();
        parts.push(COMMA);
      }
      parts.push(OPEN_TURN[role]);
      open = role;
    }
    parts.push(blocks);
  }
  if (open !== undefined) close();
  return userEnds;
}

function markLast(parts: Buffer[], userEnds: readonly number[]): void {
  for (const end of userEnds.slice(-MARKED_TURNS)) {
    // The fragment ends with the brace of its last block, which moves behind the mark.
    parts[end - 1] = (parts[end - 1] ?? CLOSE_TURN).subarray(0, -1);
    parts[end] = CLOSE_MARKED_TURN;
  }
}

function marked(block: string): string {
  return block.slice(0, -1) + CACHE_MARK;
}

function encodeTools(tools: readonly ToolSchema[]): Buffer {
  const list = tools.map(({ name, description, input }) => ({ name, description, input_schema: input }));
  return Buffer.from(`,"tools":[${marked(jsonText(list).slice(1, -1))}]`);
}

function requestHead(request: ModelRequest, model: AnthropicModel): object {
  const { maxTokens, thinking, effort } = thinkingOf(request, model);
  const canForce = model.adaptive === undefined || model.adaptive.canStop;
  return {
    model: request.model,
    max_tokens: maxTokens,
    stream: true,
    ...(thinking && { thinking }),
    ...(effort && { output_config: { effort } }),
    ...(request.toolChoice !== undefined &&
      canForce && { tool_choice: { type: 'tool', name: request.toolChoice } }),
  };
}

interface Thinking {
  readonly maxTokens: number;
  readonly thinking?: object;
  readonly effort?: string;
}

/** The API refuses thinking beside a tool that must be called. */
function thinkingOf(request: ModelRequest, model: AnthropicModel): Thinking {
  const maxTokens = Math.min(request.maxTokens, model.maxOutput ?? request.maxTokens);
  const effort = request.toolChoice === undefined ? request.effort : 'off';
  if (model.adaptive !== undefined) return { maxTokens, ...adaptiveThinking(model.adaptive, effort) };
  if (effort === undefined || effort === 'off' || !continuesThinking(request.messages, model)) {
    return { maxTokens };
  }
  const wanted = BUDGETS[effort];
  const room = maxTokens > wanted ? maxTokens : Math.min(maxTokens + wanted, model.maxOutput ?? Infinity);
  const budget = Math.max(LEAST_BUDGET, Math.min(wanted, room - LEAST_BUDGET));
  return {
    maxTokens: Math.max(room, budget + 1),
    thinking: { type: 'enabled', budget_tokens: budget },
  };
}

function adaptiveThinking(family: AdaptiveThinking, effort: Effort | undefined): Omit<Thinking, 'maxTokens'> {
  if (effort === 'off' && family.canStop) return family.byDefault ? { thinking: { type: 'disabled' } } : {};
  if (effort === undefined && !family.byDefault) return {};
  const binding = family.bound && { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  return {
    thinking: { type: 'adaptive', display: 'summarized', ...binding },
    ...(effort !== undefined && { effort: effort === 'off' ? 'low' : effort }),
  };
}

/** With a budget, an assistant turn that results answer must begin with its thinking, or the API refuses. */
function continuesThinking(messages: readonly Message[], model: AnthropicModel): boolean {
  if (messages.at(-1)?.role !== 'toolResult') return true;
  const last = messages.findLast((message) => message.role === 'assistant');
  const first = last === undefined ? undefined : contentBlocks(last, model)[0];
  return first === undefined || first.type === 'thinking' || first.type === 'redacted_thinking';
}

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

function contentBlocks(message: Message, model: AnthropicModel): Block[] {
  switch (message.role) {
    case 'user':
      if (typeof message.content === 'string') return inputBlocks([{ type: 'text', text: message.content }]);
      return inputBlocks(message.content);
    case 'toolResult': {
      const content = inputBlocks(message.content);
      // The API refuses an error without words.
      if (message.isError && content.length === 0)
        content.push({ type: 'text', text: 'failed without output' });
      return [
        {
          type: 'tool_result',
          tool_use_id: callId(message.toolCallId),
          ...(content.length > 0 && { content }),
          ...(message.isError && { is_error: true }),
        },
      ];
    }
    case 'assistant': {
      const own = isOwn(message, model);
      return message.content.flatMap((block) => assistantBlock(block, own) ?? []);
    }
  }
}

/** Whether the model can read the thinking of a message: one with bound thinking reads none but its own. */
function isOwn({ api, provider, model: author }: AssistantMessage, model: AnthropicModel): boolean {
  return (
    api === API && provider === model.provider && (model.adaptive?.bound !== true || author === model.id)
  );
}

function inputBlocks(content: readonly InputContent[]): Block[] {
  return content.flatMap((block): Block[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
    const source = { type: 'base64', media_type: block.mimeType, data: block.data };
    if (block.type === 'image') return [{ type: 'image', source }];
    return [{ type: 'document', source, ...(block.name !== undefined && { title: block.name }) }];
  });
}

/** Thinking that the model cannot read is left out: the API refuses a signature that is not its own. */
function assistantBlock(block: AssistantContent, own: boolean): Block | undefined {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? undefined : { type: 'text', text: block.text };
    case 'toolCall':
      return { type: 'tool_use', id: callId(block.id), name: block.name, input: block.arguments };
    case 'thinking': {
      const signature = block.thinkingSignature;
      if (!own || signature === undefined || signature === '') return undefined;
      if (block.redacted === true) return { type: 'redacted_thinking', data: signature };
      return { type: 'thinking', thinking: block.thinking, signature };
    }
  }
}

/** Ids of other providers may hold what this one refuses. */
function callId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}
