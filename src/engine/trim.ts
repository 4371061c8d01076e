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

export interface TrimOptions {
  /** The model's, in tokens. */
  readonly window: number;
  /** The share of it from which results are snipped. */
  readonly snipAt: number;
  /** Whether a call only looked, so that it can be made again. */
  isReading(callId: string): boolean;
}

/** Keeps what was made of each message, since wires know messages by identity. */
export class Trimmer {
  readonly #snipped = new WeakMap<ToolResultMessage, ToolResultMessage>();
  readonly #cleared = new WeakMap<ToolResultMessage, ToolResultMessage>();

  /** The same array when there is nothing to leave out. */
  trim(messages: readonly Message[], options: TrimOptions): readonly Message[] {
    const { snipTo, clearTo } = reach(messages, options);
    if (snipTo === 0) return messages;
    return messages.map((message, at) => {
      if (message.role !== 'toolResult' || at >= snipTo || !isWorth(message)) return message;
      if (at < clearTo && options.isReading(message.toolCallId)) return made(this.#cleared, message, cleared);
      return made(this.#snipped, message, snipped);
    });
  }
}

/** Whether a request of this history leaves anything out. */
export function isTrimmed(messages: readonly Message[], options: Omit<TrimOptions, 'isReading'>): boolean {
  return reach(messages, options).snipTo > 0;
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
function reach(messages: readonly Message[], { window, snipAt }: Omit<TrimOptions, 'isReading'>): Reach {
  let snipTo = 0;
  let clearTo = 0;
  let waiting = 0;
  for (const [at, message] of messages.entries()) {
    if (message.role === 'toolResult' && isWorth(message)) waiting += roughTokens(message);
    if (message.role !== 'assistant' || !isCounted(message)) continue;
    if (usedShare(message, window) < snipAt) continue;
    const mustClear = usedShare(message, window) >= snipAt + CLEAR_BEYOND && clearTo < snipTo;
    if (mustClear) clearTo = snipTo;
    if (waiting >= window * STEP) {
      snipTo = at;
      waiting = 0;
    }
  }
  return { snipTo, clearTo };
}

function usedShare({ usage }: AssistantMessage, window: number): number {
  return usage.totalTokens / window;
}

function isWorth(message: ToolResultMessage): boolean {
  return message.content.some((block) => block.type !== 'text') || roughTokens(message) > WORTH_TOKENS;
}

function cleared(message: ToolResultMessage): ToolResultMessage {
  return { ...message, content: [{ type: 'text', text: CLEARED }] };
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
