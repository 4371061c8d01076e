// The tools with which an agent asks for work to be begun when something happens: `subscribe_event`, `unsubscribe_event`,
// `list_subscriptions` and `publish_event`. They are there where events are: in a daemon.

import type { Address } from '../../core/conversation.ts';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import { type Tool, textOutput } from '../../core/tool.ts';

export interface Subscription {
  readonly id: number;
  readonly source: string;
  readonly targetAgent: string;
  readonly once: boolean;
}

export interface Events {
  list(): Promise<readonly Subscription[]>;
  subscribe(subscription: Omit<Subscription, 'id'>): Promise<Subscription>;
  unsubscribe(id: number): Promise<void>;
  /** `origin`: the conversation that it comes from, which tells how many events have led to it. */
  publish(source: string, payload: string, origin: Address): Promise<void>;
}

const SOURCE = {
  type: 'string',
  description: 'The whole name, such as rss:fetch, or agent:NAME:done for the end of a run of that agent',
} as const;

export function createEventTools(events: Events): readonly Tool[] {
  return [subscribe(events), unsubscribe(events), list(events), publish(events)];
}

const alone = { parallel: false, repeatable: false } as const;

function subscribe(events: Events): Tool {
  return {
    name: 'subscribe_event',
    source: 'builtin',
    isDeferred: true,
    description:
      'From here on each event of this name gives its text to an agent as a prompt, in a run of its own.',
    input: {
      type: 'object',
      properties: {
        source: SOURCE,
        agent: { type: 'string', description: 'Who is to work on it; default you' },
        once: { type: 'boolean', description: 'Only the next one' },
      },
      required: ['source'],
      additionalProperties: false,
    },
    plan: async ({ agent = '' }) => ({ access: { kind: 'spawn', agent: String(agent) }, ...alone }),
    run: async ({ source, agent, once }, { identity }) => {
      const targetAgent = typeof agent === 'string' && agent !== '' ? agent : identity.agent;
      const wish = { source: String(source), targetAgent, once: once === true };
      return textOutput(lineOf(await mended(events.subscribe(wish))));
    },
    show: async ({ source, agent }) => ({ kind: 'markdown', text: `${source} → ${agent ?? 'this agent'}` }),
  };
}

function unsubscribe(events: Events): Tool {
  return {
    name: 'unsubscribe_event',
    source: 'builtin',
    isDeferred: true,
    description: 'Ends a subscription.',
    input: {
      type: 'object',
      properties: { id: { type: 'integer' } },
      required: ['id'],
      additionalProperties: false,
    },
    plan: async () => ({ access: { kind: 'none' }, ...alone }),
    run: async ({ id }) => {
      await mended(events.unsubscribe(Number(id)));
      return textOutput(`Subscription ${id} is gone.`);
    },
    show: async ({ id }) => ({ kind: 'markdown', text: `subscription ${id}` }),
  };
}

function list(events: Events): Tool {
  return {
    name: 'list_subscriptions',
    source: 'builtin',
    isDeferred: true,
    description: 'Lists which events give work to which agents.',
    input: { type: 'object', properties: {}, additionalProperties: false },
    plan: async () => ({ access: { kind: 'none' }, parallel: true, repeatable: true }),
    run: async () =>
      textOutput((await events.list()).map(lineOf).join('\n') || 'There are no subscriptions.'),
    show: async () => ({ kind: 'markdown', text: 'subscriptions' }),
  };
}

function publish(events: Events): Tool {
  return {
    name: 'publish_event',
    source: 'builtin',
    isDeferred: true,
    description: 'Publishes an event: whoever has subscribed to it is given the text as a prompt.',
    input: {
      type: 'object',
      properties: { source: SOURCE, payload: { type: 'string' } },
      required: ['source', 'payload'],
      additionalProperties: false,
    },
    // It may start agents, and which ones is no matter of the call.
    plan: async ({ source }) => ({ access: { kind: 'spawn', agent: `event:${source}` }, ...alone }),
    run: async ({ source, payload }, { identity }) => {
      await mended(events.publish(String(source), String(payload), identity.origin ?? identity));
      return textOutput(`${source} is published.`);
    },
    show: async ({ source }) => ({ kind: 'markdown', text: `event ${source}` }),
  };
}

function lineOf({ id, source, targetAgent, once }: Subscription): string {
  return `${id}: ${source} → ${targetAgent}${once ? ', once' : ''}`;
}

async function mended<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    throw new ToolFailure(messageOf(error), { cause: error });
  }
}
