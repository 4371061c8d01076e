// Tool-call ids that are unique in a conversation. Results are paired with calls by id, yet some servers
// leave ids out, count from zero in every answer, or say one twice.

import type { Message } from '../../core/message.ts';

/** Turns what a provider sent as an id into one that no other call has. */
export type CallIds = (sent: string | undefined) => string;

/**
 * Returns what gives ids to the answer that follows a history. Of a history that has grown since the last time only
 * the new messages are read.
 */
export function createCallIds(random: () => number): (messages: readonly Message[]) => CallIds {
  const known = new WeakMap<readonly Message[], Known>();
  return (messages) => {
    const own = new Set<string>();
    return (sent) => {
      const earlier = idsIn(messages, known);
      const wanted = sent === undefined || sent === '' ? randomId(random) : sent;
      let id = wanted;
      for (let copy = 2; earlier.has(id) || own.has(id); copy++) id = `${wanted}-${copy}`;
      own.add(id);
      return id;
    };
  };
}

interface Known {
  readonly ids: Set<string>;
  /** How many messages were read. */
  count: number;
}

function randomId(random: () => number): string {
  let digits = '';
  while (digits.length < 16) digits += Math.floor(random() * 36).toString(36);
  return `call_${digits}`;
}

function idsIn(messages: readonly Message[], known: WeakMap<readonly Message[], Known>): ReadonlySet<string> {
  let found = known.get(messages);
  if (found === undefined) {
    found = { ids: new Set(), count: 0 };
    known.set(messages, found);
  }
  for (; found.count < messages.length; found.count++) {
    const message = messages[found.count];
    if (message?.role !== 'assistant') continue;
    for (const block of message.content) if (block.type === 'toolCall') found.ids.add(block.id);
  }
  return found.ids;
}
