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
        `There are ${this.#options.maxSubscriptions} subscriptions, as many as there may be.`,
      );
    const subscription = { id: this.#nextId++, source, targetAgent, once };
    await this.#change([...this.#subscriptions, subscription]);
    return subscription;
  }

  async unsubscribe(id: number): Promise<void> {
    const rest = this.#subscriptions.filter((one) => one.id !== id);
    if (rest.length === this.#subscriptions.length)
      throw new RequestFailure(404, `There is no subscription ${id}.`);
    await this.#change(rest);
  }

  /** Matching comes first and firing behind it, so that what is fired cannot change what it was matched against. */
  async publish(source: string, payload: string, hops = 0): Promise<void> {
    checkSource(source);
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
    const saved = matching.some(({ once }) => once)
      ? this.#change(this.#subscriptions.filter((one) => !(one.once && matching.includes(one))))
      : undefined;
    queueMicrotask(() => {
      for (const subscription of matching) this.#options.fire(subscription, payload, hops + 1);
    });
    await saved;
  }

  #change(subscriptions: readonly SubscriptionInfo[]): Promise<void> {
    this.#subscriptions = subscriptions;
    // One write at a time, and the last one last.
    this.#saving = this.#saving.catch(() => {}).then(() => this.#options.save(this.#subscriptions));
    return this.#saving;
  }
}

function checkSource(source: string): void {
  if (source === '' || source.length > MAX_SOURCE || /[\s\p{Cc}]/u.test(source))
    throw new RequestFailure(400, `The name of a source has 1 to ${MAX_SOURCE} characters and no blanks.`);
}
