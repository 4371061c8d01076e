// Reads what the engine hands to a model into the steps that the laws are checked on, as the wires' readers
// do with bodies. Blocks that a wire leaves out by itself, such as empty text, are its own business.

import { type AssistantMessage, type Message, messageText, toolCalls } from '../../src/core/message.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { type Finding, finding, type History, type Step } from '../../src/dev/history-check.ts';

export function readModelHistory({ system, messages, tools }: ModelRequest): History {
  return {
    steps: messages.map((message, index) => stepOf(message, `messages[${index}]`)),
    system,
    tools: tools.map(({ name }, index) => ({ at: `tools[${index}]`, name })),
    findings: messages.flatMap((message, index) => emptiness(message, `messages[${index}]`)),
  };
}

function stepOf(message: Message, at: string): Step {
  const text = messageText(message);
  if (message.role === 'user') return { kind: 'user', at, text };
  if (message.role === 'toolResult') return { kind: 'result', at, callId: message.toolCallId, text };
  const calls = toolCalls(message).map(({ id, name }) => ({ at, id, name }));
  return { kind: 'assistant', at, calls };
}

function emptiness(message: Message, at: string): readonly Finding[] {
  if (message.role === 'assistant' && saysNothing(message)) {
    return [finding(at, 'the assistant message is empty')];
  }
  if (message.role !== 'user') return [];
  const pictured =
    typeof message.content !== 'string' && message.content.some(({ type }) => type === 'image');
  const empty = !pictured && messageText(message).trim() === '';
  return empty ? [finding(at, 'the user message is empty')] : [];
}

/** Nothing that any wire could send. */
function saysNothing({ content }: AssistantMessage): boolean {
  return content.every((block) => {
    if (block.type === 'text') return block.text.trim() === '';
    return block.type === 'thinking' && block.thinkingSignature === undefined;
  });
}
