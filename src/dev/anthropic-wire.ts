// Anthropic Messages, streaming (docs.anthropic.com/en/docs/build-with-claude/streaming).

import type { JsonObject } from '../core/schema.ts';
import type { Answer, AnswerCall } from './answer.ts';
import { readAnthropicHistory } from './anthropic-history.ts';
import { serverSentEvent } from './bytes.ts';
import { finding } from './history-check.ts';
import { asText } from './json.ts';
import { signatureOf } from './signature.ts';
import type { Wire, WireError, WireStream } from './wire.ts';

const STOP_REASONS: Readonly<Record<Answer['stop'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  toolUse: 'tool_use',
  refusal: 'refusal',
};

/** The types of docs.anthropic.com/en/api/errors. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const PING = { type: 'ping' };

export const anthropicWire: Wire = {
  name: 'anthropic',
  contentType: 'text/event-stream',
  countsCacheWrites: true,
  refusesToStream: ({ body }) => (body['stream'] === true ? undefined : 'send "stream": true'),

  history({ body }) {
    const history = readAnthropicHistory(body);
    if (asText(body['model']) !== '') return history;
    return { ...history, findings: [finding('model', 'the model is missing'), ...history.findings] };
  },

  render(answer, { model }) {
    const { said, ...rest } = renderAnthropic(answer, model);
    const [start = {}, ...content] = said;
    return { ...rest, said: [start, PING, ...content] };
  },

  frame: (event) => serverSentEvent(event, typeof event === 'string' ? undefined : asText(event['type'])),
  ping: serverSentEvent(PING, 'ping'),
  errorEvent: (type, message) => serverSentEvent({ type: 'error', error: { type, message } }, 'error'),
  errorBody: anthropicErrorBody,
  overflow: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
};

export function anthropicErrorBody(error: WireError): JsonObject {
  const { status, message } = error;
  const { type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error') } = error;
  return { type: 'error', error: { type, message } };
}

/** The events of a message, which the clouds send as well; only Anthropic itself pings. */
export function renderAnthropic(answer: Answer, model: string): WireStream {
  const thinking = answer.thinking.length > 0 ? thinkingBlock(answer.thinking) : [];
  const textIndex = thinking.length > 0 ? 1 : 0;
  const text = answer.text.length > 0 ? textBlock(answer.text, textIndex) : [];
  const firstCall = textIndex + (text.length > 0 ? 1 : 0);
  return {
    said: [messageStart(answer, model), ...thinking, ...text],
    calls: answer.calls.flatMap((call, index) => callBlock(call, firstCall + index)),
    closing: [messageDelta(answer), { type: 'message_stop' }],
  };
}

function messageStart({ turn, usage }: Answer, model: string): JsonObject {
  return {
    type: 'message_start',
    message: {
      id: `msg_fake_${turn}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.input,
        cache_creation_input_tokens: usage.cacheWrite,
        cache_read_input_tokens: usage.cacheRead,
        output_tokens: Math.min(usage.output, 1),
      },
    },
  };
}

function messageDelta({ stop, usage }: Answer): JsonObject {
  return {
    type: 'message_delta',
    delta: { stop_reason: STOP_REASONS[stop], stop_sequence: null },
    usage: { output_tokens: usage.output },
  };
}

function blockStart(index: number, block: JsonObject): JsonObject {
  return { type: 'content_block_start', index, content_block: block };
}

function blockDelta(index: number, delta: JsonObject): JsonObject {
  return { type: 'content_block_delta', index, delta };
}

function blockStop(index: number): JsonObject {
  return { type: 'content_block_stop', index };
}

function thinkingBlock(deltas: readonly string[]): readonly JsonObject[] {
  return [
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
    ...deltas.map((thinking) => blockDelta(0, { type: 'thinking_delta', thinking })),
    blockDelta(0, { type: 'signature_delta', signature: signatureOf(deltas.join('')) }),
    blockStop(0),
  ];
}

function textBlock(deltas: readonly string[], index: number): readonly JsonObject[] {
  return [
    blockStart(index, { type: 'text', text: '' }),
    ...deltas.map((text) => blockDelta(index, { type: 'text_delta', text })),
    blockStop(index),
  ];
}

function callBlock(call: AnswerCall, index: number): readonly JsonObject[] {
  return [
    blockStart(index, { type: 'tool_use', id: call.id, name: call.name, input: {} }),
    ...call.arguments.map((json) => blockDelta(index, { type: 'input_json_delta', partial_json: json })),
    blockStop(index),
  ];
}
