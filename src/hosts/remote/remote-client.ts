// A client of a Crab elsewhere, over WebSocket. Where the way there can be read by others it speaks TLS or not at all.

import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { CrabError, messageOf } from '../../core/errors.ts';
import { type Client, connect, type ServerConnection } from '../../protocol/client.ts';
import type { Received } from '../../protocol/connection.ts';
import { RequestFailure } from '../../protocol/failure.ts';
import { MAX_FRAME } from '../../protocol/frames.ts';
import { RpcClientEnd } from '../../protocol/json-rpc-client.ts';
import type { HelloReply, ServerMessage } from '../../protocol/messages.ts';
import { VERSION } from '../../protocol/serve.ts';
import { hostName, isLoopback, SUBPROTOCOL } from './handshake.ts';
import { CLOSE } from './limits.ts';
import { TextQueue } from './text-queue.ts';

/** How the token is shown: before there is a connection, or in the Hello, for whoever cannot set a header. */
export type RemoteAuth =
  | { readonly mode: 'header'; readonly token: string }
  | { readonly mode: 'hello'; readonly token: string }
  | { readonly mode: 'none' };

export interface RemoteClientOptions {
  /** The program and its version, such as `crab/1.0.0`. */
  readonly client: string;
  readonly capabilities?: readonly string[];
  /** Milliseconds until the Hello must have been answered. Default 10 s. */
  readonly timeoutMs?: number;
  /** PEM: an authority that is trusted in place of the system's. */
  readonly ca?: string;
  readonly signal?: AbortSignal;
}

export type ClientErrorCode = 'address' | 'unreachable' | 'timeout' | 'unauthorized' | 'refused' | 'protocol';

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  /** What a server that is there has answered, as of HTTP. */
  readonly status: number | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    { status, ...options }: { readonly cause?: unknown; readonly status?: number | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}

const TIMEOUT_MS = 10_000;
const CLOSE_MS = 1000;
/** Characters of it that are shown. */
const MAX_REFUSAL = 200;
const OPEN = 1;
/** Milliseconds without a word: a server pings every 30 s, so that one which is silent for so long is gone. */
const SILENCE_MS = 75_000;

export class RemoteClient implements AsyncDisposable {
  readonly client: Client;
  readonly server: HelloReply;

  private constructor(client: Client, server: HelloReply) {
    this.client = client;
    this.server = server;
  }

  /** Throws `ClientError`, or the reason of the signal. */
  static async connect(url: string, auth: RemoteAuth, options: RemoteClientOptions): Promise<RemoteClient> {
    const { client: name, capabilities = [] } = options;
    const token = auth.mode === 'hello' && { token: auth.token };
    const hello = { version: VERSION, client: name, capabilities, ...token };
    return opened(url, auth, options, async (connection) => {
      const { client, server } = await connect(connection, hello);
      return new RemoteClient(client, server);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.client.closed;
  }
}

/** A connection to somebody who was not greeted yet. Throws as `RemoteClient.connect` does. */
export function remoteConnection(
  url: string,
  auth: RemoteAuth,
  options: RemoteClientOptions,
): Promise<ServerConnection> {
  return opened(url, auth, options, async (connection) => connection);
}

/** What `use` makes of a new connection, within the time that there is. */
async function opened<Result>(
  url: string,
  auth: RemoteAuth,
  options: RemoteClientOptions,
  use: (connection: ServerConnection) => Promise<Result>,
): Promise<Result> {
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  const bound = AbortSignal.timeout(timeoutMs);
  const socket = dial(checkedAddress(url), auth, options);
  const queue = new TextQueue(socket);
  const stop = () => socket.terminate();
  const stopped = signal === undefined ? bound : AbortSignal.any([bound, signal]);
  stopped.addEventListener('abort', stop, { once: true });
  try {
    stopped.throwIfAborted();
    await isOpen(socket);
    return await use(connectionOf(socket, queue));
  } catch (error) {
    socket.terminate();
    if (signal?.aborted === true) throw signal.reason;
    if (bound.aborted) throw new ClientError('timeout', `${url} did not answer within ${timeoutMs} ms.`);
    throw clientError(url, error);
  } finally {
    stopped.removeEventListener('abort', stop);
  }
}

function checkedAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^wss?:$/.test(url.protocol))
    throw new ClientError('address', `${text} is no address of a WebSocket, such as wss://crab.example.`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new ClientError('address', 'The address of a remote carries no token and no query.');
  if (url.protocol === 'ws:' && !isLoopback(hostName(url.host) ?? ''))
    throw new ClientError('address', `The token would be readable on the way to ${url.host}: use wss.`);
  return url;
}

function dial(url: URL, auth: RemoteAuth, { ca, timeoutMs = TIMEOUT_MS }: RemoteClientOptions): WebSocket {
  return new WebSocket(url.href, [SUBPROTOCOL], {
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
    closeTimeout: CLOSE_MS,
    handshakeTimeout: timeoutMs,
    ...(auth.mode === 'header' && { headers: { authorization: `Bearer ${auth.token}` } }),
    ...(ca !== undefined && { ca }),
  });
}

function isOpen(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed')));
    socket.on('unexpected-response', (_, response) => void refusalOf(response).then(reject, reject));
  });
}

async function refusalOf(response: IncomingMessage): Promise<ClientError> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_REFUSAL) break;
  }
  const { statusCode = 0 } = response;
  const shown = text.length > MAX_REFUSAL ? `${text.slice(0, MAX_REFUSAL).toWellFormed()}…` : text;
  const said = shown.replaceAll(/\s+/g, ' ').trim();
  const code = statusCode === 401 ? 'unauthorized' : 'refused';
  return new ClientError(code, `it said ${statusCode}: ${said}`, { status: statusCode });
}

function clientError(url: string, error: unknown): ClientError {
  const told = `${url} cannot be used: ${messageOf(error)}`;
  if (error instanceof ClientError) return new ClientError(error.code, told, { status: error.status });
  if (error instanceof RequestFailure) {
    const { code: status } = error;
    return new ClientError(status === 401 ? 'unauthorized' : 'refused', told, { cause: error, status });
  }
  return new ClientError(error instanceof CrabError ? 'protocol' : 'unreachable', told, { cause: error });
}

function connectionOf(socket: WebSocket, texts: TextQueue): ServerConnection {
  const end = new RpcClientEnd();
  dropWhenSilent(socket);
  return {
    async send(message) {
      if (socket.readyState === OPEN) socket.send(end.write(message));
    },
    received: read(end, texts),
    close: () => socket.close(CLOSE.leaving),
  };
}

/** A network that went away says so to nobody. */
function dropWhenSilent(socket: WebSocket): void {
  let timer: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.terminate(), SILENCE_MS);
  };
  heard();
  socket.on('message', heard);
  socket.on('ping', heard);
  socket.on('close', () => clearTimeout(timer));
}

async function* read(end: RpcClientEnd, texts: TextQueue): AsyncGenerator<Received<ServerMessage>, void> {
  for await (const text of texts) {
    const received = end.read(text);
    if (received !== undefined) yield received;
  }
}
