// JSON-RPC with a program that was started. The library keeps requests and answers together and tells the program of
// cancelled ones; bounds, time-outs and what a failure means to the model are said here.

import {
  CancellationTokenSource,
  createMessageConnection,
  type Message,
  type MessageConnection,
  ResponseError,
} from 'vscode-jsonrpc/node';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { Clock, RunningProcess } from '../../core/host.ts';
import { BoundedMessageReader } from './message-reader.ts';

/** Bytes kept of what the program said on its standard error. */
const LAST_WORDS = 2000;

/** Milliseconds from the end of the output to the end of the program. */
const CLOSING_MS = 500;

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface Connection {
  /** Throws `ToolFailure` for an error answer and a time-out, and the signal's reason when it aborts. */
  request(method: string, params: unknown, options: RequestOptions): Promise<unknown>;
  /** Sent in order with everything else; one that cannot be sent shows in what is asked next. */
  notify(method: string, params?: unknown): void;
  onNotification(method: string, listener: (params: unknown) => void): void;
  onRequest(method: string, answer: (params: unknown) => unknown): void;
  /** To be called once, when the listeners are there. */
  listen(): void;
  /** Resolves with the reason when the program has ended or made no sense; its tree is gone by then. */
  readonly closed: Promise<string>;
  /** Why it is closed; undefined while it is open. */
  readonly fault: () => string | undefined;
  close(): Promise<void>;
}

export class ServerTimeout extends ToolFailure {}

/** The program ended, or what it sent could not be read. */
export class ServerGone extends ToolFailure {}

export function connect(child: RunningProcess, name: string, clock: Clock): Connection {
  const rpc = createMessageConnection(new BoundedMessageReader(child.stdout), writerTo(child), {
    error() {},
    warn() {},
    info() {},
    log() {},
  });
  const lastWords = keepTail(child.stderr);
  let fault: string | undefined;
  let ending: Promise<void> | undefined;
  const end = (reason: string): Promise<void> => {
    fault ??= reason;
    rpc.dispose();
    ending ??= child.kill();
    return ending;
  };
  rpc.onError(([error]) => void end(error.message));
  // A program that ends closes its output a moment before: how it ended says more.
  rpc.onClose(() => {
    const over = new AbortController();
    void child.ended.then(() => over.abort());
    clock.sleep(CLOSING_MS, over.signal).then(
      () => end('it closed its standard output'),
      () => {},
    );
  });
  const closed = child.ended.then(async ({ exitCode, signal }) => {
    await end(endOf(exitCode, signal));
    const words = lastWords();
    return words === '' ? `${fault}` : `${fault}; its last words: ${words}`;
  });
  return {
    request: (method, params, options) =>
      request({ rpc, name, clock, closed, fault: () => fault }, method, params, options),
    notify: (method, params) => {
      if (fault === undefined) void send(rpc, method, params).catch(() => {});
    },
    onNotification: (method, listener) => void rpc.onNotification(method, listener),
    onRequest: (method, answer) => void rpc.onRequest(method, answer),
    listen: () => rpc.listen(),
    closed,
    fault: () => fault,
    close: () => end('it was stopped'),
  };
}

interface Asking {
  readonly rpc: MessageConnection;
  readonly name: string;
  readonly clock: Clock;
  readonly closed: Promise<string>;
  fault(): string | undefined;
}

async function request(
  { rpc, name, clock, closed, fault }: Asking,
  method: string,
  params: unknown,
  { signal, timeoutMs }: RequestOptions,
): Promise<unknown> {
  signal.throwIfAborted();
  const source = new CancellationTokenSource();
  const settled = new AbortController();
  const timer = AbortSignal.any([signal, settled.signal]);
  const gone = closed.then((reason) => {
    throw new ServerGone(`The language server ${name} is gone: ${reason}.`);
  });
  const late = clock.sleep(timeoutMs, timer).then(() => {
    throw new ServerTimeout(`The language server ${name} did not answer ${method} in ${timeoutMs} ms.`);
  });
  gone.catch(() => {});
  late.catch(() => {});
  try {
    if (fault() !== undefined) return await gone;
    const answer = sendRequest(rpc, method, params, source).catch((error: unknown) => {
      // What the library says of a connection that ended is less than what is known of the end.
      if (fault() !== undefined) return gone;
      throw error;
    });
    return await Promise.race([answer, late, gone]);
  } catch (error) {
    if (fault() === undefined) source.cancel();
    signal.throwIfAborted();
    if (error instanceof ResponseError)
      throw new ToolFailure(`The language server ${name} refused ${method}: ${error.message}`, {
        cause: error,
      });
    throw error;
  } finally {
    settled.abort();
    source.dispose();
  }
}

function sendRequest(
  rpc: MessageConnection,
  method: string,
  params: unknown,
  { token }: CancellationTokenSource,
): Promise<unknown> {
  return params === undefined ? rpc.sendRequest(method, token) : rpc.sendRequest(method, params, token);
}

function send(rpc: MessageConnection, method: string, params: unknown): Promise<void> {
  return params === undefined ? rpc.sendNotification(method) : rpc.sendNotification(method, params);
}

/** One message after the other: a program that does not read must not be sent half of one, then half of another. */
function writerTo(child: RunningProcess) {
  let last: Promise<void> = Promise.resolve();
  const none = () => ({ dispose() {} });
  return {
    onError: none,
    onClose: none,
    write(message: Message): Promise<void> {
      const body = Buffer.from(JSON.stringify(message));
      const written = last.then(() =>
        child.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body])),
      );
      last = written.catch(() => {});
      return written;
    },
    end: () => child.end(),
    dispose() {},
  };
}

function keepTail(stream: AsyncIterable<Uint8Array>): () => string {
  let tail = Buffer.alloc(0);
  const pull = async () => {
    for await (const bytes of stream) tail = Buffer.concat([tail, bytes]).subarray(-LAST_WORDS);
  };
  pull().catch((error: unknown) => {
    tail = Buffer.from(messageOf(error));
  });
  return () => tail.toString('utf8').trim();
}

function endOf(exitCode: number | null, signal: string | null): string {
  return signal === null ? `it ended with status ${exitCode}` : `it was ended by ${signal}`;
}
