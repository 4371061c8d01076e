// Streaming HTTP/1.1 on Node's own client, which starts in a fraction of the time that `fetch` takes. The
// caller pulls: while it does not, the socket is not read beyond a bound and no clock runs against the provider.
// Proxies (HTTP_PROXY, HTTPS_PROXY) are not supported; certificates of one's own come with NODE_EXTRA_CA_CERTS.

import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
} from 'node:http';
import type { RequestOptions } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { CrabError } from '../../core/errors.ts';
import { Answer } from './answer.ts';
import { interrupted, networkFailure } from './failure.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Buffer[];
}

export interface HttpLimits {
  /** Milliseconds until the status line. */
  readonly headersMs: number;
  /** Milliseconds between the status line and the first byte of the body. */
  readonly firstByteMs: number;
  /** Milliseconds from one byte to the next. */
  readonly stallMs: number;
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

export interface Transport {
  readonly options: {
    readonly keepAlive: boolean;
    readonly maxFreeSockets: number;
    readonly timeout: number;
  };
  readonly agent: Agent;
  request(options: RequestOptions): ClientRequest;
}

const AGENT = {
  keepAlive: true,
  /** For each host. */
  maxFreeSockets: 4,
  /** Milliseconds that an idle connection is kept: NATs forget one after some minutes without a word. */
  timeout: 60_000,
};

const PIECE_BYTES = 64 * 1024;

export function createHttp(limits?: Partial<HttpLimits>): Http {
  let plain: Transport | undefined;
  let secure: Promise<Transport> | undefined;
  const transportFor = (url: URL) => {
    if (url.protocol === 'https:') {
      secure ??= import('./https.ts').then(({ secureTransport }) => secureTransport(AGENT));
      return secure;
    }
    plain ??= { options: AGENT, agent: new Agent(AGENT), request: plainRequest };
    return plain;
  };
  const addresses = new WeakMap<URL, RequestOptions>();
  // What Node makes of a URL, made once: every request of a conversation goes to the same.
  const addressOf = (url: URL): RequestOptions => {
    const address = addresses.get(url) ?? urlToHttpOptions(url);
    addresses.set(url, address);
    return address;
  };
  return {
    async send(request, signal) {
      const transport = await transportFor(request.url);
      const target = { transport, address: addressOf(request.url) };
      const bounds = { ...limitsFor(request.url), ...limits };
      try {
        return await exchange(target, request, bounds, signal);
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        return exchange(target, request, bounds, signal);
      }
    },
  };
}

/** A local server may load a model before it answers, and says 200 before it evaluates the prompt. */
function limitsFor(url: URL): HttpLimits {
  const patient = isLoopback(url.hostname);
  return {
    headersMs: patient ? 600_000 : 120_000,
    firstByteMs: patient ? 600_000 : 60_000,
    stallMs: 60_000,
    maxBytes: 64 * 1024 * 1024,
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/** The server had closed a kept connection before the request reached it: nothing was asked, so ask again. */
class StaleConnection extends Error {}

interface Target {
  readonly transport: Transport;
  readonly address: RequestOptions;
}

function exchange(
  { transport, address }: Target,
  spec: HttpRequest,
  limits: HttpLimits,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(interrupted());
    const body = spec.body === undefined ? [] : pieces(spec.body);
    const request = transport.request({
      ...address,
      method: spec.method,
      agent: transport.agent,
      headers: spec.body === undefined ? spec.headers : { ...spec.headers, 'content-length': sizeOf(body) },
    });
    let answer: Answer | undefined;
    const fail = (error: Error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      request.destroy();
      reject(error);
    };
    const abort = () => (answer === undefined ? fail(interrupted()) : answer.abort(interrupted()));
    const timer = setTimeout(() => fail(noHeaders(spec.url, limits.headersMs)), limits.headersMs);
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (answer !== undefined) answer.cut(error);
      else if (request.reusedSocket && isClosed(error)) fail(new StaleConnection());
      else fail(networkFailure(error, spec.url));
    });
    request.once('response', (message: IncomingMessage) => {
      clearTimeout(timer);
      answer = new Answer(message, limits, spec.url.host, () => signal.removeEventListener('abort', abort));
      resolve(answer);
    });
    // A long body takes a while to hand over; the other side may begin with the headers.
    if (body.length > 1) request.flushHeaders();
    for (const piece of body) request.write(piece);
    request.end();
  });
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function noHeaders(url: URL, milliseconds: number): CrabError {
  const text = `${url.host} sent no answer within ${milliseconds / 1000} seconds.`;
  return new CrabError('provider-stalled', text, { retryable: true });
}

function sizeOf(pieces: readonly Buffer[]): number {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  return size;
}

/** Joins small fragments: thousands of writes cost more than copying them once. */
function pieces(fragments: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let from = 0;
  let size = 0;
  for (const [at, fragment] of fragments.entries()) {
    if (size > 0 && size + fragment.length > PIECE_BYTES) {
      joined.push(join(fragments.slice(from, at), size));
      from = at;
      size = 0;
    }
    size += fragment.length;
  }
  if (size > 0) joined.push(join(fragments.slice(from), size));
  return joined;
}

function join(fragments: readonly Buffer[], size: number): Buffer {
  const only = fragments.length === 1 ? fragments[0] : undefined;
  return only ?? Buffer.concat(fragments, size);
}
