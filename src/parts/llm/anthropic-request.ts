// Requests of Anthropic's Messages API (platform.claude.com/docs/en/api/messages). Each message is encoded once, as
// the content blocks that it adds; a request is those fragments with roles around them. Marks for the prompt cache
// are put between fragments, never into one, so that what was encoded stays what it was.

import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { contentBlocks } from './anthropic-content.ts';
import { requestHead } from './anthropic-head.ts';
import type { AnthropicModel } from './anthropic-model.ts';
import { jsonText, listBytes, type Remembered, rememberEach, rememberLast } from './fragments.ts';
import { createPrefix } from './prefix.ts';

const COMMA = Buffer.from(',');
const CLOSE_TURN = Buffer.from(']}');
const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');

const OPEN_TURN = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
} as const;

/**
 * Turns that end in a cache mark: the newest, and the one that the request before it ended with. The API looks for an
 * entry no further than 20 blocks before a mark, so that without the second a turn with many results would miss it.
 */
const MARKED_TURNS = 2;

export function createRequestEncoder(model: AnthropicModel): (request: ModelRequest) => Buffer[] {
  const blocksOf = rememberEach<Message, Buffer>((message) => listBytes(contentBlocks(message, model)));
  const mark = `,"cache_control":${JSON.stringify({ type: 'ephemeral', ttl: model.cacheTtl })}}`;
  const closeMarkedTurn = Buffer.from(`${mark}]}`);
  const marked = (block: string) => block.slice(0, -1) + mark;
  const toolsOf = rememberEach((tools: readonly ToolSchema[]) =>
    Buffer.from(`,"tools":[${marked(toolList(tools))}]`),
  );
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
    const userEnds = addTurns(parts, messages.slice(settled), blocksOf);
    markLast(parts, userEnds, closeMarkedTurn);
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

function markLast(parts: Buffer[], userEnds: readonly number[], closeMarkedTurn: Buffer): void {
  for (const end of userEnds.slice(-MARKED_TURNS)) {
    // The fragment ends with the brace of its last block, which moves behind the mark.
    parts[end - 1] = (parts[end - 1] ?? CLOSE_TURN).subarray(0, -1);
    parts[end] = closeMarkedTurn;
  }
}

/** The tools as JSON, without the brackets around them. */
function toolList(tools: readonly ToolSchema[]): string {
  const list = tools.map(({ name, description, input }) => ({ name, description, input_schema: input }));
  return jsonText(list).slice(1, -1);
}
