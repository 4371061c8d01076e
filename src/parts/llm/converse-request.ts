// Requests of Bedrock's ConverseStream (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html).
// Each message is encoded once, as the content blocks that it adds.

import type { AssistantContent, InputContent, Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { jsonText, listBytes, rememberEach } from './fragments.ts';
import { createPrefix } from './prefix.ts';
import { addTurns, settledCount, settledTurns } from './turns.ts';

export const API = 'bedrock-converse';

export interface ConverseModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  /** Whether it can be made to call a certain tool. */
  readonly canForce: boolean;
}

type Block = Readonly<Record<string, unknown>>;

const OPEN_MESSAGES = Buffer.from(',"messages":[');
const CLOSE_BODY = Buffer.from(']}');

export function createRequestEncoder(model: ConverseModel): (request: ModelRequest) => Buffer[] {
  const blocksOf = rememberEach<Message, Buffer>((message) => listBytes(contentBlocks(message, model)));
  const prefix = createPrefix();
  return (request) => {
    const { messages } = request;
    const parts: Buffer[] = [Buffer.from(jsonText(requestHead(request, model)).slice(0, -1)), OPEN_MESSAGES];
    const settled = settledCount(messages, blocksOf, 0);
    const encode = (from: number, to: number) => settledTurns(messages.slice(from, to), blocksOf);
    for (const piece of prefix.upTo(messages, settled, encode)) parts.push(piece);
    addTurns(parts, messages.slice(settled), blocksOf);
    parts.push(CLOSE_BODY);
    return parts;
  };
}

function requestHead({ system, tools, maxTokens, toolChoice }: ModelRequest, model: ConverseModel): object {
  const choice = toolChoice !== undefined && model.canForce && { toolChoice: { tool: { name: toolChoice } } };
  return {
    inferenceConfig: { maxTokens: Math.min(maxTokens, model.maxOutput ?? maxTokens) },
    ...(system.trim() !== '' && { system: [{ text: system }] }),
    ...(tools.length > 0 && { toolConfig: { tools: tools.map(toolSpec), ...choice } }),
  };
}

function toolSpec({ name, description, input }: ToolSchema): object {
  return { toolSpec: { name, description, inputSchema: { json: input } } };
}

function contentBlocks(message: Message, model: ConverseModel): Block[] {
  switch (message.role) {
    case 'user': {
      const { content } = message;
      const blocks = inputBlocks(typeof content === 'string' ? [{ type: 'text', text: content }] : content);
      // A document is refused without words beside it.
      const isBare = blocks.length > 0 && blocks.every((block) => 'document' in block);
      return isBare ? [...blocks, { text: 'See the document.' }] : blocks;
    }
    case 'toolResult': {
      const content = inputBlocks(message.content);
      if (content.length === 0)
        content.push({ text: message.isError ? 'failed without output' : '(no output)' });
      const status = message.isError && { status: 'error' };
      return [{ toolResult: { toolUseId: callId(message.toolCallId), content, ...status } }];
    }
    case 'assistant': {
      const own = message.api === API && message.provider === model.provider && message.model === model.id;
      return message.content.flatMap((block): Block[] => {
        const made = assistantBlock(block, own);
        return made === undefined ? [] : [made];
      });
    }
  }
}

function inputBlocks(content: readonly InputContent[]): Block[] {
  return content.filter((block) => block.type !== 'text' || block.text.trim() !== '').map(inputBlock);
}

function inputBlock(block: InputContent): Block {
  if (block.type === 'text') return { text: block.text };
  const source = { bytes: block.data };
  if (block.type === 'image') return { image: { format: block.mimeType.split('/').at(-1), source } };
  return { document: { format: 'pdf', name: plainName(block.name), source } };
}

/** Other characters in the name of a document are refused, and so are two spaces in a row. */
function plainName(name: string | undefined): string {
  const plain = (name ?? '').replace(/\.pdf$/i, '').replace(/[^a-zA-Z0-9()[\]-]+/g, ' ');
  return plain.trim() || 'document';
}

function assistantBlock(block: AssistantContent, own: boolean): Block | undefined {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? undefined : { text: block.text };
    case 'toolCall':
      return { toolUse: { toolUseId: callId(block.id), name: block.name, input: block.arguments } };
    case 'thinking': {
      const { thinking: text, thinkingSignature: signature } = block;
      if (!own || !signature) return undefined;
      if (block.redacted === true) return { reasoningContent: { redactedContent: signature } };
      return { reasoningContent: { reasoningText: { text, signature } } };
    }
  }
}

/** Ids of other providers may hold what this one refuses, or be longer. */
function callId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-64);
}
