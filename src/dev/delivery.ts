// How a reply leaves the server: an answer, or one of the faults, decided and rendered completely before
// the first byte is sent, so that a measured client never waits for this server.

import type { JsonObject } from '../core/schema.ts';
import type { Answer } from './answer.ts';
import { bytesOf } from './bytes.ts';
import { garbleEvents } from './garble.ts';
import type { Fault, Reply } from './scenario.ts';
import type { Asked, Wire, WireError, WireStream } from './wire.ts';

export type Headers = Readonly<Record<string, string>>;

export type Delivery =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: Headers;
      readonly body: string | Uint8Array;
    }
  | {
      readonly kind: 'stream';
      readonly headers: Headers;
      /** One write each, `delayMs` apart. */
      readonly writes: readonly Uint8Array[];
      readonly delayMs: number;
      /** A bare `cut` closes the connection; `reset` does so with an error, and `stall` not at all. */
      readonly ending: 'end' | 'cut' | 'reset' | 'stall';
      /** Sent before everything else, again and again. */
      readonly before?: Repeated;
    }
  | { readonly kind: 'reset' };

export interface Repeated {
  readonly bytes: Uint8Array;
  /** Infinity: until the client leaves. */
  readonly times: number;
  readonly everyMs: number;
}

/** What a reply says of its sending. */
export type Pace = Pick<Reply, 'delayMs' | 'drip' | 'headers'>;

const JSON_TYPE = { 'content-type': 'application/json' };

const PAGE =
  '<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

export function errorDelivery(wire: Wire, error: WireError): Delivery {
  return jsonDelivery(error.status, wire.errorBody(error), wire.errorHeaders?.(error));
}

export function jsonDelivery(status: number, body: JsonObject, headers: Headers = {}): Delivery {
  return { kind: 'whole', status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

export async function planDelivery(
  wire: Wire,
  answer: Answer,
  asked: Asked,
  how: { readonly fault: Fault | undefined; readonly pace: Pace },
): Promise<Delivery> {
  const { fault, pace } = how;
  const whole = fault && (await withoutStream(wire, fault));
  if (whole !== undefined) return whole;
  const stream = wire.render(answer, asked);
  const frames = framesOf(wire, stream, fault);
  const delayMs = pace.delayMs ?? 0;
  const headers = {
    'content-type': wire.contentType,
    'cache-control': 'no-cache',
    ...pace.headers,
    ...(fault !== undefined && 'hugeHeader' in fault && { 'x-padding': 'x'.repeat(fault.hugeHeader) }),
  };
  const { most, ending } = extentOf(wire, stream, answer, fault);
  const before = fault && repeatedBefore(wire, fault);
  const writes = writesOf(frames, { delayMs, drip: pace.drip, most });
  return { kind: 'stream', headers, writes, delayMs, ending, ...(before && { before }) };
}

/** The faults that need no answer of the model. */
async function withoutStream(wire: Wire, fault: Fault): Promise<Delivery | undefined> {
  if ('reset' in fault) return { kind: 'reset' };
  if ('overflow' in fault) return errorDelivery(wire, wire.overflow);
  if ('html' in fault) {
    const status = fault.html === true ? 200 : fault.html;
    return { kind: 'whole', status, headers: { 'content-type': 'text/html' }, body: PAGE };
  }
  if ('gzipBomb' in fault) {
    const { gzipBomb } = await import('./gzip-bomb.ts');
    const headers = { 'content-type': wire.contentType, 'content-encoding': 'gzip' };
    return { kind: 'whole', status: 200, headers, body: gzipBomb(fault.gzipBomb) };
  }
  if (!('status' in fault)) return undefined;
  const { status, headers, message = `scripted error ${status}`, body } = fault;
  const error = { status, message };
  const sent = body ?? wire.errorBody(error);
  return {
    kind: 'whole',
    status,
    headers: { ...JSON_TYPE, ...wire.errorHeaders?.(error), ...headers },
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  };
}

function framesOf(
  wire: Wire,
  { said, calls, closing }: WireStream,
  fault: Fault | undefined,
): readonly (string | Uint8Array)[] {
  if (fault !== undefined && 'errorEvent' in fault) {
    const { type, message } = fault.errorEvent;
    return [...said.map(wire.frame), wire.errorEvent(type, message)];
  }
  if (fault !== undefined && 'noStop' in fault) return [...said, ...calls].map(wire.frame);
  const events = [...said, ...calls, ...closing];
  const garbled = fault !== undefined && 'garble' in fault ? garbleEvents(events, fault.garble) : events;
  return garbled.map(wire.frame);
}

/** How much of the stream is sent, and what comes then. */
function extentOf(
  wire: Wire,
  stream: WireStream,
  answer: Answer,
  fault: Fault | undefined,
): { readonly most: number; readonly ending: Extract<Delivery, { kind: 'stream' }>['ending'] } {
  if (fault === undefined) return WHOLE;
  if ('stallAfter' in fault) return { most: fault.stallAfter, ending: 'stall' };
  if ('resetAfter' in fault) return { most: fault.resetAfter, ending: 'reset' };
  if ('pingEveryMs' in fault) return { most: 0, ending: 'stall' };
  if (!('cutAfter' in fault)) return WHOLE;
  const { cutAfter } = fault;
  return {
    most: typeof cutAfter === 'number' ? cutAfter : cutPlace(wire, stream, answer, cutAfter),
    ending: 'cut',
  };
}

const WHOLE = { most: Number.POSITIVE_INFINITY, ending: 'end' } as const;

function cutPlace(wire: Wire, { said, calls, closing }: WireStream, answer: Answer, cut: string): number {
  const sizes = (events: WireStream['said']) => events.map((event) => bytesOf(wire.frame(event)).length);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, size) => total + size, 0);
  const before = sizes(said);
  switch (cut) {
    case 'call': {
      const [opening = 0, firstHalf = 0, secondHalf = 0] = sizes(calls);
      const whole = middleOfArguments(wire, calls, answer);
      return sum(before) + (whole ?? opening + firstHalf + Math.floor(secondHalf / 2));
    }
    case 'event':
      return sum(before) - Math.ceil((before.at(-1) ?? 0) / 2);
    case 'character':
      return afterHalfCharacter(wire, said) ?? Math.floor(sum(before) / 2);
    default:
      return sum([...before, ...sizes(calls), ...sizes(closing).slice(0, -1)]);
  }
}

