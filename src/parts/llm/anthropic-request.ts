// Requests of Anthropic's Messages API (platform.claude.com/docs/en/api/messages). Each message is encoded once, as
// the content blocks that it adds; a request is those fragments with roles around them. Marks for the prompt cache
// are put between fragments, never into one, so that what was encoded stays what it was.

import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { contentBlocks } from './anthropic-content.ts';
import { requestHead } from './anthropic-head.ts';
import type { AnthropicModel } from './anthropic-model.ts';
import { jsonText, listBytes, rememberEach, rememberLast } from './fragments.ts';
import { createPrefix } from './prefix.ts';
import { addTurns, CLOSE_TURN, settledCount, settledTurns } from './turns.ts';

const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');

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
    const settled = settledCount(messages, blocksOf, MARKED_TURNS);
    const encode = (from: number, to: number) => settledTurns(messages.slice(from, to), blocksOf);
    for (const piece of prefix.upTo(messages, settled, encode)) parts.push(piece);
    const userEnds = addTurns(parts, messages.slice(settled), blocksOf);
    markLast(parts, userEnds, closeMarkedTurn);
    parts.push(CLOSE_BODY);
    return parts;
  };
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
