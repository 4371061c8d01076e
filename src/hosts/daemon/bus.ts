// The bus: named events that start new work. A subscription matches one source exactly; what it fires is a run of its own,
// and nothing that is in flight hears of it. No broker: an event that nobody has subscribed to is gone.

import { RequestFailure } from '../../protocol/failure.ts';
import type { SubscribeEventMsg, SubscriptionInfo } from '../../protocol/messages.ts';

export interface BusOptions {
  /** In the order of their ids. */
  readonly subscriptions: readonly SubscriptionInfo[];
  /** Durable when it resolves. */
  save(subscriptions: readonly SubscriptionInfo[]): Promise<void>;
  /** Starts the target's run. Never throws, and waits for nothing. */
  fire(subscription: SubscriptionInfo, payload: string, hops: number): void;
  /** As it is at this moment, and so is the next one. */
  readonly maxSubscriptions: number;
  /** Events that may lead to one another in a row. */
  readonly maxHops: number;
  log(text: string): void;
}

/** Bytes of a source's name, and of a payload. */
const MAX_SOURCE = 256;
const MAX_PAYLOAD = 1024 * 1024;

export class Bus {
  readonly #options: BusOptions;
  #subscriptions: readonly SubscriptionInfo[];
  #nextId: number;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: BusOptions) {
    this.#options = options;
    this.#subscriptions = options.subscriptions;
    this.#nextId = 1 + Math.max(0, ...options.subscriptions.map(({ id }) => id));
  }

  list(): readonly SubscriptionInfo[] {
    return this.#subscriptions;
  }

  async subscribe({ source, targetAgent, once }: SubscribeEventMsg): Promise<SubscriptionInfo> {
    checkSource(source);
    if (targetAgent === '') throw new RequestFailure(400, 'A subscription needs the agent that it is for.');
    if (this.#subscriptions.length >= this.#options.maxSubscriptions)
      throw new RequestFailure(
        429,
        `There are as many subscriptions as there may be: ${this.#options.maxSubscriptions}.`,
      );
    const subscription = { id: this.#nextId++, source, targetAgent, once };
    this.#subscriptions = [...this.#subscriptions, subscription];
    await this.#saved(() => this.#remove([subscription]));
    return subscription;
  }

  async unsubscribe(id: number): Promise<void> {
    const found = this.#subscriptions.find((one) => one.id === id);
    if (found === undefined) throw new RequestFailure(404, `There is no subscription ${id}.`);
    this.#remove([found]);
    await this.#saved(() => {
      this.#subscriptions = [...this.#subscriptions, found].sort((one, other) => one.id - other.id);
    });
  }

  /** Matching comes first and firing behind it, so that what is fired cannot change what it was matched against. */
  async publish(source: string, payload: string, hops = 0): Promise<void> {
    checkSource(source);
    if (payload.trim() === '')
      throw new RequestFailure(
        400,
        'The payload is empty: it is the prompt of those who have subscribed to the event.',
      );
    if (payload.length > MAX_PAYLOAD)
      throw new RequestFailure(
        413,
        `A payload has at most ${MAX_PAYLOAD} characters, and this one ${payload.length}.`,
      );
    const matching = this.#subscriptions.filter((one) => one.source === source);
    if (matching.length === 0) return;
    if (hops >= this.#options.maxHops) {
      const text = `${hops} events in a row have led to ${source}: it is not passed on.`;
      this.#options.log(text);
      throw new RequestFailure(429, text);
    }
    const spent = matching.filter(({ once }) => once);
    this.#remove(spent);
    const saved = spent.length > 0 ? this.#saved() : undefined;
    queueMicrotask(() => {
      for (const subscription of matching) this.#options.fire(subscription, payload, hops + 1);
    });
    await saved;
  }

  #remove(some: readonly SubscriptionInfo[]): void {
    this.#subscriptions = this.#subscriptions.filter((one) => !some.includes(one));
  }

  /** One write at a time, and the last one last. Whoever is told of a failure finds that nothing has changed. */
  #saved(undo?: () => void): Promise<void> {
    const saving = this.#saving.then(async () => {
      try {
        await this.#options.save(this.#subscriptions);
      } catch (error) {
        undo?.();
        throw error;
      }
    });
    this.#saving = saving.catch(() => {});
    return saving;
  }
}

function checkSource(source: string): void {
  if (source === '' || source.length > MAX_SOURCE || /[\s\p{Cc}]/u.test(source))
    throw new RequestFailure(400, `The name of a source has 1 to ${MAX_SOURCE} characters and no blanks.`);
}
