// A remote server on this machine, and requests to it that are written byte by byte, so that they can be wrong in any way.

import { randomBytes } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createAuthenticate } from '../../src/hosts/remote/credentials.ts';
import type { Limits } from '../../src/hosts/remote/limits.ts';
import { RemoteServer, type RemoteServerOptions } from '../../src/hosts/remote/remote-server.ts';
import type { Server } from '../../src/protocol/server.ts';
import { realClock } from './tool-context.ts';
import { wireServer } from './wire-server.ts';

/** The owner's. */
export const TOKEN = 'a-token-of-the-owner-that-is-long-enough';

export interface Door extends AsyncDisposable {
  readonly remote: RemoteServer;
  readonly url: string;
  readonly port: number;
  /** Names of the methods that were reached, but for `hello`. */
  readonly reached: readonly string[];
  readonly log: readonly string[];
}

export interface DoorOptions extends Partial<Omit<RemoteServerOptions, 'server' | 'limits'>> {
  readonly methods?: Partial<Server>;
  readonly limits?: Partial<Limits>;
}

export async function openDoor({ methods = {}, ...options }: DoorOptions = {}): Promise<Door> {
  const reached: string[] = [];
  const log: string[] = [];
  const server = new Proxy(wireServer(methods), {
    get(target, name: keyof Server) {
      if (name !== 'hello') reached.push(name);
      return target[name];
    },
  });
  const remote = await RemoteServer.listen({
    server,
    clock: realClock,
    host: '127.0.0.1',
    port: 0,
    authenticate: createAuthenticate({ token: TOKEN, keys: [], now: Date.now }),
    log: (line) => void log.push(line),
    ...options,
  });
  const { url } = remote;
  return {
    remote,
    url,
    port: Number(new URL(url).port),
    reached,
    log,
    [Symbol.asyncDispose]: () => remote.close(),
  };
}

export type Headers = Readonly<Record<string, string | undefined>>;

/** The head of a request that would become a WebSocket; undefined leaves a header out. */
export function upgradeRequest(port: number, headers: Headers = {}, path = '/', method = 'GET'): string {
  const all: Headers = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Protocol': 'crab.v2',
    Authorization: `Bearer ${TOKEN}`,
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

/** The status that a request is answered with; undefined when the connection ends without one. */
export function statusOf(
  port: number,
  request: string,
  tls?: { readonly ca: string },
): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const socket =
    tls === undefined
      ? connectSocket(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', ca: tls.ca, servername: 'localhost' });
  let said = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    said += chunk;
    const status = /^HTTP\/1\.1 (\d+)/.exec(said)?.[1];
    if (status === undefined) return;
    resolve(Number(status));
    socket.destroy();
  });
  socket.on('error', () => {});
  socket.on('close', () => resolve(undefined));
  socket.write(request);
  return promise;
}

/** Until it holds; fails after a bound. */
export async function until(holds: () => boolean, what: string, boundMs = 60_000): Promise<void> {
  const start = performance.now();
  while (!holds()) {
    if (performance.now() - start > boundMs) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
