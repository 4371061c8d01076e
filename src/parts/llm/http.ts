// Streaming HTTP/1.1 on Node's own client, which starts in a fraction of the time that `fetch` takes. The
// caller pulls: while it does not, the socket is not read beyond a bound and no clock runs against the provider.

import type { IncomingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { Exchange, StaleConnection } from './exchange.ts';
import { limitsFor } from './limits.ts';
import { isUnknownAuthority } from './network-failure.ts';
import type { Network } from './proxy-route.ts';
import { AGENT, createTransports, type Transport } from './transports.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Buffer[];
}

export interface HttpLimits {
  /** Milliseconds until there is a connection. */
  readonly connectMs: number;
  /** Milliseconds from the last byte of the request that could be sent to the end of the answer's headers. */
  readonly headersMs: number;
  /** Milliseconds between the status line and the first byte of the body. */
  readonly firstByteMs: number;
  /** Milliseconds from one byte to the next. */
  readonly stallMs: number;
  /** Milliseconds from the headers to the first content, whatever else arrives. */
  readonly firstContentMs: number;
  /** Milliseconds from one piece of content to the next. */
  readonly contentMs: number;
  /** Bytes of a whole decoded body. */
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What arrived since the last call, or arrives next; undefined at the end. Rejects with `CrabError`. */
  read(): Promise<readonly Buffer[] | undefined>;
  /** The caller has what it wants. The connection is kept if the rest of the body comes at once. */
  finish(): void;
  /** Closes the connection. Harmless after the end. */
  destroy(): void;
}

export interface Http {
  /** Resolves with the headers. Rejects with `CrabError`; aborting the signal closes the socket at once. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

/** Requests that meet a connection which the server has closed; each is sent again, on another one. */
const MAX_STALE = 3;

const DIRECT: Network = { env: {}, settings: {} };

export function createHttp(limits?: Partial<HttpLimits>, network: Network = DIRECT): Http {
  const transports = createTransports(network);
  const addresses = new WeakMap<URL, RequestOptions>();
  const reached = new Set<string>();
  const usedAt = new WeakMap<Transport, number>();
  // What Node makes of a URL, made once: every request of a conversation goes to the same.
  const addressOf = (url: URL): RequestOptions => {
    const address = addresses.get(url) ?? urlToHttpOptions(url);
    addresses.set(url, address);
    return address;
  };
  async function attempt(request: HttpRequest, bounds: HttpLimits, signal: AbortSignal): Promise<HttpAnswer> {
    const road = transports.to(request.url);
    const transport = road instanceof Promise ? await road : road;
    // Timers stand still while a machine sleeps, and the connections that it kept are dead by then.
    if (Date.now() - (usedAt.get(transport) ?? 0) > AGENT.timeout) closeIdle(transport);
    usedAt.set(transport, Date.now());
    const target = { transport, address: addressOf(request.url), known: reached.has(request.url.host) };
    for (let stale = 0; ; stale++) {
      try {
        return await new Exchange(target, request, bounds, signal).answer;
      } catch (error) {
        if (error instanceof StaleConnection && stale < MAX_STALE) {
          closeIdle(transport);
          continue;
        }
        if (transport.isWide || !isUnknownAuthority(error)) throw error;
        transports.trustSystem();
        return attempt(request, bounds, signal);
      }
    }
  }
  return {
    async send(request, signal) {
      const answer = await attempt(request, { ...limitsFor(request.url), ...limits }, signal);
      reached.add(request.url.host);
      return answer;
    },
  };
}

function closeIdle({ agent }: Transport): void {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
