// One connection of a server: each message becomes a task. Those with an id run side by side; those without run one after
// another, since their answers are told by their order, except what must reach a run that is in flight.

import type { Connection } from './connection.ts';
import { errorMessage } from './failure.ts';
import type { ClientMessage, ClientMessageCase, ServerMessage, ServerMessageCase } from './messages.ts';
import { dispatch, type Peer, type Server } from './server.ts';

export interface ServeOptions {
  readonly server: Server;
  readonly name: string;
  /** What the connection itself proves, such as the user at the other end of a socket in a folder of their own. */
  readonly isTrusted: boolean;
  /** As in `Peer`. */
  readonly isNear?: boolean;
  /** As in `Peer`, as far as it is known. */
  isLimited?(): boolean;
  /** Whether a token is good; asked once, of the Hello of a connection that is not trusted. */
  authenticate(token: string): Promise<boolean>;
  /**
   * What is carried out in place of a message of a client that is known: itself, or what its rights leave of it. Throws
   * `RequestFailure`, which is the answer then.
   */
  admit?(message: ClientMessageCase): ClientMessageCase;
  /** Nothing more answers this request. For a codec that has to say so. */
  answered?(requestId: number): Promise<void>;
}

/** Requests of one connection that may be unanswered at once. */
const MAX_PENDING = 256;

/** What is answered at any time, without an id too. */
const AT_ONCE: ReadonlySet<ClientMessageCase['case']> = new Set([
  'ping',
  'kill',
  'replyToAsk',
  'replyToPermission',
  'answer',
  'control',
  'unwatch',
]);

type Client = Connection<ServerMessage, ClientMessage>;

/** Resolves when the client is gone and nothing of it is running any more. Never rejects. */
export async function serve(connection: Client, options: ServeOptions): Promise<void> {
  const session = new Session(connection, options);
  try {
    for await (const received of connection.received) {
      if (received.kind === 'message') await session.take(received.message);
      else {
        const code = received.kind === 'broken' ? received.code : 400;
        await session.reply(0, { case: 'error', value: { code, message: received.reason } });
        if (received.kind === 'broken') break;
      }
    }
  } catch {
    // The other end is gone: so is everybody who could be told.
  }
  await session.end();
  connection.close();
}

class Session {
  readonly #connection: Client;
  readonly #options: ServeOptions;
  readonly #over = new AbortController();
  /** What an `unwatch` ends. */
  readonly #streams = new Map<number, AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();
  #isTrusted: boolean;
  #peer: Peer;

  constructor(connection: Client, options: ServeOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#isTrusted = options.isTrusted;
    this.#peer = this.#peerWith(new Set());
  }

  /** Whom it speaks for is known once it is trusted. */
  #peerWith(capabilities: Peer['capabilities']): Peer {
    const { name, isNear, isLimited } = this.#options;
    return { name, capabilities, ...(isNear && { isNear }), ...(isLimited?.() && { isLimited: true }) };
  }

  async take(message: ClientMessage): Promise<void> {
    const { requestId } = message;
    const { case: name = '', value } = message.message ?? {};
    if (message.message?.case === 'hello') {
      const refusal = await this.#greet(message.message.value);
      if (refusal !== undefined) return this.reply(requestId, refusal);
    } else if (!this.#isTrusted && name !== 'ping') {
      const text = 'This connection has not said who it is: send a Hello with the token first.';
      return this.reply(requestId, { case: 'error', value: { code: 401, message: text } });
    }
    if (this.#tasks.size >= MAX_PENDING) {
      const text = `${MAX_PENDING} requests of this connection are unanswered: wait for one.`;
      return this.reply(requestId, { case: 'error', value: { code: 429, message: text } });
    }
    if (name === 'unwatch') this.#streams.get((value as { readonly watchId: number }).watchId)?.abort();
    if (requestId !== 0 || message.message === undefined || AT_ONCE.has(message.message.case))
      this.#run(message);
    else this.#last = this.#run(message, this.#last);
  }

  /** The answer to a Hello that is refused. */
  async #greet(
    hello: (ClientMessageCase & { readonly case: 'hello' })['value'],
  ): Promise<ServerMessageCase | undefined> {
    if (!this.#isTrusted) {
      this.#isTrusted = hello.token !== undefined && (await this.#options.authenticate(hello.token));
      if (!this.#isTrusted)
        return { case: 'error', value: { code: 401, message: 'The token is not the right one.' } };
    }
    if (hello.version !== VERSION) {
      const message = `This is version ${VERSION} of the protocol, and the client speaks ${hello.version}.`;
      return { case: 'error', value: { code: 426, message } };
    }
    this.#peer = this.#peerWith(new Set(hello.capabilities));
    return undefined;
  }

  #run(message: ClientMessage, before?: Promise<void>): Promise<void> {
    const task = this.#answer(message, before).catch(() => {});
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  async #answer(message: ClientMessage, before: Promise<void> | undefined): Promise<void> {
    await before;
    const { requestId } = message;
    const stop = new AbortController();
    if (requestId !== 0) this.#streams.set(requestId, stop);
    const signal = AbortSignal.any([stop.signal, this.#over.signal]);
    try {
      for await (const answer of this.#dispatch(message, signal)) await this.reply(requestId, answer);
      await this.#options.answered?.(requestId);
    } finally {
      if (this.#streams.get(requestId) === stop) this.#streams.delete(requestId);
    }
  }

  async *#dispatch(given: ClientMessage, signal: AbortSignal): AsyncGenerator<ServerMessageCase, void> {
    const { server, admit } = this.#options;
    let message = given;
    try {
      if (admit !== undefined && given.message !== undefined)
        message = { ...given, message: admit(given.message) };
    } catch (error) {
      yield { case: 'error', value: errorMessage(error) };
      return;
    }
    yield* dispatch(server, message, { peer: this.#peer, signal });
  }

  reply(requestId: number, message: ServerMessageCase): Promise<void> {
    return this.#connection.send({ requestId, message });
  }

  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#tasks);
  }
}

/** Of the protocol. */
export const VERSION = 2;
