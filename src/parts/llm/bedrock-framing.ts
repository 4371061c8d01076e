// The frames of Bedrock's InvokeModelWithResponseStream as the events of the API that it wraps: each `chunk` holds one
// event of Anthropic's in base64. An exception becomes an error event, so that it is read behind all that came before it.

import { exceptionComplaint } from './aws-errors.ts';
import { EventStreamParser, type Frame } from './aws-event-stream.ts';
import type { SseEvent } from './sse.ts';
import type { Framing } from './wire.ts';

export function bedrockFraming(): Framing {
  const parser = new EventStreamParser();
  return {
    push: (reads) => parser.push(reads).map(eventOf),
    end: () => parser.end(),
    get foreign() {
      return parser.foreign;
    },
  };
}

function eventOf({ kind, name, payload }: Frame): SseEvent {
  if (kind !== 'event') {
    const { type, message } = exceptionComplaint(name, payload);
    return { event: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) };
  }
  const { bytes } = JSON.parse(payload) as { readonly bytes?: unknown };
  // Events of other kinds say nothing of the answer.
  if (typeof bytes !== 'string') return { event: name, data: '{}' };
  return { event: name, data: Buffer.from(bytes, 'base64').toString() };
}
