// Tool-call ids that are unique in a conversation. Results are paired with calls by id, yet some servers
// leave ids out, count from zero in every answer, or say one twice.

import type { Message } from '../../core/message.ts';

/** Returns a function that turns what a provider sent as an id into one that no other call has. */
export function createCallIds(
  messages: readonly Message[],
  random: () => number,
): (sent: string | undefined) => string {
  let taken: Set<string> | undefined;
  return (sent) => {
    taken ??= idsIn(messages);
    const wanted = sent === undefined || sent === '' ? randomId(random) : sent;
    let id = wanted;
    for (let copy = 2; taken.has(id); copy++) id = `${wanted}-${copy}`;
    taken.add(id);
    return id;
  };
}

function randomId(random: () => number): string {
  let digits = '';
  while (digits.length < 16) digits += Math.floor(random() * 36).toString(36);
  return `call_${digits}`;
}

function idsIn(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) if (block.type === 'toolCall') ids.add(block.id);
  }
  return ids;
}
