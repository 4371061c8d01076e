// What stands between Crab and a provider in a test, on loopback: a TLS front, a relay on another address, an HTTP
// proxy and a SOCKS proxy. A proxy leads every host to one port of this machine, because loopback itself is never proxied.

import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly accepted: number;
}

/** Carries bytes from another address of this machine to a port of 127.0.0.1. */
export async function relay(port: number, host: string): Promise<Relay> {
  return listening(
    createServer((socket) => join(socket, connect(port, '127.0.0.1'))),
    host,
  );
}

/** Speaks TLS in front of a port that does not. */
export async function tlsFront(port: number, options: TlsOptions): Promise<Relay> {
  const server = createTlsServer(options, (socket) => join(socket, connect(port, '127.0.0.1')));
  // What is wrong with a handshake is for the client to say.
  server.on('tlsClientError', () => {});
  return listening(server);
}

export interface ProxyOptions {
  /** The port of 127.0.0.1 that every host is taken for. */
  readonly to: number;
  /** `NAME:PASSWORD` that it asks for. */
  readonly login?: string;
  /** Answers every request with this, and connects nobody. */
  readonly refusal?: { readonly status: number; readonly body: string };
  /** Speaks TLS itself. */
  readonly tls?: TlsOptions;
}

export interface ProxyFixture extends Relay {
  /** `CONNECT api.example:443`, `POST http://api.example/v1/messages`, `SOCKS5 api.example:443`. */
  readonly seen: readonly string[];
}

export async function httpProxy({ to, login, refusal, tls }: ProxyOptions): Promise<ProxyFixture> {
  const seen: string[] = [];
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const refusalOf = (given: string | undefined) =>
    wanted === undefined || given === wanted ? refusal : { status: 407, body: '' };
  const plain: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const no = refusalOf(request.headers['proxy-authorization']);
    if (no !== undefined) {
      response.writeHead(no.status).end(no.body);
      return;
    }
    const { pathname, search } = new URL(request.url ?? '');
    const { method = 'GET', headers } = request;
    const onward = httpRequest({ port: to, path: pathname + search, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
  const server = tls === undefined ? createHttpServer(plain) : createHttpsServer(tls, plain);
  server.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    const no = refusalOf(request.headers['proxy-authorization']);
    if (no !== undefined) {
      const head = `HTTP/1.1 ${no.status} No\r\ncontent-length: ${no.body.length}\r\n\r\n`;
      socket.end(head + no.body);
      return;
    }
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    join(socket, connect(to, '127.0.0.1'));
  });
  return Object.assign(await listening(server), { seen });
}

/** SOCKS 5 (RFC 1928, 1929) and 4a, as much of them as a client needs. */
export async function socksProxy({ to, login }: Pick<ProxyOptions, 'to' | 'login'>): Promise<ProxyFixture> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    greet(socket, seen, to, login).catch(() => socket.destroy());
  });
  return Object.assign(await listening(server), { seen });
}

async function greet(socket: Socket, seen: string[], to: number, login: string | undefined): Promise<void> {
  const first = await next(socket);
  if (first[0] === 4) {
    const [, name = ''] = first.subarray(8).toString().split('\0');
    seen.push(`SOCKS4 ${name || first.subarray(4, 8).join('.')}:${first.readUInt16BE(2)}`);
    socket.write(Buffer.from([0, 90, 0, 0, 0, 0, 0, 0]));
  } else {
    if (login !== undefined && !(await isLetIn(socket, login))) return;
    if (login === undefined) socket.write(Buffer.from([5, 0]));
    const wish = await next(socket);
    const end = wish.length - 2;
    const host = wish[3] === 3 ? wish.toString('latin1', 5, end) : wish.subarray(4, end).join('.');
    seen.push(`SOCKS5 ${host}:${wish.readUInt16BE(end)}`);
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  }
  join(socket, connect(to, '127.0.0.1'));
}

async function isLetIn(socket: Socket, login: string): Promise<boolean> {
  socket.write(Buffer.from([5, 2]));
  const said = await next(socket);
  const name = said.toString('utf8', 2, 2 + (said[1] ?? 0));
  const right = login === `${name}:${said.toString('utf8', 3 + (said[1] ?? 0))}`;
  socket.write(Buffer.from([1, right ? 0 : 1]));
  if (!right) socket.end();
  return right;
}

/** One message of a client that waits for each answer. */
async function next(socket: Socket): Promise<Buffer> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes;
}

function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

async function listening(server: Server, host = '127.0.0.1'): Promise<Relay> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
