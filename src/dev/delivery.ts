// How a reply leaves the server: an answer, or one of the faults, decided and rendered completely before
// the first byte is sent, so that a measured client never waits for this server.

import type { JsonObject } from '../core/schema.ts';
import type { Answer } from './answer.ts';
import type { Fault } from './scenario.ts';
import type { Wire, WireError, WireStream } from './wire.ts';

export type Delivery =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | {
      readonly kind: 'stream';
      /** One write each, `delayMs` apart. */
      readonly writes: readonly Uint8Array[];
      readonly delayMs: number;
      readonly ending: 'end' | 'cut' | 'stall';
    }
  | { readonly kind: 'reset' };

const JSON_TYPE = { 'content-type': 'application/json' };

const PAGE =
  '<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';

export function errorDelivery(wire: Wire, error: WireError): Delivery {
  return jsonDelivery(error.status, wire.errorBody(error));
}

export function jsonDelivery(status: number, body: JsonObject): Delivery {
  return { kind: 'whole', status, headers: JSON_TYPE, body: JSON.stringify(body) };
}

export function planDelivery(
  wire: Wire,
  answer: Answer,
  request: JsonObject,
  how: { readonly fault: Fault | undefined; readonly delayMs: number },
): Delivery {
  const { fault, delayMs } = how;
  const whole = fault && withoutStream(wire, fault);
  if (whole !== undefined) return whole;
  const stream = wire.render(answer, request);
  const events = eventsOf(wire, stream, fault);
  if (fault !== undefined && 'cutAfter' in fault) {
    const bytes = fault.cutAfter === 'call' ? middleOfCall(stream) : fault.cutAfter;
    return { kind: 'stream', writes: writesOf(events, delayMs, bytes), delayMs, ending: 'cut' };
  }
  if (fault !== undefined && 'stallAfter' in fault) {
    return { kind: 'stream', writes: writesOf(events, delayMs, fault.stallAfter), delayMs, ending: 'stall' };
  }
  return { kind: 'stream', writes: writesOf(events, delayMs), delayMs, ending: 'end' };
}

/** The faults that need no answer of the model. */
function withoutStream(wire: Wire, fault: Fault): Delivery | undefined {
  if ('reset' in fault) return { kind: 'reset' };
  if ('overflow' in fault) return errorDelivery(wire, wire.overflow);
  if ('html' in fault) {
    return { kind: 'whole', status: 200, headers: { 'content-type': 'text/html' }, body: PAGE };
  }
  if (!('status' in fault)) return undefined;
  const { status, headers, message = `scripted error ${status}`, body } = fault;
  const sent = body ?? wire.errorBody({ status, message });
  return {
    kind: 'whole',
    status,
    headers: { ...JSON_TYPE, ...headers },
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  };
}

function eventsOf(
  wire: Wire,
  { said, calls, closing }: WireStream,
  fault: Fault | undefined,
): readonly string[] {
  if (fault !== undefined && 'errorEvent' in fault) {
    const { type, message } = fault.errorEvent;
    return [...said, wire.errorEvent(type, message)];
  }
  if (fault !== undefined && 'noStop' in fault) return [...said, ...calls];
  return [...said, ...calls, ...closing];
}

/** In the second half of the first call's arguments, in the middle of an event. */
function middleOfCall({ said, calls }: WireStream): number {
  const [opening = '', firstHalf = '', secondHalf = ''] = calls;
  const before = Buffer.byteLength(said.join('') + opening + firstHalf);
  return before + Math.floor(Buffer.byteLength(secondHalf) / 2);
}

function writesOf(events: readonly string[], delayMs: number, most = Infinity): readonly Uint8Array[] {
  const pieces = delayMs > 0 ? events : [events.join('')];
  const writes: Uint8Array[] = [];
  let left = most;
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    const write = left < bytes.length ? bytes.subarray(0, left) : bytes;
    if (write.length > 0) writes.push(write);
    left -= write.length;
  }
  return writes;
}
