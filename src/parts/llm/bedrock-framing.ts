// The frames of Bedrock as events. InvokeModelWithResponseStream wraps another API: each of its `chunk`s holds one event of
// that in base64. An exception becomes an error event, so that it is read behind all that came before it.

import { exceptionComplaint } from './aws-errors.ts';
import { EventStreamParser, type Frame } from './aws-event-stream.ts';
import type { SseEvent } from './sse.ts';
import type { Framing } from './wire.ts';

/** Of the API that Bedrock wraps. */
export function bedrockFraming(): Framing {
  return framing(wrappedEvent);
}

/** Of Bedrock's own Converse. */
export function converseFraming(): Framing {
  return framing(({ name, payload }) => ({ event: name, data: payload }));
}

function framing(read: (frame: Frame) => SseEvent): Framing {
  const parser = new EventStreamParser();
  return {
    push: (reads) =>
      parser.push(reads).map((frame) => (frame.kind === 'event' ? read(frame) : errorEvent(frame))),
    end: () => parser.end(),
    get foreign() {
      return parser.foreign;
    },
  };
}

/** In the shape of Anthropic's, which has no other way to say it inside a stream. */
function errorEvent({ name, payload }: Frame): SseEvent {
  const { type, message } = exceptionComplaint(name, payload);
  return { event: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) };
}

function wrappedEvent({ name, payload }: Frame): SseEvent {
  const { bytes } = JSON.parse(payload) as { readonly bytes?: unknown };
  // Events of other kinds say nothing of the answer.
  if (typeof bytes !== 'string') return { event: name, data: '{}' };
  return { event: name, data: Buffer.from(bytes, 'base64').toString() };
}
