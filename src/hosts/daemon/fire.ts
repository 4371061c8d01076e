// What an event of the bus starts: a run of the agent that subscribed to it, in the conversation of that agent with the
// event's source. Nobody waits for it and its reply is dropped; that it is over is an event of its own.

import type { Address } from '../../core/conversation.ts';
import type { OpenRequest, Prompt } from '../../core/platform.ts';
import type { SubscriptionInfo } from '../../protocol/messages.ts';
import type { Call } from '../../protocol/server.ts';
import type { BusOptions } from './bus.ts';
import type { Conversations } from './conversations.ts';
import type { Daemon } from './daemon.ts';

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
    const address = { agent: targetAgent, sender: `event:${source}` };
    const start = async () => {
      if (conversations.find(address) === undefined)
        await conversations.open(await declare(address, undefined));
      // An event is never a command, whatever it begins with: nobody typed it.
      const prompt: Prompt = { text: payload, plain: true, trigger: { by: 'event', source } };
      conversations.begin(address, prompt, { hops });
    };
    start().catch((error: unknown) => failed(address, error));
  };
}

/** The bus as the agents of a daemon reach it. */
export interface AgentBus {
  list(): Promise<readonly SubscriptionInfo[]>;
  subscribe(wish: Omit<SubscriptionInfo, 'id'>): Promise<SubscriptionInfo>;
  unsubscribe(id: number): Promise<void>;
  /** `origin`: the conversation that it comes from. */
  publish(source: string, payload: string, origin: Address): Promise<void>;
}

/** `daemon` is asked for with each call: a runtime is built before the daemon that it serves. */
export function busOf(daemon: () => Pick<Daemon, 'server' | 'hopsTo'>): AgentBus {
  const call: Call = {
    peer: { name: 'agent', capabilities: new Set() },
    signal: new AbortController().signal,
  };
  return {
    list: async () => (await daemon().server.listSubscriptions(call)).subscriptions,
    subscribe: (wish) => daemon().server.subscribeEvent(wish, call),
    unsubscribe: (id) => daemon().server.unsubscribeEvent({ id }, call),
    publish: (source, payload, origin) =>
      daemon().server.publishEvent({ source, payload, hops: daemon().hopsTo(origin) }, call),
  };
}

/** For `RuntimeHost.delegated`: a task that an agent gave to another is over, which an event tells like any other end. */
export function tellDone(
  bus: AgentBus,
): (task: { readonly agent: string; readonly result: string; readonly origin: Address }) => void {
  return ({ agent, result, origin }) =>
    void bus.publish(`agent:${agent}:done`, result, origin).catch(() => {});
}
