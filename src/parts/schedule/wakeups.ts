// Prompts that a conversation sends itself later. They live in the process that has the conversation open and end with it:
// whoever listens speaks them as a prompt of their own, so a wakeup is never taken for an answer to a question.

import type { Address } from '../../core/conversation.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { type Tool, textOutput } from '../../core/tool.ts';

const MIN_SECONDS = 1;
const MAX_SECONDS = 24 * 60 * 60;
const MAX_WAITING = 20;
const MAX_PROMPT = 4000;

export interface Wakeups {
  /** What is due when nobody listens is lost. Throws `ToolFailure` when too many of that conversation wait. */
  schedule(seconds: number, prompt: string, from: Address): void;
  /** How many of a conversation are not due yet. */
  waiting(from: Address): number;
  /** Returns how to stop it. One listener at a time. */
  listen(listener: (text: string, to: Address) => void): () => void;
  close(): void;
}

export function createWakeups(clock: Pick<Clock, 'sleep'>): Wakeups {
  const stop = new AbortController();
  const waiting = new Map<string, number>();
  let tell: ((text: string, to: Address) => void) | undefined;
  return {
    schedule(seconds, prompt, from) {
      const [conversation, count] = [key(from), this.waiting(from)];
      if (count >= MAX_WAITING) throw new ToolFailure(`${count} wakeups wait already.`);
      waiting.set(conversation, count + 1);
      clock
        .sleep(seconds * 1000, stop.signal)
        // The first word keeps a prompt from being read as a command or a shell line of the person's.
        .then(() => tell?.(`Scheduled wakeup: ${prompt}`, from))
        .catch(() => {})
        .finally(() => {
          const left = this.waiting(from) - 1;
          if (left > 0) waiting.set(conversation, left);
          else waiting.delete(conversation);
        });
    },
    waiting: (from) => waiting.get(key(from)) ?? 0,
    listen(listener) {
      tell = listener;
      return () => {
        tell = undefined;
      };
    },
    close: () => stop.abort(new Error('The conversation is over.')),
  };
}

function key({ agent, sender }: Address): string {
  return JSON.stringify([agent, sender]);
}

/** `wakeups` is absent where a run is all there is. */
export function createWakeupTool(wakeups: Wakeups | undefined): Tool {
  return {
    name: 'schedule_wakeup',
    aliases: ['ScheduleWakeup'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Sends you a prompt later in this conversation, once: to look again at something that takes time. ' +
      'End your turn after it. It comes only while the conversation is open.',
    keywords: ['remind', 'reminder', 'minutes', 'hour', 'timer', 'check', 'back', 'delay'],
    input: {
      type: 'object',
      properties: {
        delaySeconds: { type: 'integer', description: `${MIN_SECONDS} to ${MAX_SECONDS}` },
        prompt: { type: 'string', description: 'What you will be told' },
      },
      required: ['delaySeconds', 'prompt'],
    },
    prepare: ({ delay_seconds, seconds, ...input }) => ({
      ...input,
      ...(input['delaySeconds'] === undefined && { delaySeconds: delay_seconds ?? seconds }),
    }),
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: false }),
    async run(input, { identity }) {
      const seconds = Number(input['delaySeconds']);
      const prompt = String(input['prompt']).trim();
      if (seconds < MIN_SECONDS || seconds > MAX_SECONDS)
        throw new ToolFailure(`The delay is ${MIN_SECONDS} to ${MAX_SECONDS} seconds, not ${seconds}.`);
      if (prompt === '' || prompt.length > MAX_PROMPT)
        throw new ToolFailure(`The prompt must have 1 to ${MAX_PROMPT} characters.`);
      if (wakeups === undefined)
        throw new ToolFailure(
          'Nothing could wake you here: the run ends with your answer. Wait within this turn, or tell the user what is left.',
        );
      wakeups.schedule(seconds, prompt, identity);
      return textOutput(`In ${seconds} seconds you will be told: ${prompt}`);
    },
    show: async ({ delaySeconds, prompt }) => ({ kind: 'markdown', text: `in ${delaySeconds} s: ${prompt}` }),
  };
}
