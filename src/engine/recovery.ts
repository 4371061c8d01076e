// The bounded repairs that the engine makes by itself. They change one request or the model that it goes to, never
// the stored history, and each says so in an event.

import type { Message } from '../core/message.ts';

/** Tries for each kind of repair in one run. */
export const MAX_RECOVERIES = 3;

/**
 * The request after a provider said that the prompt is too long: the oldest groups (a prompt, or an answer with its
 * results) leave, a quarter more of them with each attempt. What stays is the last prompt, and the newest group.
 * Undefined when nothing is left to leave out.
 */
export function shortened(messages: readonly Message[], attempt: number): readonly Message[] | undefined {
  const prompt = messages.findLastIndex((message) => message.role === 'user');
  const starts: number[] = [];
  for (const [at, message] of messages.entries())
    if (message.role !== 'toolResult' && at !== prompt) starts.push(at);
  const droppable = starts.slice(0, -1);
  const count = Math.ceil((droppable.length * attempt) / (MAX_RECOVERIES + 1));
  if (count === 0) return undefined;
  const firstKept = starts[count] ?? messages.length;
  const kept = messages.filter((_, at) => at === prompt || at >= firstKept);
  const firstUser = kept.findIndex((message) => message.role === 'user');
  return kept.slice(Math.max(0, firstUser));
}
