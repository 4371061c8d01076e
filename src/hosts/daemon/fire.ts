// What an event of the bus starts: a run of the agent that subscribed to it, in the conversation of that agent with the
// event's source. Nobody waits for it and its reply is dropped; that it is over is an event of its own.

import type { Address } from '../../core/conversation.ts';
import type { OpenRequest } from '../../core/platform.ts';
import type { SubscriptionInfo } from '../../protocol/messages.ts';
import type { Call, Server } from '../../protocol/server.ts';
import type { BusOptions } from './bus.ts';
import type { Conversations } from './conversations.ts';

export interface FireOptions {
  readonly conversations: Pick<Conversations, 'find' | 'open' | 'begin'>;
  /** As in `DaemonServerOptions`. */
  declare(address: Address, cwd: string | undefined): Promise<OpenRequest>;
  /** The run could not begin. */
  failed(address: Address, error: unknown): void;
}

/** For `BusOptions.fire`. `hops` counts the events that led here, this one included. */
export function createFire({ conversations, declare, failed }: FireOptions): BusOptions['fire'] {
  return ({ source, targetAgent }, payload, hops) => {
    const address = {
      agent: targetAgent,
      sender: hops === 1 ? `event:${source}` : `event:${source}#${hops}`,
    };
    const start = async () => {
      if (conversations.find(address) === undefined)
        await conversations.open(await declare(address, undefined));
      // An event is never a command, whatever it begins with: nobody typed it.
      conversations.begin(address, { text: payload, plain: true, trigger: { by: 'event', source } });
    };
    start().catch((error: unknown) => failed(address, error));
  };
}

/** The bus as the agents of a daemon reach it. */
export interface AgentBus {
  list(): Promise<readonly SubscriptionInfo[]>;
  subscribe(wish: Omit<SubscriptionInfo, 'id'>): Promise<SubscriptionInfo>;
  unsubscribe(id: number): Promise<void>;
  /** `payer`: the sender of the conversation that it comes from. */
  publish(source: string, payload: string, payer: string): Promise<void>;
}

/** `server` is asked for with each call: a runtime is built before the daemon that it serves. */
export function busOf(server: () => Server): AgentBus {
  const call: Call = {
    peer: { name: 'agent', capabilities: new Set() },
    signal: new AbortController().signal,
  };
  return {
    list: async () => (await server().listSubscriptions(call)).subscriptions,
    subscribe: (wish) => server().subscribeEvent(wish, call),
    unsubscribe: (id) => server().unsubscribeEvent({ id }, call),
    publish: (source, payload, payer) =>
      server().publishEvent({ source, payload, hops: hopsOf(payer) }, call),
  };
}

/** For `RuntimeHost.delegated`: a task that an agent gave to another is over, which an event tells like any other end. */
export function tellDone(
  bus: AgentBus,
): (task: { readonly agent: string; readonly result: string; readonly payer: string }) => void {
  return ({ agent, result, payer }) => void bus.publish(`agent:${agent}:done`, result, payer).catch(() => {});
}

/** How many events have led to a conversation, as its sender says: `event:SOURCE` for one, else `event:SOURCE#HOPS`. */
export function hopsOf(sender: string): number {
  const [, hops] = /^event:.*?(?:#(\d+))?$/s.exec(sender) ?? [undefined, '0'];
  return Number(hops ?? 1);
}
