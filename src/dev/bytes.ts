// From text to what goes over the line. JSON cannot hold a byte that is no UTF-8, so a character of the private use
// area stands for such bytes until the very end.

import type { WireEvent } from './wire.ts';

/** Becomes bytes that are no UTF-8. */
export const BROKEN_TEXT = '\u{F8FE}';

const MARK = Buffer.from(BROKEN_TEXT);
/** A byte that never occurs, a continuation without a beginning, and a beginning without a continuation. */
const BROKEN_BYTES = Buffer.from([0xff, 0x80, 0xe2]);

export function bytesOf(piece: string | Uint8Array): Uint8Array {
  if (typeof piece !== 'string') return piece;
  const bytes = Buffer.from(piece);
  if (!piece.includes(BROKEN_TEXT)) return bytes;
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at)) bytes.set(BROKEN_BYTES, at);
  return bytes;
}

export function textOf(event: WireEvent): string {
  return typeof event === 'string' ? event : JSON.stringify(event);
}

/** As the WHATWG describes them (html.spec.whatwg.org/multipage/server-sent-events.html). */
export function serverSentEvent(event: WireEvent, name?: string): string {
  const data = `data: ${textOf(event)}\n\n`;
  return name === undefined ? data : `event: ${name}\n${data}`;
}
