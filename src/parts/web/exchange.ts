// One request and its answer: bounded in time and in bytes as they are after unpacking, over a connection to an address
// that was judged before. Redirects are for the caller, who has to judge their targets first.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { errnoOf, messageOf, ToolFailure } from '../../core/errors.ts';
import { NETWORK_FAILURES, type NetworkAddress } from '../../core/network.ts';
import type { Road, Roads } from './roads.ts';

export interface WebRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Where the connection may be made to; absent for a host that the person named. */
  readonly addresses?: readonly NetworkAddress[];
}

export interface WebAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** At most `MAX_BODY_BYTES`. */
  readonly body: Buffer;
  /** There was more. */
  readonly isCut: boolean;
}

export const MAX_BODY_BYTES = 5 * 1024 * 1024;

/** Milliseconds for a connection, the headers and the whole body together. */
const EXCHANGE_MS = 30_000;

export interface ExchangeOptions {
  readonly roads: Roads;
  readonly userAgent: string;
  readonly timeoutMs?: number;
}

export type Send = (request: WebRequest, signal: AbortSignal) => Promise<WebAnswer>;

/** Rejects with `ToolFailure`, or with the signal's reason. */
export function createSend({ roads, userAgent, timeoutMs = EXCHANGE_MS }: ExchangeOptions): Send {
  return async (request, signal) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      return await exchange(request, AbortSignal.any([signal, late.signal]), { roads, userAgent });
    } catch (error) {
      signal.throwIfAborted();
      const { host } = request.url;
      if (late.signal.aborted)
        throw new ToolFailure(`${host} had not sent all of its answer after ${timeoutMs / 1000} seconds.`);
      if (error instanceof ToolFailure) throw error;
      throw new ToolFailure(`${host} could not be asked: ${reasonOf(error)}.`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}

type Sending = Pick<ExchangeOptions, 'roads' | 'userAgent'>;

async function exchange(request: WebRequest, signal: AbortSignal, sending: Sending): Promise<WebAnswer> {
  const road = await sending.roads.to(request.url);
  try {
    return await read(await answerTo(request, signal, { road, userAgent: sending.userAgent }));
  } catch (error) {
    if (road.isWide || !UNKNOWN_AUTHORITY.test(errnoOf(error) ?? '')) throw error;
    sending.roads.trustSystem();
    return exchange(request, signal, sending);
  }
}

const UNKNOWN_AUTHORITY =
  /^(?:UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;

function answerTo(
  { url, method, headers, body, addresses }: WebRequest,
  signal: AbortSignal,
  { road, userAgent }: { readonly road: Road; readonly userAgent: string },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = road.request({
      ...urlToHttpOptions(url),
      method,
      headers: {
        'user-agent': userAgent,
        'accept-encoding': 'gzip, deflate, br',
        // A kept connection would be another host's by the time that its name leads elsewhere.
        connection: 'close',
        ...headers,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      agent: road.agent,
      signal,
      ...(addresses !== undefined && road.proxy === undefined && { lookup: pinned(addresses) }),
    });
    request.once('response', resolve);
    request.once('upgrade', (_message, socket) => {
      socket.destroy();
      reject(new ToolFailure(`${url.host} switched to another protocol, which was not asked for.`));
    });
    request.once('error', reject);
    request.end(body);
  });
}

/** A lookup that only knows what was judged. */
export function pinned(addresses: readonly NetworkAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else if (first !== undefined) callback(null, first.address, first.family);
    else callback(new Error('no address was judged'), '', 4);
  };
}

async function read(message: IncomingMessage): Promise<WebAnswer> {
  const { statusCode: status = 0, headers } = message;
  const pieces: Buffer[] = [];
  let size = 0;
  const body = unpacked(message);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_BODY_BYTES) break;
    }
  } finally {
    body.destroy();
    message.destroy();
  }
  const isCut = size > MAX_BODY_BYTES;
  return { status, headers, body: Buffer.concat(pieces).subarray(0, MAX_BODY_BYTES), isCut };
}

function unpacked(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decoder = decoderFor(encoding);
  if (decoder === undefined) return message;
  message.on('error', (error) => decoder.destroy(error));
  message.on('aborted', () =>
    decoder.destroy(new Error('the connection was closed in the middle of the body')),
  );
  return message.pipe(decoder);
}

function decoderFor(
  encoding: string,
): ReturnType<typeof createUnzip | typeof createBrotliDecompress> | undefined {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  if (encoding === 'br') return createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH });
  if (encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate')
    return createUnzip({ finishFlush: Z_SYNC_FLUSH });
  if (encoding === '' || encoding === 'identity') return undefined;
  throw new ToolFailure(`The answer is packed as ${encoding.slice(0, 40)}, which was not asked for.`);
}

function reasonOf(error: unknown): string {
  const code = errnoOf(error) ?? '';
  // Of several addresses that failed, Node throws an error without a message.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const meaning =
    code === 'HPE_HEADER_OVERFLOW' ? 'its headers are longer than 16 KB' : NETWORK_FAILURES[code];
  const what = meaning ?? (messageOf(error) || messageOf(first)).replace(/\.$/, '');
  return code === '' ? what : `${what} (${code})`;
}
