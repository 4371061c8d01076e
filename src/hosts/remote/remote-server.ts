// The door for clients elsewhere: WebSocket over HTTP, or over TLS. Every check comes before there is a connection, and
// every connection before there is a handler: the host and the origin of the request, the number of clients, the token.
// On an address that other machines can reach it speaks TLS only, and takes signed tokens only.

import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { RequestFailure } from '../../protocol/failure.ts';
import { MAX_FRAME } from '../../protocol/frames.ts';
import type { ClientMessageCase } from '../../protocol/messages.ts';
import { serve } from '../../protocol/serve.ts';
import type { Server } from '../../protocol/server.ts';
import { Certificate, type CertificateFiles } from './certificate.ts';
import type { Authenticate } from './credentials.ts';
import { admit, type Grant } from './grant.ts';
import {
  bearerToken,
  type HandshakePolicy,
  hostRefusal,
  isLoopback,
  type Refusal,
  SUBPROTOCOL,
  upgradeRefusal,
} from './handshake.ts';
import { CLOSE, LIMITS, type Limits } from './limits.ts';
import { RpcConnection } from './rpc-connection.ts';

export interface RemoteServerOptions {
  readonly server: Server;
  readonly clock: Clock;
  /** An address to listen on; `127.0.0.1` and `::1` are the only ones that need no certificate. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls?: CertificateFiles | undefined;
  readonly authenticate: Authenticate;
  /** Origins whose pages may connect. */
  readonly origins?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** A line about a client, without its token. */
  log(line: string): void;
}

interface Client {
  readonly socket: WebSocket;
  readonly connection: RpcConnection;
  readonly name: string;
  /** Milliseconds that never go back. */
  readonly since: number;
  grant: Grant | undefined;
  hasAnswered: boolean;
}

/** Milliseconds between looks at the files of the certificate and at who has overstayed. */
const TICK = 1000;
const MAX_HEAD = 16 * 1024;
/** Pieces of one message. */
const MAX_FRAGMENTS = 4096;
const CLOSE_MS = 1000;

export class RemoteServer implements AsyncDisposable {
  readonly #options: RemoteServerOptions;
  readonly #limits: Limits;
  readonly #policy: HandshakePolicy;
  readonly #certificate: Certificate | undefined;
  readonly #http: HttpServer | HttpsServer;
  readonly #upgrades: WebSocketServer;
  readonly #clients = new Set<Client>();
  readonly #served = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Requests whose token is being looked at. */
  #arriving = 0;
  #pingedAt: number;
  /** Of the certificate, said once. */
  #complaint = '';

