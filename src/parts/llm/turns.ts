// Messages as turns whose roles alternate, `{"role":…,"content":[…]}`, put together from the blocks that each message
// adds. The APIs of Anthropic and of Bedrock share this shape.

import type { Message } from '../../core/message.ts';
import type { Remembered } from './fragments.ts';

const COMMA = Buffer.from(',');
export const CLOSE_TURN = Buffer.from(']}');
const OPEN_TURN = {
  user: Buffer.from('{"role":"user","content":['),
  assistant: Buffer.from('{"role":"assistant","content":['),
} as const;

export type BlocksOf = Remembered<Message, Buffer>;

/**
 * How many messages no later request will encode in another way: those before the user's last `openTurns`, which may
 * be written in another way. What follows them begins with a turn of the assistant.
 */
export function settledCount(messages: readonly Message[], blocksOf: BlocksOf, openTurns: number): number {
  let turns = 0;
  for (let at = messages.length - 1; at > 0; at--) {
    const message = messages[at];
    const opens = message?.role === 'assistant' && messages[at - 1]?.role !== 'assistant';
    if (!opens || blocksOf(message).length === 0) continue;
    turns++;
    // One more, since the last message may still become another.
    if (turns > openTurns) return at;
  }
  return 0;
}

/** Whole turns with a comma behind them, for what comes next. */
export function settledTurns(messages: readonly Message[], blocksOf: BlocksOf): readonly Buffer[] {
  const parts: Buffer[] = [];
  addTurns(parts, messages, blocksOf);
  if (parts.length > 0) parts.push(COMMA);
  for (const message of messages) blocksOf.forget(message);
  return parts;
}

/** Consecutive messages of one role become one turn, so that roles alternate. Returns where the user's turns end. */
export function addTurns(
  parts: Buffer[],
  messages: readonly Message[],
  blocksOf: BlocksOf,
): readonly number[] {
  const userEnds: number[] = [];
  let open: 'user' | 'assistant' | undefined;
  const close = () => {
    if (open === 'user') userEnds.push(parts.length);
    parts.push(CLOSE_TURN);
  };
  for (const message of messages) {
    const blocks = blocksOf(message);
    if (blocks.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (role === open) {
      parts.push(COMMA);
    } else {
      if (open !== undefined) {
        close();
        parts.push(COMMA);
      }
      parts.push(OPEN_TURN[role]);
      open = role;
    }
    parts.push(blocks);
  }
  if (open !== undefined) close();
  return userEnds;
}
