// A Platform that can be renewed under its conversations. Runs in flight end where they began, and so does what works in
// the background; the next prompt of a conversation behind that takes it to the newest platform, which opens the same
// session under the settings that hold by then.

import { randomUUID } from 'node:crypto';
import type { Address, SessionChoice, SessionInfo } from '../../core/conversation.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Event } from '../../core/event.ts';
import type { OpenReply, OpenRequest, Platform } from '../../core/platform.ts';
import { runEnd } from '../../core/run-end.ts';

export interface GenerationsOptions {
  /** The session that a conversation is at. */
  sessionOf(address: Address): string | undefined;
  /** The request that the conversation would be opened with today. */
  renewed(request: OpenRequest): Promise<OpenRequest>;
  /** An old platform could not be closed. */
  failed(error: unknown): void;
}

interface Bound {
  platform: Platform;
  request: OpenRequest;
  /** On the way to another platform. */
  moving: Promise<void> | undefined;
  /** It has left one platform, and another could not open it: the next prompt tries again. */
  isLost: boolean;
}

export class Generations implements Platform {
  readonly #options: GenerationsOptions;
  readonly #bound = new Map<string, Bound>();
  /** How many conversations each has; one that is old and has none is closed. */
  readonly #uses = new Map<Platform, number>();
  readonly #closing = new Set<Promise<void>>();
  #newest: Platform;

  constructor(first: Platform, options: GenerationsOptions) {
    this.#newest = first;
    this.#options = options;
  }

  renew(platform: Platform): void {
    const before = this.#newest;
    this.#newest = platform;
    this.#use(before, 0);
  }

  async open(request: OpenRequest) {
    const platform = this.#newest;
    this.#use(platform, 1);
    try {
      const reply = await this.#openedApart(platform, request);
      const { agent, sender } = reply.address;
      const { cwd } = reply.session;
      this.#bound.set(key(reply.address), {
        platform,
        request: { ...request, agent, sender, cwd },
        moving: undefined,
        isLost: false,
      });
      return reply;
    } catch (error) {
      this.#use(platform, -1);
      throw error;
    }
  }

  /** One of the same names may be on an older platform, at another session: each has names of its own then. */
  async #openedApart(platform: Platform, request: OpenRequest): Promise<OpenReply> {
    const reply = await platform.open(request);
    if (request.sender !== undefined || !this.#bound.has(key(reply.address))) return reply;
    await platform.leave(reply.address);
    return platform.open({ ...request, sender: `cli:${randomUUID()}` });
  }

  prompt(...call: Parameters<Platform['prompt']>): AsyncIterable<readonly Event[]> {
    const [address] = call;
    const bound = this.#of(address);
    const { platform, request } = bound;
    const stays =
      platform === this.#newest || request.session.kind === 'memory' || this.runningJobs(address) > 0;
    if (stays && bound.moving === undefined && !bound.isLost) return platform.prompt(...call);
    return this.#movedFirst(bound, call);
  }

  async *#movedFirst(
    bound: Bound,
    [address, prompt, signal]: Parameters<Platform['prompt']>,
  ): AsyncGenerator<readonly Event[], void> {
    try {
      bound.moving ??= this.#move(address, bound).finally(() => {
        bound.moving = undefined;
      });
      await bound.moving;
    } catch (error) {
      yield [runEnd('failed', { error: asCrabError(error) })];
      return;
    }
    yield* bound.platform.prompt(address, prompt, signal);
  }

  async #move(address: Address, bound: Bound): Promise<void> {
    const { sessionOf, renewed } = this.#options;
    const id = sessionOf(address);
    const request = await renewed(bound.request);
    // Its run in flight ends first.
    if (!bound.isLost) await bound.platform.leave(address, { goesOn: true });
    bound.isLost = true;
    this.#use(bound.platform, -1);
    bound.platform = this.#newest;
    this.#use(bound.platform, 1);
    const session: SessionChoice =
      id === undefined || request.session.kind === 'head'
        ? request.session
        : { kind: 'resume', id, goesOn: true };
    try {
      await bound.platform.open({ ...request, session });
    } catch (error) {
      // Nothing was said in it, so that there is no file of it.
      const isUnwritten = error instanceof CrabError && error.code === 'session-unknown' && id !== undefined;
      if (!isUnwritten) throw error;
      await bound.platform.open({ ...request, session: { kind: 'new', id } });
    }
    bound.request = request;
    bound.isLost = false;
  }

  async answer(address: Address, ...answer: [string, Parameters<Platform['answer']>[2]]) {
    return this.#of(address).platform.answer(address, ...answer);
  }

  async control(address: Address, control: Parameters<Platform['control']>[1]) {
    await this.#of(address).platform.control(address, control);
  }

  session(address: Address): SessionInfo | undefined {
    return this.#bound.get(key(address))?.platform.session?.(address);
  }

  runningJobs(address: Address): number {
    const { platform, isLost } = this.#of(address);
    return isLost ? 0 : (platform.runningJobs?.(address) ?? 0);
  }

  async leave(address: Address, how?: Parameters<Platform['leave']>[1]): Promise<void> {
    const bound = this.#of(address);
    await bound.moving?.catch(() => {});
    this.#bound.delete(key(address));
    try {
      if (!bound.isLost) await bound.platform.leave(address, how);
    } finally {
      this.#use(bound.platform, -1);
    }
  }

  async close(): Promise<void> {
    const all = new Set([this.#newest, ...this.#uses.keys()]);
    this.#bound.clear();
    this.#uses.clear();
    const results = await Promise.allSettled([...[...all].map((one) => one.close()), ...this.#closing]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #use(platform: Platform, more: number): void {
    const count = (this.#uses.get(platform) ?? 0) + more;
    this.#uses.set(platform, count);
    if (count > 0 || platform === this.#newest) return;
    this.#uses.delete(platform);
    const closing = platform.close().catch((error: unknown) => this.#options.failed(error));
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #of(address: Address): Bound {
    const bound = this.#bound.get(key(address));
    if (bound !== undefined) return bound;
    throw new CrabError(
      'session-unknown',
      `The conversation ${address.agent}/${address.sender} is not open here.`,
      { hint: 'Send to it, which opens it; `crab rpc sessions` lists those that are open.' },
    );
  }
}

function key({ agent, sender }: Address): string {
  return JSON.stringify([agent, sender]);
}
