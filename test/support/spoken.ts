// What a request or a tape says, in one shape for both wires and the disk, so that one expectation holds for all
// three. Written from the providers' documentation and not from our own encoders, so that it can judge them.

import type { Message } from '../../src/core/message.ts';
import type { JsonObject } from '../../src/core/schema.ts';
import type { RequestRecord } from '../../src/dev/fake-provider.ts';

export interface SpokenCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export type Spoken =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly SpokenCall[] }
  | { readonly role: 'result'; readonly id: string; readonly text: string };

export interface Asked {
  readonly model: string | undefined;
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly Spoken[];
}

export function user(text: string): Spoken {
  return { role: 'user', text };
}

export function assistant(text: string, ...calls: readonly SpokenCall[]): Spoken {
  return { role: 'assistant', text, calls };
}

export function call(id: string, name: string, input: JsonObject): SpokenCall {
  return { id, name, input };
}

export function result(id: string, text: string): Spoken {
  return { role: 'result', id, text };
}

/** `record` is that of a request to a model. */
export function askedIn({ wire, model, body }: RequestRecord): Asked {
  const told =
    wire === 'anthropic'
      ? readAnthropic(body as unknown as AnthropicBody)
      : readOpenai(body as unknown as OpenaiBody);
  return { model, ...told };
}

/** A message as it stands on a tape. */
export function spokenIn(message: Message): Spoken {
  const text = textOf(message.content);
  if (message.role === 'user') return user(text);
  if (message.role === 'toolResult') return result(message.toolCallId, text);
  const calls = message.content.filter((block) => block.type === 'toolCall');
  return assistant(text, ...calls.map(({ id, name, arguments: input }) => call(id, name, input)));
}

type Told = Omit<Asked, 'model'>;

type Text = string | readonly { readonly type: string; readonly text?: string }[];

interface AnthropicBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: JsonObject;
  readonly tool_use_id?: string;
  readonly content?: Text;
}

interface AnthropicBody {
  readonly system?: Text;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: string | AnthropicBlock[] }[];
}

function readAnthropic({ system = '', tools = [], messages }: AnthropicBody): Told {
  return {
    system: textOf(system),
    tools: tools.map(({ name }) => name),
    messages: messages.flatMap(({ role, content }) => anthropicTurn(role, blocksOf(content))),
  };
}

function blocksOf(content: string | AnthropicBlock[]): readonly AnthropicBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function anthropicTurn(role: string, blocks: readonly AnthropicBlock[]): readonly Spoken[] {
  const text = textOf(blocks);
  if (role === 'assistant') {
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    return [assistant(text, ...calls.map(({ id = '', name = '', input = {} }) => call(id, name, input)))];
  }
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id = '', content = '' }) => result(tool_use_id, textOf(content)));
  return text === '' ? results : [...results, user(text)];
}

interface OpenaiMessage {
  readonly role: string;
  readonly content: Text | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface OpenaiBody {
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly OpenaiMessage[];
}

function readOpenai({ tools = [], messages }: OpenaiBody): Told {
  const isSystem = ({ role }: OpenaiMessage) => role === 'system';
  return {
    system: messages
      .filter(isSystem)
      .map(({ content }) => textOf(content ?? ''))
      .join('\n'),
    tools: tools.map((tool) => tool.function.name),
    messages: messages.filter((message) => !isSystem(message)).map(openaiMessage),
  };
}

function openaiMessage({ role, content, tool_call_id = '', tool_calls = [] }: OpenaiMessage): Spoken {
  const text = textOf(content ?? '');
  if (role === 'user') return user(text);
  if (role === 'tool') return result(tool_call_id, text);
  return assistant(
    text,
    ...tool_calls.map(({ id, function: { name, arguments: json } }) => call(id, name, JSON.parse(json))),
  );
}

/** Texts that stand beside each other are joined by a line end, as the OpenAI wire sends them. */
function textOf(content: Text): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
    .join('\n');
}
