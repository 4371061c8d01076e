// Our messages in the shape of the Anthropic Messages API (platform.claude.com/docs/en/api/messages), which
// the lines of `stream-json` carry. Readers index `signature` of a thinking block without asking: it is always there.

import {
  type AssistantContent,
  type AssistantMessage,
  type InputContent,
  messageText,
  type StopReason,
  type ToolResultMessage,
} from '../core/message.ts';
import type { Usage } from '../core/usage.ts';

/** Null for a message that was cut short. */
const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolUse: 'tool_use',
  error: null,
  aborted: null,
} as const satisfies Record<StopReason, string | null>;

export function apiStopReason(reason: StopReason): string | null {
  return STOP_REASONS[reason];
}

export function apiUsage(usage: Usage): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}

export function apiAssistant(message: AssistantMessage, id: string): object {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: message.model,
    content: message.content.map(apiBlock),
    stop_reason: apiStopReason(message.stopReason),
    stop_sequence: null,
    usage: apiUsage(message.usage),
  };
}

function apiBlock(block: AssistantContent): object {
  switch (block.type) {
    case 'text':
      return {
        type: 'text',
        text: block.text,
        ...(block.citations !== undefined && { citations: block.citations }),
      };
    case 'thinking':
      if (block.redacted) return { type: 'redacted_thinking', data: block.thinkingSignature ?? '' };
      return { type: 'thinking', thinking: block.thinking, signature: block.thinkingSignature ?? '' };
    case 'toolCall':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.arguments };
  }
}

export function apiToolResult(message: ToolResultMessage): object {
  const onlyText = message.content.every((block) => block.type === 'text');
  return {
    type: 'tool_result',
    tool_use_id: message.toolCallId,
    content: onlyText ? messageText(message) : message.content.map(apiInput),
    is_error: message.isError,
  };
}

export function apiInput(block: InputContent): object {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const source = { type: 'base64', media_type: block.mimeType, data: block.data };
  if (block.type === 'image') return { type: 'image', source };
  return { type: 'document', source, ...(block.name !== undefined && { title: block.name }) };
}
