// What a conversation is made of: the three messages and their content blocks, in the shape that pi's
// session format (version 3) writes to disk, so that a tape needs no translation on its way to a model.

import type { JsonObject } from './schema.ts';
import type { Usage } from './usage.ts';

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  /** What the provider wants back with the text, such as the id of the item that it was; opaque. */
  readonly textSignature?: string;
  /** The sources that the text names, in the provider's own words; sent back to that provider unchanged. */
  readonly citations?: readonly JsonObject[];
}

export interface ThinkingContent {
  readonly type: 'thinking';
  readonly thinking: string;
  /** The provider's proof that the thinking is its own; sent back unchanged. */
  readonly thinkingSignature?: string;
  /** The provider hid the text: `thinkingSignature` holds its opaque data. */
  readonly redacted?: boolean;
}

export interface ImageContent {
  readonly type: 'image';
  /** Base64, without a data-URL prefix. */
  readonly data: string;
  readonly mimeType: string;
}

/** A file that a model reads as a whole, with its pages as they look. */
export interface DocumentContent {
  readonly type: 'document';
  /** Base64. */
  readonly data: string;
  readonly mimeType: 'application/pdf';
  /** The name of the file, without its folder. */
  readonly name?: string;
}

/** What a person or a tool can show a model. */
export type InputContent = TextContent | ImageContent | DocumentContent;

export interface ToolCallContent {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The provider's proof of the thinking that led to the call; sent back unchanged. */
  readonly thoughtSignature?: string;
}

export type AssistantContent = TextContent | ThinkingContent | ToolCallContent;

export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly InputContent[];
  /** Milliseconds since the epoch, as everywhere in messages. */
  readonly timestamp: number;
}

/** Why the model stopped. `error` and `aborted` mark a message that was cut short. */
export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantContent[];
  /** The wire format that produced it, such as `anthropic-messages`. */
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly errorMessage?: string;
  /** The guest agent that spoke; absent for the conversation's own agent. */
  readonly agent?: string;
  readonly timestamp: number;
}

export interface ToolResultMessage {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly InputContent[];
  readonly isError: boolean;
  readonly timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The text of any message, its text blocks joined by nothing. */
export function messageText(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  let text = '';
  for (const block of message.content) if (block.type === 'text') text += block.text;
  return text;
}

export function toolCalls(message: AssistantMessage): readonly ToolCallContent[] {
  return message.content.filter((block) => block.type === 'toolCall');
}

export function userMessage(content: UserMessage['content'], timestamp: number): UserMessage {
  return { role: 'user', content, timestamp };
}

export function toolResultMessage(
  call: { readonly id: string; readonly name: string },
  content: ToolResultMessage['content'],
  options: { readonly isError: boolean; readonly timestamp: number },
): ToolResultMessage {
  return { role: 'toolResult', toolCallId: call.id, toolName: call.name, content, ...options };
}
