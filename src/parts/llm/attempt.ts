// One try of a request: sends it, turns each network read into a batch of chunks, and ends either with the
// answer's last chunk or with the error that kept it from having one.

import type { Credential } from '../../core/credential.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { ModelChunk, ModelRequest } from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';
import { type Provider, protocolFailure, redirectFailure, statusFailure, streamFailure } from './failure.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import { retryAfter } from './retry.ts';
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
      while (out.length === 0 && !this.#over) {
        const reads = await this.#answer.read();
        if (reads === undefined) throw this.#bodyEnded();
        this.#decode(this.#framing.push(reads), out);
      }
    } catch (thrown) {
      this.#failed(asCrabError(thrown), out);
    }
    return out.length === 0 ? undefined : out;
  }

  /** Releases the connection; in the middle of an answer that means to close it. */
  close(): void {
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
  let answer = await http.send(await authorized(request, credential), signal);
  // A token that has run out is renewed once; whether that helped is for the provider to say.
  if (isRefusal(answer.status) && (await credential?.refused(answer.status)) === true) {
    answer.destroy();
    answer = await http.send(await authorized(request, credential), signal);
  }
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

async function authorized(request: HttpRequest, credential: Credential | undefined): Promise<HttpRequest> {
  if (credential === undefined) return request;
  const headers = credential.headers(request);
  return {
    ...request,
    headers: { ...request.headers, ...(headers instanceof Promise ? await headers : headers) },
  };
}

async function refusal({ provider, wire, clock }: Connection, answer: HttpAnswer): Promise<CrabError> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return redirectFailure(provider, status, headers.location);
  const text = await readText(answer, ERROR_BYTES);
  const retryAfterMs = retryAfter(headers, clock.now());
  return statusFailure(provider, status, complaintIn(wire, text), retryAfterMs);
}

function complaintIn(wire: Wire, text: string): Complaint {
  try {
    const said = wire.explain(JSON.parse(text));
    if (said !== undefined) return said;
  } catch {
    // Not JSON: a proxy's page. Its text is all there is to quote.
  }
  return { message: text };
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
