// One try of a request: sends it, turns each network read into a batch of chunks, and ends either with the
// answer's last chunk or with the error that kept it from having one.

import type { Credential } from '../../core/credential.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { ModelChunk, ModelRequest, RateLimit } from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';
import {
  interrupted,
  type Provider,
  protocolFailure,
  redirectFailure,
  statusFailure,
  streamFailure,
} from './failure.ts';
import type { Http, HttpAnswer, HttpLimits, HttpRequest } from './http.ts';
import { Patience } from './patience.ts';
import { rateLimitOf, untilLifted } from './rate-limit.ts';
import { retryAfter, shouldRetry } from './retry.ts';
import { type SseEvent, SseParser } from './sse.ts';
import { type AnswerDecoder, type Complaint, ComplaintError, type Framing, type Wire } from './wire.ts';

/** What it takes to reach a model. */
export interface Connection {
  readonly wire: Wire;
  readonly http: Http;
  /** `url` is the address that requests go to. */
  readonly provider: Provider;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a server that asks for none. */
  readonly credential: Credential | undefined;
  readonly clock: Clock;
  readonly limits: Pick<HttpLimits, 'firstContentMs' | 'contentMs'>;
  /** Called with what the headers of an answer say of limits, if they do. */
  heard(limit: RateLimit): void;
}

/** Bytes of an error body that are read. */
const ERROR_BYTES = 64 * 1024;

export class Attempt {
  /** Set when the attempt ended without the last chunk of an answer. */
  error: CrabError | undefined;
  readonly #connection: Connection;
  readonly #send: () => Promise<HttpAnswer>;
  readonly #decoder: AnswerDecoder;
  readonly #framing: Framing;
  #answer: HttpAnswer | undefined;
  #over = false;
  #isReading = false;
  #hasContent = false;
  readonly #patience = new Patience(() => this.#tooSilent());
  #silent: CrabError | undefined;

  constructor(connection: Connection, request: ModelRequest, body: readonly Buffer[], signal: AbortSignal) {
    this.#connection = connection;
    this.#decoder = connection.wire.decoder(request);
    this.#framing = connection.wire.framing?.() ?? new SseParser();
    const headers = { ...connection.headers, ...connection.wire.headersFor?.(request) };
    this.#send = () =>
      open(connection, { method: 'POST', url: connection.provider.url, headers, body }, signal);
  }

  get tokens(): TokenCounts | undefined {
    return this.#decoder.tokens;
  }

  /** The next batch; undefined when there is none, be it for the end of the answer or for `error`. */
  async next(): Promise<readonly ModelChunk[] | undefined> {
    const out: ModelChunk[] = [];
    try {
      this.#answer ??= await this.#send();
      this.#isReading = true;
      this.#awaitContent();
      while (out.length === 0 && !this.#over) {
        const reads = await this.#answer.read();
        if (reads === undefined) throw this.#bodyEnded();
        this.#decode(this.#framing.push(reads), out);
      }
    } catch (thrown) {
      this.#failed(this.#silent ?? asCrabError(thrown), out);
    }
    this.#isReading = false;
    this.#hasContent = true;
    return out.length === 0 ? undefined : out;
  }

  /** Starts the clock anew. Pings do not: they show that the connection lives, not that an answer comes. */
  #awaitContent(): void {
    this.#patience.begin(this.#patienceMs);
  }

  get #patienceMs(): number {
    const { firstContentMs, contentMs } = this.#connection.limits;
    return this.#hasContent ? contentMs : firstContentMs;
  }

  #tooSilent(): void {
    // Whoever reads is busy with what it has; its next call starts the clock again.
    if (!this.#isReading) return;
    const { host } = this.#connection.provider.url;
    const text = `${host} kept the connection alive, but sent nothing of an answer for ${this.#patienceMs / 1000} seconds.`;
    this.#silent = new CrabError('provider-stalled', text, { retryable: true });
    this.#answer?.destroy();
  }

  /** Releases the connection; in the middle of an answer that means to close it. */
  close(): void {
    this.#patience.end();
    if (this.#over && this.error === undefined) this.#answer?.finish();
    else this.#answer?.destroy();
  }

  #decode(events: readonly SseEvent[], out: ModelChunk[]): void {
    const { provider } = this.#connection;
    const decoder = this.#decoder;
    for (const event of events) {
      try {
        decoder.decode(event, out);
      } catch (thrown) {
        if (thrown instanceof ComplaintError) throw streamFailure(provider, thrown.complaint);
        if (thrown instanceof SyntaxError) {
          throw protocolFailure(provider, 'sent an event that is not valid JSON', event.data);
        }
        // Of a value that is nested too deeply, or of a text that is too long for a string.
        if (thrown instanceof RangeError) {
          throw protocolFailure(provider, 'sent an event that is too large to read', event.data);
        }
        throw thrown;
      }
      if (decoder.progress === 'done') {
        this.#finish(out);
        return;
      }
    }
    const { foreign } = this.#framing;
    if (foreign !== undefined) throw this.#foreignBody(foreign);
  }

  #bodyEnded(): CrabError {
    const foreign = this.#framing.end();
    if (foreign !== undefined) return this.#foreignBody(foreign);
    const { provider } = this.#connection;
    return new CrabError('stream-cut', `${provider.name} ended its answer in the middle.`, {
      retryable: true,
    });
  }

  #foreignBody(head: string): CrabError {
    return protocolFailure(this.#connection.provider, 'did not answer with an event stream', head);
  }

  #failed(error: CrabError, out: ModelChunk[]): void {
    const complete = this.#decoder.progress === 'complete' && error.code !== 'interrupted';
    if (complete) this.#finish(out);
    else this.error = error;
    this.#over = true;
  }

  #finish(out: ModelChunk[]): void {
    this.#over = true;
    this.#decoder.finish(out);
  }
}

