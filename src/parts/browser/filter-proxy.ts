// The only way out for the browser: a proxy on loopback that has each host judged, and connects to the very address that
// was judged. Whatever a page loads (scripts, redirects, sockets) passes here, so no trick with names gets round it.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import { type AddressInfo, connect, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { NetworkAddress, NetworkGuard } from '../../core/network.ts';

export interface FilterOptions {
  readonly guard: NetworkGuard;
  /** The proxy that the person reaches a host through, if any. */
  upstream(url: URL): Promise<URL | undefined>;
  /** Why a permission rule forbids a URL. */
  denied(url: string): Promise<string | undefined>;
}

export interface FilterProxy {
  readonly port: number;
  /**
   * Why something was refused since the last look; each reason once. Of hosts that no page asked for nothing is said: the
   * browser has wishes of its own.
   */
  takeRefusals(isWanted: (host: string) => boolean): readonly string[];
  /** Ends what is still open to hosts that a rule has come to forbid. Resolves with whether there was any. */
  endForbidden(): Promise<boolean>;
}

/** What is open to hosts, by the URL that was judged; each is taken out when it closes. */
type Open = Map<Duplex, string>;

const MAX_REFUSALS = 20;

/** Open until the signal aborts. */
export async function startFilterProxy(options: FilterOptions, signal: AbortSignal): Promise<FilterProxy> {
  const refusals = new Map<string, string>();
  const sockets = new Set<Duplex>();
  const open: Open = new Map();
  const refused = (error: unknown, host: string) => {
    const reason = messageOf(error);
    if (error instanceof ToolFailure && refusals.size < MAX_REFUSALS) refusals.set(host, reason);
    return reason;
  };
  const server = createServer((incoming, answer) => {
    keep(open, incoming.socket, incoming.url ?? '', answer);
    forward(incoming, answer, options, signal).catch((error: unknown) => {
      const reason = refused(error, hostOf(incoming.url ?? ''));
      if (answer.headersSent) answer.destroy();
      else
        answer.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(`Not loaded: ${reason}`);
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url = '' }: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    keep(open, socket, `https://${url}`, socket);
    tunnel(url, { socket, head }, options, signal).catch((error: unknown) => {
      refused(error, hostOf(`https://${url}`));
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  return {
    port: (server.address() as AddressInfo).port,
    takeRefusals(isWanted) {
      const taken = [...refusals].filter(([host]) => isWanted(host));
      refusals.clear();
      return taken.map(([, reason]) => reason);
    },
    endForbidden: () => endForbidden(open, options.denied),
  };
}

function keep(open: Open, socket: Duplex, url: string, until: Duplex | ServerResponse): void {
  open.set(socket, url);
  until.once('close', () => {
    if (open.get(socket) === url) open.delete(socket);
  });
}

/** A connection is judged when it is made; one that lives long may outlive the rules that allowed it. */
async function endForbidden(open: Open, denied: FilterOptions['denied']): Promise<boolean> {
  const forbidden = new Map<string, boolean>();
  for (const url of new Set(open.values())) forbidden.set(url, (await denied(url)) !== undefined);
  const ended = [...open].filter(([, url]) => forbidden.get(url) === true);
  for (const [socket] of ended) socket.destroy();
  return ended.length > 0;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}

/** Where a URL may be reached. Rejects with `ToolFailure` where it may not. */
async function judged(
  url: string,
  { guard, denied }: FilterOptions,
  signal: AbortSignal,
): Promise<readonly NetworkAddress[]> {
  const addresses = await guard.check(url, signal);
  const why = await denied(url);
  if (why !== undefined) throw new ToolFailure(`${url} was not loaded: ${why}`);
  return addresses;
}

/** A request of plain HTTP, with its whole URL. */
async function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  options: FilterOptions,
  signal: AbortSignal,
): Promise<void> {
  const { upstream } = options;
  const { method, url: target = '' } = incoming;
  const { 'proxy-connection': _, 'proxy-authorization': _login, ...headers } = incoming.headers;
  const addresses = await judged(target, options, signal);
  const url = new URL(target);
  const proxy = await upstream(url);
  const outgoing =
    proxy === undefined
      ? request(url, { method, headers, lookup: pinned(addresses), signal, agent: false })
      : requestTo(proxy, { method, path: target, headers: { ...headers, ...login(proxy) }, signal });
  incoming.pipe(outgoing);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  outgoing.once('error', reject);
  outgoing.once('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
    response.once('error', reject);
    answer.once('close', () => {
      outgoing.destroy();
      resolve();
    });
  });
  return promise;
}

interface Tunnel {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** `HOST:PORT` as a CONNECT request has it. */
async function tunnel(
  authority: string,
  { socket, head }: Tunnel,
  options: FilterOptions,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL(`https://${authority}/`);
  const addresses = await judged(url.href, options, signal);
  const proxy = await options.upstream(url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 443);
  const there =
    proxy === undefined
      ? await connected(connect({ host, port, lookup: pinned(addresses), signal }))
      : await throughProxy(proxy, `${url.hostname}:${port}`, signal);
  there.on('error', () => socket.destroy());
  there.once('close', () => socket.destroy());
  socket.once('close', () => there.destroy());
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) there.write(head);
  socket.pipe(there).pipe(socket);
}

function connected(socket: Socket): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

function throughProxy(proxy: URL, authority: string, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { host: authority, ...login(proxy) };
    const asking = requestTo(proxy, { method: 'CONNECT', path: authority, headers, signal });
    asking.once('error', reject);
    asking.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        new ToolFailure(
          `The proxy ${proxy.host} did not connect to ${authority}: it answered ${statusCode}.`,
        ),
      );
    });
    asking.end();
  });
}

interface Asking {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly signal: AbortSignal;
}

function requestTo(proxy: URL, asking: Asking) {
  const address = { host: proxy.hostname.replace(/^\[|\]$/g, ''), agent: false, ...asking } as const;
  if (proxy.protocol === 'http:') return request({ ...address, port: Number(proxy.port || 80) });
  if (proxy.protocol === 'https:') return secureRequest({ ...address, port: Number(proxy.port || 443) });
  throw new ToolFailure(`The browser cannot use a proxy of the kind ${proxy.protocol}`);
}

function login({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function pinned(addresses: readonly NetworkAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else if (first !== undefined) callback(null, first.address, first.family);
    else callback(new Error('no address was judged'), '', 4);
  };
}
