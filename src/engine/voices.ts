// Who said what, as a model is told it. In a conversation that guests have spoken in, each of their answers is wrapped so
// that nobody takes it for his own; a guest is shown what the others did with their tools as text, since it has none. None
// of it is ever stored: the tape has the plain words and the name beside them.

import {
  type AssistantContent,
  type AssistantMessage,
  type Message,
  messageText,
  toolCalls,
  userMessage,
} from '../core/message.ts';
import { createView } from './view.ts';

export const PRIMARY_FRAMING =
  'Messages wrapped in <from agent="NAME"> tags are from guest agents who joined this conversation. ' +
  'Continue responding as yourself, and do not write such tags.';

export function guestFraming(name: string, primary: string): string {
  return (
    `You are joining a conversation as a guest. You are ${name}; the conversation belongs to ${primary}, who will read your ` +
    'answer. Messages wrapped in <from agent="NAME"> tags are from guest agents, earlier ones of yours among them. Answer the ' +
    'last message as yourself, in words only: you have no tools here. Do not write such tags.'
  );
}

/** Bytes of a call's input, and of its result, that a guest is shown. */
const SHOWN_INPUT = 400;
const SHOWN_RESULT = 4000;

/** Of one conversation: what was made of a message once is the same value the next time, so that a wire can cache it. */
export class Voices {
  readonly #tagged = new WeakMap<AssistantMessage, AssistantMessage>();

  /** The same array when no guest has spoken. */
  forPrimary(messages: readonly Message[]): readonly Message[] {
    return hasGuests(messages) ? messages.map((message) => this.withAgentTag(message)) : messages;
  }

  /** Text alone, still with the speakers in turn. */
  forGuest(messages: readonly Message[]): readonly Message[] {
    return createView(messages.flatMap((message) => asText(this.withAgentTag(message)))).messages();
  }

  withAgentTag(message: Message): Message {
    if (message.role !== 'assistant' || message.agent === undefined) return message;
    const known = this.#tagged.get(message) ?? tagged(message, message.agent);
    this.#tagged.set(message, known);
    return known;
  }
}

export function hasGuests(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'assistant' && message.agent !== undefined);
}

function tagged(message: AssistantMessage, agent: string): AssistantMessage {
  const isText = (block: AssistantContent) => block.type === 'text';
  const first = message.content.findIndex(isText);
  const last = message.content.findLastIndex(isText);
  const content = message.content.map((block, at) => {
    if (block.type !== 'text') return block;
    const open = at === first ? `<from agent="${agent}">\n` : '';
    const close = at === last ? '\n</from>' : '';
    return { ...block, text: `${open}${block.text}${close}` };
  });
  return { ...message, content };
}

function asText(message: Message): readonly Message[] {
  const { timestamp } = message;
  if (message.role === 'user') return [message];
  if (message.role === 'toolResult') {
    const told = cut(messageText(message), SHOWN_RESULT);
    const how = message.isError ? ' failed="true"' : '';
    return [
      userMessage(`<tool_result tool="${message.toolName}"${how}>\n${told}\n</tool_result>`, timestamp),
    ];
  }
  const said = message.content.filter((block) => block.type === 'text');
  const calls = toolCalls(message).map(
    ({ name, arguments: input }) => `[called ${name} with ${cut(JSON.stringify(input), SHOWN_INPUT)}]`,
  );
  const did = calls.length === 0 ? [] : [{ type: 'text', text: calls.join('\n') } as const];
  return [{ ...message, content: [...said, ...did], stopReason: 'stop' }];
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}… [${text.length} characters]`;
}
