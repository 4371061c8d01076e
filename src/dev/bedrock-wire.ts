// Anthropic's models on Amazon Bedrock (docs.aws.amazon.com/bedrock, InvokeModelWithResponseStream): Anthropic's
// events as JSON, in base64, each in a frame of the AWS event stream.

import { crc32 } from 'node:zlib';
import type { JsonObject } from '../core/schema.ts';
import { readAnthropicHistory } from './anthropic-history.ts';
import { renderAnthropic } from './anthropic-wire.ts';
import { bytesOf, textOf } from './bytes.ts';
import { extraneous, requireVersion } from './cloud-body.ts';
import { asText } from './json.ts';
import type { Wire, WireError } from './wire.ts';

const VERSION = 'bedrock-2023-05-31';

const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

/** Fixed, so that a scenario always yields the same bytes. */
const LATENCY = { invocationLatency: 100, firstByteLatency: 10 };
/** The type of a header whose value is text. */
const STRING_HEADER = 7;
const JSON_CONTENT = { ':content-type': 'application/json' };

export const bedrockWire: Wire = {
  name: 'bedrock',
  contentType: 'application/vnd.amazon.eventstream',
  countsCacheWrites: true,
  refusesToStream: () => undefined,

  history({ body }) {
    const history = readAnthropicHistory(body);
    const wrong = [...requireVersion(body, VERSION), ...extraneous(body, ['model', 'stream'])];
    return { ...history, findings: [...wrong, ...history.findings] };
  },

  render(answer, { model }) {
    const { said, calls, closing } = renderAnthropic(answer, model);
    const { input, output } = answer.usage;
    const metrics = { inputTokenCount: input, outputTokenCount: output, ...LATENCY };
    const [delta = {}] = closing;
    const stop = { type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics };
    return { said, calls, closing: [delta, stop] };
  },

  frame: (event) => chunk(textOf(event)),
  ping: chunk(JSON.stringify({ type: 'ping' })),
  errorEvent: (type, message) =>
    frame({ ':exception-type': type, ...JSON_CONTENT, ':message-type': 'exception' }, { message }),
  errorBody: ({ message }) => ({ message }),
  errorHeaders: ({ status, type }: WireError) => ({
    'x-amzn-errortype': type ?? EXCEPTIONS[status] ?? 'InternalServerException',
  }),
  overflow: { status: 400, message: 'Input is too long for requested model.' },
};

function chunk(json: string): Buffer {
  const bytes = Buffer.from(bytesOf(json)).toString('base64');
  // The padding hides how long a token is; the service varies it.
  return frame({ ':event-type': 'chunk', ...JSON_CONTENT, ':message-type': 'event' }, { bytes, p: 'abcdef' });
}

/** A message of the event stream encoding (smithy.io/2.0/aws/amazon-eventstream.html). */
function frame(headers: Readonly<Record<string, string>>, payload: JsonObject): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, asText(value))));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, sum]);
}

function header(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  const start = Buffer.from([name.length, ...Buffer.from(name), STRING_HEADER, 0, 0]);
  start.writeUInt16BE(bytes.length, start.length - 2);
  return Buffer.concat([start, bytes]);
}
