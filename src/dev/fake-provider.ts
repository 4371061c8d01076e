// A provider that says what a scenario tells it to, on every wire, to any client: for demos, tests and
// benchmarks without a key. It judges every request by laws 1 and 5 and answers a breach with 400, so that
// a test which forgets to look at `violations` fails all the same.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { CrabError } from '../core/errors.ts';
import type { JsonObject } from '../core/schema.ts';
import type { TokenCounts } from '../core/usage.ts';
import { type Delivery, jsonDelivery } from './delivery.ts';
import type { Finding } from './history-check.ts';
import { type ChooseReply, createRespond } from './respond.ts';
import type { Scenario } from './scenario.ts';
import { type OnWrite, send } from './send.ts';
import type { WireName } from './wire.ts';

export interface FakeProviderOptions {
  readonly scenario: Scenario;
  /** Default: one that is free. */
  readonly port?: number;
  /** What `{{name}}` in the scenario stands for. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Takes the place of the scenario where it has an answer, for tests that decide while they run. */
  readonly choose?: ChooseReply;
  /** Serve over TLS with this certificate and its key, both PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Keep the parsed body of each request. Default: true. */
  readonly keepBodies?: boolean;
  /** Called when the answer is decided, before it is sent. */
  readonly onRequest?: (request: RequestRecord) => void;
  /** Called with each write of a stream but the last; the next one waits for what it returns. */
  readonly onWrite?: OnWrite;
}

/** Times are milliseconds of the machine's monotonic clock, the same in every process. */
export interface RequestRecord {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyBytes: number;
  /** Absent for what is no request to a model, as are the next three. */
  readonly wire?: WireName;
  readonly model?: string;
  /** Which answer of the conversation this is, from 1. */
  readonly turn?: number;
  readonly body?: JsonObject;
  readonly findings: readonly Finding[];
  /** The status that it is answered with; absent when the connection is reset. */
  readonly status?: number;
  /** The tokens of the answer, in the classes that the wire has; absent where none began. */
  readonly charged?: TokenCounts;
  /** When its headers had been read. */
  readonly arrivedMs: number;
  /** When the last byte of the answer was given to the kernel; absent until then, or if it never is. */
  finishedMs?: number;
}

export interface Violation extends Finding {
  readonly wire: WireName;
  /** Index in `requests`. */
  readonly request: number;
}

export interface FakeProvider {
  /** The Anthropic base URL, without a slash at the end. */
  readonly url: string;
  /** The OpenAI base URL. */
  readonly openaiUrl: string;
  readonly port: number;
  readonly requests: readonly RequestRecord[];
  readonly violations: readonly Violation[];
  /** Ends all connections. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Where the requests so far are listed. Asking for it is no request. */
const BILL = '/__fake/requests';

/** Twice what the largest real provider accepts. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Longer than most pauses between two turns, so that clients seldom meet a connection that just closed. */
const KEEP_ALIVE_MS = 60_000;

/** Throws `CrabError` (`usage`) when the port cannot be had. */
export async function startFakeProvider(options: FakeProviderOptions): Promise<FakeProvider> {
  const { scenario, vars = {}, keepBodies = true } = options;
  const respond = createRespond(scenario, vars, options.choose);
  const requests: RequestRecord[] = [];
  const violations: Violation[] = [];

  const exchange = async (request: IncomingMessage, response: ServerResponse) => {
    const arrivedMs = monotonicMs();
    const { method = '', headers } = request;
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const received = await readBody(request);
    if (received === undefined) return;
    if (method === 'GET' && path === BILL) {
      await send(response, jsonDelivery(200, { requests: requests.map(billLine) }));
      return;
    }
    const asked = { method, path, query, headers, body: received.body };
    const { delivery, body, findings = [], ...facts } = await respond(asked);
    const record: RequestRecord = {
      method,
      path,
      headers,
      bodyBytes: received.bytes,
      ...facts,
      body: keepBodies ? body : undefined,
      findings,
      status: statusOf(delivery),
      arrivedMs,
    };
    const { wire } = facts;
    if (wire) violations.push(...findings.map((found) => ({ ...found, wire, request: requests.length })));
    requests.push(record);
    options.onRequest?.(record);
    if (await send(response, delivery, options.onWrite)) record.finishedMs = monotonicMs();
  };

  const answer: RequestListener = (request, response) => {
    exchange(request, response).catch((error) => {
      // A fault of this server must not look like a provider that takes its time.
      response.destroy();
      throw error;
    });
  };

  const server = await serverFor(options.tls, answer);
  const port = await listen(server, options.port ?? 0);
  const url = `${options.tls === undefined ? 'http' : 'https'}://${HOST}:${port}`;
  return { url, openaiUrl: `${url}/v1`, port, requests, violations, close: () => closeServer(server) };
}

async function serverFor(tls: FakeProviderOptions['tls'], exchange: RequestListener): Promise<Server> {
  const settings = { keepAliveTimeout: KEEP_ALIVE_MS };
  if (tls === undefined) return createServer(settings, exchange);
  const https = await import('node:https');
  return https.createServer({ ...settings, ...tls }, exchange);
}

/** What a request cost, for comparing it with what a client believes that it cost. */
function billLine(record: RequestRecord, request: number): JsonObject {
  const { method, path, wire, model, turn, status, charged, findings, finishedMs } = record;
  const whole = finishedMs !== undefined;
  return { request, method, path, wire, model, turn, status, whole, charged, findings };
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function statusOf(delivery: Delivery): number | undefined {
  if (delivery.kind === 'reset') return undefined;
  return delivery.kind === 'whole' ? delivery.status : 200;
}

/** Undefined when the client went away first. What is too large is read to its end and not kept. */
async function readBody(
  request: IncomingMessage,
): Promise<{ readonly bytes: number; readonly body: Uint8Array | undefined } | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return { bytes, body: bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const hint = 'Choose another port, or 0 for one that is free.';
      reject(new CrabError('usage', `cannot listen on ${HOST}:${port}: ${cause.message}`, { cause, hint }));
    });
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
