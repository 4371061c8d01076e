// Who may become a connection at all, by the head of the request and before a byte of it is anybody's message. A web page
// can make its reader's browser connect here, under any name that leads to this address: so a page's origin must be on the
// list, and the host that the request names must be one of ours. A token in an address would end up in logs and histories.

import type { IncomingHttpHeaders } from 'node:http';

/** The WebSocket subprotocol. */
export const SUBPROTOCOL = 'crab.v2';

export interface HandshakePolicy {
  /** Whether a host, without its port, is a name of this server. */
  isHost(name: string): boolean;
  /** Origins whose pages may connect, such as `https://app.example`. */
  readonly origins: ReadonlySet<string>;
}

export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface Refusal {
  readonly status: number;
  /** One sentence, which names nothing secret. */
  readonly reason: string;
}

/** Of any request. */
export function hostRefusal({ headers }: RequestHead, policy: HandshakePolicy): Refusal | undefined {
  const name = hostName(headers.host ?? '');
  if (name !== undefined && policy.isHost(name)) return undefined;
  return { status: 421, reason: 'This server does not go by that name.' };
}

/** Of a request that would become a WebSocket. */
export function upgradeRefusal(head: RequestHead, policy: HandshakePolicy): Refusal | undefined {
  const { method, url = '', headers } = head;
  const host = hostRefusal(head, policy);
  if (host !== undefined) return host;
  if (method !== 'GET') return { status: 405, reason: 'A connection begins with GET.' };
  if (url.includes('?'))
    return { status: 400, reason: 'An address carries no token: use the Authorization header.' };
  if (url !== '/') return { status: 404, reason: 'The connection is at /.' };
  const { origin } = headers;
  if (origin !== undefined && !policy.origins.has(origin))
    return { status: 403, reason: 'Pages of that origin may not connect; see --origin.' };
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return { status: 426, reason: 'Only WebSocket is spoken here.' };
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  if (!offered.includes(SUBPROTOCOL)) return { status: 400, reason: `Offer the subprotocol ${SUBPROTOCOL}.` };
  return undefined;
}

/** Undefined without the header; an empty token where it holds something else than a bearer's. */
export function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined) return undefined;
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** `localhost` for `LOCALHOST:80`, `::1` for `[::1]:80`; undefined for what is no host. */
export function hostName(host: string): string | undefined {
  const [, name, address] = /^(?:([a-z0-9._-]+)|\[([0-9a-f:.]+)\])(?::\d{1,5})?$/i.exec(host) ?? [];
  return (name ?? address)?.toLowerCase();
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

export function isLoopback(name: string): boolean {
  return LOOPBACK_NAMES.has(name);
}
