// Messages as content blocks of Anthropic's Messages API.

import type { AssistantContent, AssistantMessage, InputContent, Message } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type AnthropicModel, API } from './anthropic-model.ts';

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function contentBlocks(message: Message, model: AnthropicModel): Block[] {
  switch (message.role) {
    case 'user':
      if (typeof message.content === 'string')
        return inputBlocks([{ type: 'text', text: message.content }], model);
      return inputBlocks(message.content, model);
    case 'toolResult': {
      const content = inputBlocks(message.content, model);
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

function inputBlocks(content: readonly InputContent[], model: AnthropicModel): Block[] {
  return content.flatMap((block): Block[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
    const id = model.files?.idOf(block);
    const source =
      id === undefined
        ? { type: 'base64', media_type: block.mimeType, data: block.data }
        : { type: 'file', file_id: id };
    if (block.type === 'image') return [{ type: 'image', source }];
    return [
      {
        type: 'document',
        source,
        ...(block.name !== undefined && { title: block.name }),
        ...(model.citations && { citations: { enabled: true } }),
      },
    ];
  });
}

/** Kinds of citation that stand for themselves; others name a block of a tool of the server's, which is not sent back. */
const KEPT_CITATIONS: ReadonlySet<unknown> = new Set([
  'char_location',
  'page_location',
  'content_block_location',
]);

function keptCitations(citations: readonly JsonObject[] | undefined): readonly JsonObject[] {
  return citations?.filter(({ type }) => KEPT_CITATIONS.has(type)) ?? [];
}

/** Thinking that the model cannot read is left out: the API refuses a signature that is not its own. */
function assistantBlock(block: AssistantContent, own: boolean): Block | undefined {
  switch (block.type) {
    case 'text': {
      if (block.text.trim() === '') return undefined;
      const citations = own ? keptCitations(block.citations) : [];
      return { type: 'text', text: block.text, ...(citations.length > 0 && { citations }) };
    }
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