  private constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#certificate = options.tls && new Certificate(options.tls);
    this.#policy = {
      isHost: (name) => isLoopback(name) || this.#certificate?.isFor(name) === true,
      origins: new Set(options.origins),
    };
    this.#pingedAt = options.clock.monotonic();
    this.#upgrades = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MAX_FRAME,
      maxFragments: MAX_FRAGMENTS,
      perMessageDeflate: false,
      closeTimeout: CLOSE_MS,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.#http = this.#listener();
  }

  /** Throws `CrabError` (`usage`, `settings-invalid`, `daemon-failed`). */
  static async listen(options: RemoteServerOptions): Promise<RemoteServer> {
    if (options.tls === undefined && !isLoopback(options.host))
      throw new CrabError('usage', `${options.host} can be reached from elsewhere: that needs TLS.`, {
        hint: 'Give --tls-cert and --tls-key, or listen on 127.0.0.1.',
      });
    const remote = new RemoteServer(options);
    await remote.#listen();
    void remote.#tick();
    return remote;
  }

  #listener(): HttpServer | HttpsServer {
    const { headMs, clients, strangers } = this.#limits;
    const settings = {
      maxHeaderSize: MAX_HEAD,
      headersTimeout: headMs,
      requestTimeout: headMs,
      keepAliveTimeout: 1,
      connectionsCheckingInterval: Math.min(TICK, headMs),
    };
    const http =
      this.#certificate === undefined
        ? createHttpServer(settings)
        : createHttpsServer({
            ...settings,
            ...this.#certificate.pem,
            minVersion: 'TLSv1.2',
            handshakeTimeout: headMs,
          });
    http.maxConnections = clients + strangers;
    http.on('request', (request, response) => {
      const { status, body } = this.#answer(request);
      response.writeHead(status, {
        'content-type': body.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        connection: 'close',
      });
      response.end(request.method === 'HEAD' ? '' : `${body}\n`);
    });
    http.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    http.on('clientError', (_, socket) => socket.destroy());
    http.on('tlsClientError', () => {});
    return http;
  }

  #listen(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#http.once('error', (cause) => {
        const what = errnoOf(cause) === 'EADDRINUSE' ? 'it is in use' : messageOf(cause);
        const hint = 'Choose another address with --host, or another port with --port.';
        const text = `${host}:${port} cannot be listened on: ${what}.`;
        reject(new CrabError('daemon-failed', text, { cause, hint }));
      });
      this.#http.listen({ host, port }, resolve);
    });
  }

  /** `ws://127.0.0.1:4711` */
  get url(): string {
    const { address, port } = this.#http.address() as AddressInfo;
    const host = address.includes(':') ? `[${address}]` : address;
    return `${this.#certificate === undefined ? 'ws' : 'wss'}://${host}:${port}`;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Of a request that does not become a connection. No page may send one that does anything. */
  #answer(request: IncomingMessage): { readonly status: number; readonly body: string } {
    const host = hostRefusal(request, this.#policy);
    if (host !== undefined) return { status: host.status, body: host.reason };
    if (request.url !== '/health') return { status: 404, body: 'Crab speaks WebSocket here, at /.' };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, body: 'Only GET is answered here.' };
    return { status: 200, body: '{"status":"ok"}' };
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { remoteAddress, remotePort } = request.socket;
    const from = `${remoteAddress}:${remotePort}`;
    const refuse = ({ status, reason }: Refusal) => {
      this.#options.log(`${from} refused (${status}): ${reason}`);
      const lines = [`HTTP/1.1 ${status} Refused`, 'Connection: close', 'Content-Type: text/plain'];
      socket.end(`${lines.join('\r\n')}\r\n\r\n${reason}\n`, () => socket.destroy());
    };
    const refusal = upgradeRefusal(request, this.#policy) ?? this.#fullness(request);
    if (refusal !== undefined) return refuse(refusal);
    const token = bearerToken(request.headers);
    let grant: Grant | undefined;
    if (token !== undefined) {
      this.#arriving++;
      grant = await this.#options.authenticate(token).finally(() => this.#arriving--);
      if (grant === undefined) return refuse({ status: 401, reason: 'The token is not good.' });
    }
    if (this.#closing.signal.aborted) return refuse({ status: 503, reason: 'The server is stopping.' });
    this.#upgrades.handleUpgrade(request, socket, head, (client) =>
      this.#welcome(client, socket, from, grant),
    );
  }

  #fullness({ headers }: IncomingMessage): Refusal | undefined {
    const { clients, strangers } = this.#limits;
    if (this.#clients.size + this.#arriving >= clients)
      return { status: 503, reason: `There are ${clients} clients, as many as there may be.` };
    if (bearerToken(headers) !== undefined) return undefined;
    const unknown = [...this.#clients].filter(({ grant }) => grant === undefined).length;
    if (unknown < strangers) return undefined;
    return { status: 503, reason: 'Too many clients have not said yet who they are.' };
  }

  #welcome(socket: WebSocket, raw: Duplex, from: string, grant: Grant | undefined): void {
    const { clock, server, log } = this.#options;
    const connection = new RpcConnection(socket, raw, clock, this.#limits);
    const since = clock.monotonic();
    const client: Client = { socket, connection, name: from, since, grant, hasAnswered: true };
    this.#clients.add(client);
    socket.on('pong', () => {
      client.hasAnswered = true;
    });
    socket.on('close', () => {
      this.#clients.delete(client);
      log(`${from} ${client.grant?.name ?? 'unknown'} gone`);
    });
    if (grant === undefined) this.#watchStranger(client, raw);
    else log(`${from} ${grant.name} connected`);
    const served = serve(connection, {
      server,
      name: `ws ${from}`,
      isTrusted: grant !== undefined,
      authenticate: (token) => this.#introduce(client, token),
      isLimited: () => client.grant?.agents !== undefined,
      admit: (message) => this.#admit(client, message),
      answered: (requestId) => connection.answered(requestId),
    });
    this.#served.add(served);
    void served.finally(() => this.#served.delete(served));
  }

  /** Whoever is not known yet gets little room: a message of theirs may be large, and there may be many of them. */
  #watchStranger(client: Client, raw: Duplex): void {
    let bytes = 0;
    const count = (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (client.grant !== undefined) raw.off('data', count);
      else if (bytes > this.#limits.strangerBytes) client.connection.drop();
    };
    raw.prependListener('data', count);
  }

  async #introduce(client: Client, token: string): Promise<boolean> {
    client.grant = await this.#options.authenticate(token);
    const { log } = this.#options;
    if (client.grant === undefined) log(`${client.name} refused (401): The token is not good.`);
    else log(`${client.name} ${client.grant.name} connected`);
    return client.grant !== undefined;
  }

  #admit({ grant }: Client, message: ClientMessageCase): ClientMessageCase {
    if (grant !== undefined) return admit(grant, message, this.#options.clock.now());
    if (message.case === 'ping') return message;
    throw new RequestFailure(401, 'This connection has not said who it is.');
  }

  async #tick(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await clock.sleep(Math.min(TICK, this.#limits.pingMs), signal).catch(() => {});
      if (signal.aborted) return;
      this.#renewCertificate();
      const now = clock.monotonic();
      const pings = now - this.#pingedAt >= this.#limits.pingMs;
      if (pings) this.#pingedAt = now;
      for (const client of this.#clients) this.#look(client, now, pings);
    }
  }

  #look(client: Client, now: number, pings: boolean): void {
    const { socket, connection } = client;
    const fault = this.#overstay(client, now);
    if (fault !== undefined) socket.close(CLOSE.unknown, fault);
    else if (pings && !client.hasAnswered) connection.drop();
    else if (pings) {
      client.hasAnswered = false;
      socket.ping();
    }
  }

  #overstay({ grant, since }: Client, now: number): string | undefined {
    if (grant === undefined)
      return now - since < this.#limits.strangerMs ? undefined : 'No token came in time.';
    const isOver = grant.expiresAt !== undefined && this.#options.clock.now() >= grant.expiresAt * 1000;
    return isOver ? 'The token has expired.' : undefined;
  }

  #renewCertificate(): void {
    if (this.#certificate === undefined) return;
    const { log } = this.#options;
    try {
      if (!this.#certificate.refresh()) return;
      (this.#http as HttpsServer).setSecureContext({ ...this.#certificate.pem, minVersion: 'TLSv1.2' });
      this.#complaint = '';
      log('The certificate was read again.');
    } catch (error) {
      const complaint = `The certificate stays the one before: ${messageOf(error)}`;
      if (complaint !== this.#complaint) log(complaint);
      this.#complaint = complaint;
    }
  }

  /** Resolves when nobody is connected any more; runs go on. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    const closed = new Promise((resolve) => this.#http.close(resolve));
    for (const { socket } of this.#clients) socket.close(CLOSE.leaving, 'The server is stopping.');
    this.#http.closeAllConnections();
    await Promise.all(this.#served);
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
