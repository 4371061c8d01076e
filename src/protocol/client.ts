// The other end: requests and streams over one connection, side by side. Every answer finds its request by the number
// that both carry.

import { CrabError } from '../core/errors.ts';
import type { Connection } from './connection.ts';
import { failureOf, RequestFailure } from './failure.ts';
import { FrameError } from './frames.ts';
import type {
  ClientMessage,
  ClientMessageCase,
  HelloMsg,
  HelloReply,
  ServerMessage,
  ServerMessageCase,
} from './messages.ts';

type Case = ClientMessageCase['case'];
type ReplyCase = ServerMessageCase['case'];
/** What a message of that name holds. */
export type Value<Name extends Case> = (ClientMessageCase & { readonly case: Name })['value'];
export type Reply<Name extends ReplyCase> = (ServerMessageCase & { readonly case: Name })['value'];

export interface Client {
  /** One message, one answer of that kind. Throws `CrabError` or `RequestFailure`. */
  request<Name extends Case, Answer extends ReplyCase>(
    name: Name,
    value: Value<Name>,
    answer: Answer,
  ): Promise<Reply<Answer>>;
  /**
   * One message, many answers. It ends when the connection does, with an error; otherwise whoever reads knows which answer
   * is the last. Leaving it tells the server.
   */
  stream<Name extends Case>(name: Name, value: Value<Name>): AsyncIterable<ServerMessageCase>;
  /** Why there is no more to be heard; undefined while there is. */
  readonly failure: Error | undefined;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Answers that may wait for their reader. Beyond that the stream ends with an error: it can be watched again from there. */
const MAX_WAITING = 65_536;

export type ServerConnection = Connection<ClientMessage, ServerMessage>;

/** Says hello and is answered, or throws why not: `CrabError` `daemon-failed`, or `RequestFailure`. */
export async function connect(
  connection: ServerConnection,
  hello: HelloMsg,
): Promise<{ readonly client: Client; readonly server: HelloReply }> {
  const client = createClient(connection);
  try {
    return { client, server: await client.request('hello', hello, 'hello') };
  } catch (error) {
    client.close();
    throw error;
  }
}

interface Waiting {
  readonly answers: ServerMessageCase[];
  failure: Error | undefined;
  wake: () => void;
}

export function createClient(connection: ServerConnection): Client {
  const waiting = new Map<number, Waiting>();
  let count = 0;
  let failure: Error | undefined;

  function fail(reason: Error): void {
    failure ??= reason;
    for (const one of waiting.values()) {
      one.failure ??= failure;
      one.wake();
    }
    connection.close();
  }

  function take({ requestId, message }: ServerMessage): void {
    const one = waiting.get(requestId);
    // Nobody asked under that number any more; an error without one is about the connection.
    if (one === undefined) {
      if (requestId === 0 && message?.case === 'error') fail(failureOf(message.value));
      return;
    }
    if (message === undefined)
      one.failure = new RequestFailure(500, 'The answer is empty, or of a later version.');
    else if (one.answers.length >= MAX_WAITING)
      one.failure = new RequestFailure(429, 'Too many answers wait to be read.');
    else one.answers.push(message);
    one.wake();
  }

  async function read(): Promise<void> {
    for await (const received of connection.received) {
      if (received.kind === 'message') take(received.message);
      else fail(new CrabError('daemon-failed', `The daemon’s answer was not understood: ${received.reason}`));
    }
    fail(new CrabError('daemon-failed', 'The connection to the daemon was closed.'));
  }

  /** What is too large to be sent fails by itself; the connection goes on. */
  async function sent(message: ClientMessage): Promise<void> {
    try {
      await connection.send(message);
    } catch (error) {
      throw error instanceof FrameError ? new RequestFailure(413, error.message) : error;
    }
  }

  async function* ask(message: ClientMessageCase): AsyncGenerator<ServerMessageCase, void> {
    if (failure !== undefined) throw failure;
    const requestId = ++count;
    const one: Waiting = { answers: [], failure: undefined, wake: () => {} };
    waiting.set(requestId, one);
    let isOver = false;
    try {
      await sent({ requestId, message });
      for (let at = 0; ; ) {
        const next = one.answers[at];
        if (next !== undefined) {
          at++;
          if (at === one.answers.length) {
            one.answers.length = 0;
            at = 0;
          }
          isOver = next.case === 'error';
          if (next.case === 'error') throw failureOf(next.value);
          yield next;
        } else if (one.failure !== undefined) throw one.failure;
        else
          await new Promise<void>((resolve) => {
            one.wake = resolve;
          });
      }
    } finally {
      waiting.delete(requestId);
      if (!isOver && failure === undefined && isStream(message.case))
        await connection.send({ requestId: 0, message: { case: 'unwatch', value: { watchId: requestId } } });
    }
  }

  const closed = read().catch((error: unknown) =>
    fail(error instanceof Error ? error : new Error(String(error))),
  );
  return {
    async request(name, value, answer) {
      for await (const reply of ask({ case: name, value } as ClientMessageCase)) {
        if (reply.case !== answer)
          throw new RequestFailure(500, `${name} was answered with ${reply.case}, and not with ${answer}.`);
        return reply.value as Reply<typeof answer>;
      }
      throw new RequestFailure(500, `${name} was not answered.`);
    },
    stream: (name, value) => ask({ case: name, value } as ClientMessageCase),
    get failure() {
      return failure;
    },
    closed,
    close: () => fail(new CrabError('daemon-failed', 'The connection was closed here.')),
  };
}

/** Of these the server goes on answering until it is told to stop. */
function isStream(name: Case): boolean {
  return name === 'stream' || name === 'prompt' || name === 'watch' || name === 'subscribeEvents';
}
