// The ways into a daemon: the two sockets of its run folder, and TCP on this machine. However a client comes, it counts
// against the same cap, and is cut off when it does not say who it is or does not read.

import { createServer, type Server as Listener, type Socket } from 'node:net';
import { CrabError } from '../../core/errors.ts';
import { HEADER, MAX_FRAME, sealFrame } from '../../protocol/frames.ts';
import { writeServerMessage } from '../../protocol/messages.ts';
import { serve } from '../../protocol/serve.ts';
import { JSON_CODEC } from './json-messages.ts';
import { type JsonOptions, serveJson } from './json-session.ts';
import type { RunFolder } from './run-folder.ts';
import { serverEnd, socketConnection } from './socket-connection.ts';
import { isToken } from './token.ts';
import { bindUnixSocket, bound } from './unix-socket.ts';

export interface ListenLimits {
  /** Clients of all listeners together. */
  readonly clients: number;
  /** Milliseconds in which a client that is not trusted has to say who it is. */
  readonly greetingMs: number;
  /** Milliseconds that a client may leave unread what was sent to it. */
  readonly stallMs: number;
}

export const LISTEN_LIMITS: ListenLimits = { clients: 256, greetingMs: 10_000, stallMs: 30_000 };

export const DEFAULT_PORT = 6688;

/** Sockets that a supervisor bound and handed over, by their descriptors. */
export interface Inherited {
  readonly socket?: number;
  readonly jsonSocket?: number;
  readonly tcp?: number;
}

export interface ListenOptions extends Pick<JsonOptions, 'server' | 'conversations' | 'declare'> {
  readonly folder: RunFolder;
  readonly uid: number | undefined;
  readonly token: string;
  /** Absent: no TCP. Port 0 is any that is free. */
  readonly tcp?: { readonly host: string; readonly port: number };
  readonly inherited?: Inherited;
  /** As they are at this moment. */
  limits(): ListenLimits;
  log(text: string): void;
}

export interface Listeners {
  /** Clients that are connected. */
  readonly clients: number;
  /** Of TCP. */
  readonly port: number | undefined;
  /** Of TCP, such as `127.0.0.1:6688`. */
  readonly address: string | undefined;
  /** Accepts nobody else. Those who are there stay. */
  stop(): void;
  /** Sends what is on its way and closes every connection. Resolves when all are gone. */
  close(): Promise<void>;
}

/** Bytes of a frame before its client has said who it is. */
const SMALL_FRAME = 64 * 1024;

/** Milliseconds in which a connection that ends may still take what was sent to it. */
const FLUSH_MS = 1000;

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Throws `CrabError daemon-failed`; then nothing listens. */
export async function listen(options: ListenOptions): Promise<Listeners> {
  const doors = new Doors(options);
  try {
    await doors.open();
  } catch (error) {
    doors.stop();
    throw error;
  }
  return doors;
}

class Doors implements Listeners {
  readonly #options: ListenOptions;
  readonly #listeners: Listener[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #served = new Set<Promise<void>>();
  port: number | undefined;
  address: string | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  get clients(): number {
    return this.#sockets.size;
  }

  async open(): Promise<void> {
    const { folder, uid, tcp, inherited = {} } = this.#options;
    const binary = this.#listener((socket, name) => this.#binary(socket, `unix ${name}`, true), refuseBinary);
    if (inherited.socket !== undefined) await bound(binary, { fd: inherited.socket });
    else await bindUnixSocket(binary, folder.socket, uid);
    const json = this.#listener((socket, name) => this.#json(socket, `json ${name}`), refuseJson);
    if (inherited.jsonSocket !== undefined) await bound(json, { fd: inherited.jsonSocket });
    else await bindUnixSocket(json, folder.jsonSocket, uid);
    if (inherited.tcp === undefined && tcp === undefined) return;
    const remote = this.#listener((socket, name) => this.#binary(socket, `tcp ${name}`, false), refuseBinary);
    if (inherited.tcp !== undefined) await bound(remote, { fd: inherited.tcp });
    else if (tcp !== undefined) await bound(remote, loopback(tcp));
    const address = remote.address();
    if (typeof address !== 'object' || address === null) return;
    this.port = address.port;
    this.address = `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
  }

  #listener(
    take: (socket: Socket, name: string) => Promise<void>,
    refuse: (text: string) => Uint8Array,
  ): Listener {
    let count = 0;
    const listener = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => {});
      const { limits, log } = this.#options;
      const { clients } = limits();
      if (this.#sockets.size >= clients) {
        const text = `${clients} clients are connected, as many as there may be.`;
        log(`refused a client: ${text}`);
        socket.end(refuse(text), () => socket.destroy());
        return;
      }
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      const { remoteAddress, remotePort } = socket;
      const served = take(
        socket,
        remoteAddress === undefined ? `#${++count}` : `${remoteAddress}:${remotePort}`,
      );
      this.#served.add(served);
      void served.finally(() => this.#served.delete(served));
    });
    // Such as too many open files: those who are there are not to blame.
    listener.on('error', (error) => this.#options.log(`a listener failed: ${error.message}`));
    this.#listeners.push(listener);
    return listener;
  }

  async #binary(socket: Socket, name: string, isTrusted: boolean): Promise<void> {
    const { server, token, limits, log } = this.#options;
    const { greetingMs, stallMs } = limits();
    let isKnown = isTrusted;
    const timer = isTrusted ? undefined : setTimeout(() => socket.destroy(), greetingMs);
    const connection = serverEnd(socket, {
      stallMs,
      ...(!isTrusted && { maxFrame: () => (isKnown ? MAX_FRAME : SMALL_FRAME) }),
    });
    await serve(connection, {
      server,
      name,
      isTrusted,
      isNear: isTrusted,
      authenticate: async (given) => {
        isKnown = isToken(given, token);
        if (isKnown) clearTimeout(timer);
        else log(`${name} showed a token that is not the right one`);
        return isKnown;
      },
    });
    clearTimeout(timer);
  }

  async #json(socket: Socket, name: string): Promise<void> {
    const { server, conversations, declare, limits } = this.#options;
    const connection = socketConnection(socket, JSON_CODEC, { stallMs: limits().stallMs });
    await serveJson(connection, { server, conversations, declare, name });
  }

  stop(): void {
    for (const listener of this.#listeners) if (listener.listening) listener.close();
  }

  async close(): Promise<void> {
    this.stop();
    for (const socket of this.#sockets) socket.destroySoon();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, FLUSH_MS);
    await Promise.all(this.#served);
    clearTimeout(timer);
  }
}

function loopback(tcp: { readonly host: string; readonly port: number }) {
  if (LOOPBACK.has(tcp.host)) return tcp;
  throw new CrabError(
    'daemon-failed',
    `${tcp.host} is not this machine, and nothing on this way is encrypted.`,
    {
      hint: 'Use 127.0.0.1, or serve other machines with `crab serve`.',
    },
  );
}

function refuseBinary(message: string): Uint8Array {
  const refusal = { requestId: 0, message: { case: 'error', value: { code: 503, message } } } as const;
  return sealFrame(writeServerMessage(refusal, HEADER));
}

function refuseJson(message: string): Uint8Array {
  return sealFrame(JSON_CODEC.write({ type: 'Error', code: 503, message }), JSON_CODEC.order);
}
