// What requests leave out of old tool results once a context fills up; stored messages never change. How far it goes
// is read off the history itself, step by step, so that it is the same after a restart, never goes back, and moves
// seldom: each move costs the provider's cache of everything behind it.

import type { AssistantMessage, InputContent, Message, ToolResultMessage } from '../core/message.ts';
import { roughTokens } from './compaction.ts';
import { isCounted } from './estimate.ts';

export const CLEARED = '[Old tool result content cleared]';
export const SNIPPED = '[snipped]';

/** Beyond `snipAt`, by this share of the window, results of reading calls are left out as a whole. */
const CLEAR_BEYOND = 0.05;

/** The share of the window that a step must make room for by itself. */
const STEP = 0.05;

/** A result below so many tokens, by estimate, is left as it is. */
const WORTH_TOKENS = 500;

const HEAD_LINES = 10;
const TAIL_LINES = 10;
const MAX_LINE = 200;

export interface ReachOptions {
  /** The model's, in tokens. */
  readonly window: number;
  /** The share of it from which results are snipped. */
  readonly snipAt: number;
  /** A call: whatever room there is, results before it are snipped. */
  readonly snipBefore?: string | undefined;
}

export interface TrimOptions extends ReachOptions {
  /** Whether a call only looked, so that it can be made again. */
  isReading(callId: string): boolean;
  /** What a result held, in a line, where somebody wrote that: it stands in the place of one that is left out. */
  lineOf?(callId: string): string | undefined;
}

/** Keeps what was made of each message, since wires know messages by identity. */
export class Trimmer {
  readonly #snipped = new WeakMap<ToolResultMessage, ToolResultMessage>();
  readonly #cleared = new WeakMap<ToolResultMessage, ToolResultMessage>();
  #walk: Walk | undefined;

  /** Whether a request of this history leaves anything out. */
  trims(messages: readonly Message[], options: ReachOptions): boolean {
    return this.#reach(messages, options).snipTo > 0;
  }

  /** The results in whose place a line would stand. */
  clearable(messages: readonly Message[], options: ReachOptions): readonly ToolResultMessage[] {
    const { clearTo } = this.#reach(messages, options);
    return messages
      .slice(0, clearTo)
      .flatMap((message) => (message.role === 'toolResult' && isWorth(message) ? [message] : []));
  }

  /** The same array when there is nothing to leave out. */
  trim(messages: readonly Message[], options: TrimOptions): readonly Message[] {
    const { snipTo, clearTo } = this.#reach(messages, options);
    if (snipTo === 0) return messages;
    return messages.map((message, at) => {
      if (message.role !== 'toolResult' || at >= snipTo || !isWorth(message)) return message;
      if (at < clearTo) {
        const { toolCallId } = message;
        const line = options.lineOf?.(toolCallId) ?? '';
        if (line !== '' || options.isReading(toolCallId))
          return made(this.#cleared, message, (result) => cleared(result, line));
      }
      return made(this.#snipped, message, snipped);
    });
  }

  /** Where the history has only grown, the last walk goes on, so that a turn costs the same however long it is. */
  #reach(messages: readonly Message[], options: ReachOptions): Reach {
    if (!this.#walk?.leadsTo(messages, options)) this.#walk = new Walk(options);
    return this.#walk.on(messages);
  }
}

function made(
  known: WeakMap<ToolResultMessage, ToolResultMessage>,
  message: ToolResultMessage,
  make: (message: ToolResultMessage) => ToolResultMessage,
): ToolResultMessage {
  const result = known.get(message) ?? make(message);
  known.set(message, result);
  return result;
}

interface Reach {
  /** Results before it are snipped. */
  readonly snipTo: number;
  /** Of those, results of reading calls before it are cleared. */
  readonly clearTo: number;
}

/** Each answer that says how full the window was may move the reach up to itself: what follows it is the last turn. */
class Walk {
  readonly #options: ReachOptions;
  #first: Message | undefined;
  #last: Message | undefined;
  #length = 0;
  #asked = 0;
  #snipTo = 0;
  #clearTo = 0;
  #waiting = 0;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** Whether these messages begin with those that were walked. */
  leadsTo(messages: readonly Message[], { window, snipAt, snipBefore }: ReachOptions): boolean {
    const own = this.#options;
    if (window !== own.window || snipAt !== own.snipAt || snipBefore !== own.snipBefore) return false;
    return messages[0] === this.#first && messages[this.#length - 1] === this.#last;
  }

  on(messages: readonly Message[]): Reach {
    for (const message of messages.slice(this.#length)) this.#step(message);
    this.#first = messages[0];
    this.#last = messages.at(-1);
    return { snipTo: Math.max(this.#snipTo, this.#asked), clearTo: this.#clearTo };
  }

  #step(message: Message): void {
    const { window, snipAt, snipBefore } = this.#options;
    const at = this.#length++;
    if (message.role === 'toolResult' && isWorth(message)) this.#waiting += roughTokens(message);
    if (message.role !== 'assistant') return;
    if (snipBefore !== undefined && calls(message, snipBefore)) this.#asked = at;
    if (!isCounted(message) || usedShare(message, window) < snipAt) return;
    const mustClear = usedShare(message, window) >= snipAt + CLEAR_BEYOND && this.#clearTo < this.#snipTo;
    if (mustClear) this.#clearTo = this.#snipTo;
    if (this.#waiting < window * STEP) return;
    this.#snipTo = at;
    this.#waiting = 0;
  }
}

function calls({ content }: AssistantMessage, id: string): boolean {
  return content.some((block) => block.type === 'toolCall' && block.id === id);
}

function usedShare({ usage }: AssistantMessage, window: number): number {
  return usage.totalTokens / window;
}

function isWorth(message: ToolResultMessage): boolean {
  return message.content.some((block) => block.type !== 'text') || roughTokens(message) > WORTH_TOKENS;
}

function cleared(message: ToolResultMessage, line: string): ToolResultMessage {
  const text = line === '' ? CLEARED : `${CLEARED} ${line}`;
  return { ...message, content: [{ type: 'text', text }] };
}

function snipped(message: ToolResultMessage): ToolResultMessage {
  return { ...message, content: message.content.map(snippedBlock) };
}

function snippedBlock(block: InputContent): InputContent {
  if (block.type !== 'text') return { type: 'text', text: `${SNIPPED} ${block.type}` };
  const lines = block.text.split('\n');
  const missing = lines.length - HEAD_LINES - TAIL_LINES;
  const shown =
    missing > 0
      ? [
          ...lines.slice(0, HEAD_LINES).map(cut),
          `${SNIPPED} ${missing} lines`,
          ...lines.slice(-TAIL_LINES).map(cut),
        ]
      : lines.map(cut);
  return { type: 'text', text: shown.join('\n') };
}

function cut(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${line.slice(0, MAX_LINE).toWellFormed()} ${SNIPPED} ${line.length - MAX_LINE} characters`;
}
