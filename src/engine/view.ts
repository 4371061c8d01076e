// The history as a provider may see it (law 1), grown message by message. The tape holds what happened, in the
// order it happened; the view pairs every call with one result in call order, answers a call that was
// interrupted, and leaves out what says nothing. Messages keep their identity, so that a wire can cache them.

import {
  type AssistantMessage,
  type Message,
  type ToolCallContent,
  type ToolResultMessage,
  toolCalls,
  toolResultMessage,
  type UserMessage,
} from '../core/message.ts';

const INTERRUPTED = 'This call was interrupted before it ended; its effects are unknown.';

export interface View {
  /** Takes a message in the order of the tape. */
  add(message: Message): void;
  /** Provider-valid. The array is the view's own: it grows with it and must not be kept. */
  messages(): readonly Message[];
  /** Begins again with these; whoever holds the view sees them from here on. */
  restart(messages: readonly Message[]): void;
}

interface OpenCalls {
  readonly calls: readonly ToolCallContent[];
  readonly results: Map<string, ToolResultMessage>;
}

export function createView(messages: Iterable<Message> = []): View {
  const valid: Message[] = [];
  let open: OpenCalls | undefined;
  /** An answer that broke off. It counts once a person goes on from it; one that was asked for again takes its place. */
  let cut: AssistantMessage | undefined;

  function closeCalls(timestamp: number): void {
    if (open === undefined) return;
    for (const call of open.calls) {
      const result = open.results.get(call.id);
      valid.push(result ?? interrupted(call, timestamp));
    }
    open = undefined;
  }

  const view: View = {
    add(message) {
      if (message.role === 'toolResult') {
        if (open?.calls.some((call) => call.id === message.toolCallId) === true)
          open.results.set(message.toolCallId, message);
        return;
      }
      closeCalls(message.timestamp);
      if (message.role === 'user') {
        if (cut !== undefined) valid.push(cut);
        cut = undefined;
        addUser(valid, message);
        return;
      }
      const said = sayable(message);
      if (said === undefined) return;
      if (isCut(message)) {
        cut = said;
        return;
      }
      cut = undefined;
      valid.push(said);
      const calls = toolCalls(said);
      if (calls.length > 0) open = { calls, results: new Map() };
    },
    messages() {
      closeCalls(valid.at(-1)?.timestamp ?? 0);
      return valid;
    },
    restart(others) {
      valid.length = 0;
      open = undefined;
      cut = undefined;
      for (const message of others) view.add(message);
    },
  };
  for (const message of messages) view.add(message);
  return view;
}

function interrupted(call: ToolCallContent, timestamp: number): ToolResultMessage {
  return toolResultMessage(call, [{ type: 'text', text: INTERRUPTED }], { isError: true, timestamp });
}

/** Two prompts with nothing between them become one, since wires want the speakers to alternate. */
function addUser(valid: Message[], message: UserMessage): void {
  const last = valid.at(-1);
  if (last?.role !== 'user') {
    valid.push(message);
    return;
  }
  valid[valid.length - 1] = { ...message, content: [...blocks(last), ...blocks(message)] };
}

function blocks(message: UserMessage): Exclude<UserMessage['content'], string> {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

/** A message that was cut short keeps its words and loses its calls, none of which is known to be complete. */
function sayable(message: AssistantMessage): AssistantMessage | undefined {
  const content = isCut(message)
    ? message.content.filter((block) => block.type === 'text')
    : message.content.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  if (!content.some((block) => block.type === 'toolCall' || isWords(block))) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === 'error' || stopReason === 'aborted';
}

function isWords(block: AssistantMessage['content'][number]): boolean {
  return block.type === 'text' && block.text.trim() !== '';
}