/** For a call that is one event; undefined when its arguments come in pieces. */
function middleOfArguments(wire: Wire, calls: WireStream['calls'], answer: Answer): number | undefined {
  const json = answer.calls[0]?.arguments.join('') ?? '';
  const [event = ''] = calls;
  const frame = Buffer.from(bytesOf(wire.frame(event)));
  const at = frame.indexOf(json);
  return at < 0 ? undefined : at + Math.floor(Buffer.byteLength(json) / 2);
}

/** One byte into the first character that has several; undefined where there is none, or where they are encoded. */
function afterHalfCharacter(wire: Wire, said: WireStream['said']): number | undefined {
  const bytes = Buffer.concat(said.map((event) => bytesOf(wire.frame(event))));
  const at = bytes.findIndex((byte) => byte >= 0xc2);
  return wire.contentType === 'text/event-stream' && at >= 0 ? at + 1 : undefined;
}

const FLOOD_PIECE_BYTES = 64 * 1024;

function repeatedBefore(wire: Wire, fault: Fault): Repeated | undefined {
  const ping = bytesOf(wire.ping);
  if ('pingEveryMs' in fault) {
    return { bytes: ping, times: Number.POSITIVE_INFINITY, everyMs: fault.pingEveryMs };
  }
  if (!('flood' in fault)) return undefined;
  const inOne = Math.max(1, Math.floor(FLOOD_PIECE_BYTES / ping.length));
  const bytes = Buffer.concat(new Array<Uint8Array>(inOne).fill(ping));
  return { bytes, times: Math.ceil(fault.flood / bytes.length), everyMs: 0 };
}

function writesOf(
  frames: readonly (string | Uint8Array)[],
  {
    delayMs,
    drip,
    most,
  }: { readonly delayMs: number; readonly drip?: number | undefined; readonly most: number },
): readonly Uint8Array[] {
  const writes: Uint8Array[] = [];
  let left = most;
  for (const piece of delayMs > 0 && drip === undefined ? frames.map(bytesOf) : [joined(frames)]) {
    const write = left < piece.length ? piece.subarray(0, left) : piece;
    if (write.length > 0) writes.push(write);
    left -= write.length;
  }
  return drip === undefined ? writes : writes.flatMap((bytes) => slices(bytes, drip));
}

/** Texts are joined as text: twenty thousand events make one string sooner than twenty thousand buffers. */
function joined(frames: readonly (string | Uint8Array)[]): Uint8Array {
  if (frames.every((frame) => typeof frame === 'string')) return bytesOf(frames.join(''));
  return Buffer.concat(frames.map(bytesOf));
}

function slices(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