/** Sends the request and returns the answer to it; throws for every status but 2xx. */
async function open(connection: Connection, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { http, credential } = connection;
  let answer = await http.send(await authorized(request, credential, signal), signal);
  // A token that has run out is renewed once; whether that helped is for the provider to say.
  const spent = isRefusal(answer.status) && credential !== undefined;
  if (spent && (await until(credential.refused(answer.status), signal))) {
    answer.destroy();
    answer = await http.send(await authorized(request, credential, signal), signal);
  }
  const limit = rateLimitOf(answer.headers, connection.clock.now());
  if (limit !== undefined) connection.heard(limit);
  if (answer.status >= 200 && answer.status < 300) return answer;
  try {
    throw await refusal(connection, answer);
  } finally {
    answer.destroy();
  }
}

/** AWS says 403 of a session that has run out. */
function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

async function authorized(
  request: HttpRequest,
  credential: Credential | undefined,
  signal: AbortSignal,
): Promise<HttpRequest> {
  if (credential === undefined) return request;
  const headers = credential.headers(request);
  return {
    ...request,
    headers: { ...request.headers, ...(headers instanceof Promise ? await until(headers, signal) : headers) },
  };
}

/** What the promise brings, unless the signal aborts first: a helper may ask a person for a password. */
function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(interrupted());
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

async function refusal(connection: Connection, answer: HttpAnswer): Promise<CrabError> {
  const { provider, wire, clock } = connection;
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return redirectFailure(provider, status, headers.location);
  const body = parsed(await readText(answer, ERROR_BYTES));
  const now = clock.now();
  const quoted = rateLimitOf(headersIn(body.value), now);
  if (quoted !== undefined) connection.heard(quoted);
  const liftedMs = status === 429 ? untilLifted(quoted ?? rateLimitOf(headers, now), now) : undefined;
  return statusFailure(provider, status, complaintIn(wire, body.value) ?? { message: body.text }, {
    retryAfterMs: retryAfter(headers, now),
    liftedMs,
    retry: shouldRetry(headers),
  });
}

/** An answer that is no JSON is a proxy's page: its text is all there is to quote. */
function parsed(text: string): { readonly text: string; readonly value?: unknown } {
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return { text };
  }
}

/** A wire knows its vendor's errors; of what stands in between it may know nothing. */
function complaintIn(wire: Wire, body: unknown): Complaint | undefined {
  try {
    return body === undefined ? undefined : wire.explain(body);
  } catch {
    return undefined;
  }
}

/** Headers of a provider behind the provider, as OpenRouter passes them on: `{error: {metadata: {headers}}}`. */
function headersIn(body: unknown): Readonly<Record<string, string>> {
  const { headers } =
    (body as { error?: { metadata?: { headers?: unknown } } } | null)?.error?.metadata ?? {};
  if (typeof headers !== 'object' || headers === null) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

/** The beginning of a body. That of an error is worth having even when the rest of it never comes. */
export async function readText(answer: HttpAnswer, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for (let reads = await answer.read(); reads !== undefined; reads = await answer.read()) {
      for (const chunk of reads) size += chunk.length;
      chunks.push(...reads);
      if (size >= maxBytes) break;
    }
  } catch (thrown) {
    if (thrown instanceof CrabError && thrown.code === 'interrupted') throw thrown;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}
