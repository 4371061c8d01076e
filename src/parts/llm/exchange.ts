// One request on its way: from a socket to the headers of the answer. Whatever goes wrong until then closes the socket
// and is said as one error; from then on the answer watches over itself.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { CrabError } from '../../core/errors.ts';
import { Answer } from './answer.ts';
import { interrupted } from './failure.ts';
import type { HttpLimits, HttpRequest } from './http.ts';
import { networkFailure, proxyRefusal } from './network-failure.ts';
import { Patience } from './patience.ts';
import type { Transport } from './transports.ts';

export interface Target {
  readonly transport: Transport;
  /** What Node makes of the URL. */
  readonly address: RequestOptions;
  /** The host has answered before. */
  readonly known: boolean;
}

/** The server had closed a kept connection before the request reached it: nothing was asked, so ask again. */
export class StaleConnection extends Error {}

const PIECE_BYTES = 64 * 1024;
/** Characters of a proxy's excuse that are read. */
const EXCUSE_LENGTH = 4096;

export class Exchange {
  /** Rejects with `CrabError`, or with `StaleConnection`. */
  readonly answer: Promise<Answer>;
  readonly #target: Target;
  readonly #spec: HttpRequest;
  readonly #limits: HttpLimits;
  readonly #signal: AbortSignal;
  readonly #settle = Promise.withResolvers<Answer>();
  readonly #onAbort = () => this.#abort();
  #request: ClientRequest | undefined;
  #answer: Answer | undefined;
  readonly #patience = new Patience(() => this.#late());
  #isConnected = false;
  /** What a proxy answered to CONNECT. */
  #tunnel: number | undefined;

  constructor(target: Target, spec: HttpRequest, limits: HttpLimits, signal: AbortSignal) {
    this.#target = target;
    this.#spec = spec;
    this.#limits = limits;
    this.#signal = signal;
    this.answer = this.#settle.promise;
    if (signal.aborted) this.#settle.reject(interrupted());
    else this.#begin();
  }

  #begin(): void {
    const { transport, address } = this.#target;
    const { method, headers, body } = this.#spec;
    const parts = body === undefined ? [] : pieces(body);
    const request = transport.request({
      ...address,
      method,
      agent: transport.agent,
      headers: body === undefined ? headers : { ...headers, 'content-length': sizeOf(parts) },
    });
    this.#request = request;
    this.#patience.begin(this.#limits.connectMs);
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#listen(request);
    // A long body takes a while to hand over; the other side may begin with the headers.
    if (parts.length > 1) request.flushHeaders();
    // A slow line is no silence: the wait for the answer begins again with each piece that left.
    const left = () => this.#patience.refresh();
    for (const part of parts) request.write(part, left);
    request.end();
  }

  #listen(request: ClientRequest): void {
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => this.#connected());
      else this.#connected();
    });
    request.once('response', (message) => this.#responded(message));
    // Without a listener the request would end in silence.
    request.once('upgrade', (_message, socket) => {
      socket.destroy();
      const text = `${this.#spec.url.host} switched to another protocol (101), which was not asked for.`;
      this.#fail(new CrabError('provider-protocol', text));
    });
    request.on('error', (error: NodeJS.ErrnoException) => this.#broken(error, request.reusedSocket));
    if (this.#target.transport.proxy !== undefined)
      request.once('proxyConnect', ({ statusCode }: { readonly statusCode?: number }) => {
        this.#tunnel = statusCode;
      });
  }

  #connected(): void {
    if (!this.#patience.hasBegun) return;
    this.#isConnected = true;
    this.#patience.begin(this.#limits.headersMs);
  }

  #responded(message: IncomingMessage): void {
    if (this.#isFromProxy(message)) {
      beginningOf(message).then((body) => this.#refusedByProxy(message.statusCode ?? 0, body));
      return;
    }
    this.#patience.end();
    const released = () => this.#signal.removeEventListener('abort', this.#onAbort);
    this.#answer = new Answer(message, this.#limits, this.#spec.url.host, released);
    this.#settle.resolve(this.#answer);
  }

  /** A tunnel's refusal comes in place of an answer; of plain requests a proxy has one status to itself. */
  #isFromProxy({ statusCode }: IncomingMessage): boolean {
    if (this.#target.transport.proxy === undefined) return false;
    return this.#isTunnelRefused() || statusCode === 407;
  }

  #isTunnelRefused(): boolean {
    return this.#tunnel !== undefined && this.#tunnel !== 200;
  }

  #refusedByProxy(status: number, body: string): void {
    const { proxy } = this.#target.transport;
    if (proxy !== undefined) this.#fail(proxyRefusal(proxy, this.#spec.url, { status, body }));
  }

  #broken(error: NodeJS.ErrnoException, isReused: boolean): void {
    const { transport, known } = this.#target;
    if (this.#answer !== undefined) this.#answer.cut(error);
    else if (isReused && isClosed(error)) this.#fail(new StaleConnection());
    else if (this.#isTunnelRefused()) this.#refusedByProxy(this.#tunnel ?? 0, '');
    else this.#fail(networkFailure(error, { url: this.#spec.url, proxy: transport.proxy, known }));
  }

  #abort(): void {
    if (this.#answer === undefined) this.#fail(interrupted());
    else this.#answer.abort(interrupted());
  }

  #late(): void {
    const { host } = this.#spec.url;
    const { connectMs, headersMs } = this.#limits;
    const there = this.#target.transport.proxy?.shown ?? host;
    const text = this.#isConnected
      ? `${host} sent no answer within ${headersMs / 1000} seconds.`
      : `There was no connection to ${there} within ${connectMs / 1000} seconds.`;
    this.#fail(new CrabError(this.#isConnected ? 'provider-stalled' : 'network', text, { retryable: true }));
  }

  #fail(error: Error): void {
    this.#patience.end();
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#request?.destroy();
    this.#settle.reject(error);
  }
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function beginningOf(message: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    message.setEncoding('utf8');
    message.on('data', (piece: string) => {
      text += piece;
      if (text.length > EXCUSE_LENGTH) message.destroy();
    });
    message.on('error', () => {});
    message.once('close', () => resolve(text));
  });
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
