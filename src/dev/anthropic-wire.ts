// Anthropic Messages, streaming (docs.anthropic.com/en/docs/build-with-claude/streaming).

import type { JsonObject } from '../core/schema.ts';
import type { Answer, AnswerCall } from './answer.ts';
import { readAnthropicHistory } from './anthropic-history.ts';
import { signatureOf } from './signature.ts';
import type { Wire, WireError } from './wire.ts';

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

export const anthropicWire: Wire = {
  name: 'anthropic',
  path: '/v1/messages',
  history: readAnthropicHistory,

  render(answer, body) {
    const thinking = answer.thinking.length > 0 ? thinkingBlock(answer.thinking) : [];
    const textIndex = thinking.length > 0 ? 1 : 0;
    const text = answer.text.length > 0 ? textBlock(answer.text, textIndex) : [];
    const firstCall = textIndex + (text.length > 0 ? 1 : 0);
    return {
      said: [messageStart(answer, body), event({ type: 'ping' }), ...thinking, ...text],
      calls: answer.calls.flatMap((call, index) => callBlock(call, firstCall + index)),
      closing: [messageDelta(answer), event({ type: 'message_stop' })],
    };
  },

  errorEvent(type, message) {
    return event({ type: 'error', error: { type, message } });
  },

  errorBody: ({ status, message, type = ERROR_TYPES[status] ?? 'api_error' }: WireError) => ({
    type: 'error',
    error: { type, message },
  }),

  overflow: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
};

function event(data: JsonObject): string {
  return `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`;
}

function messageStart({ turn, usage }: Answer, body: JsonObject): string {
  return event({
    type: 'message_start',
    message: {
      id: `msg_fake_${turn}`,
      type: 'message',
      role: 'assistant',
      model: body['model'],
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
  });
}

function messageDelta({ stop, usage }: Answer): string {
  return event({
    type: 'message_delta',
    delta: { stop_reason: STOP_REASONS[stop], stop_sequence: null },
    usage: { output_tokens: usage.output },
  });
}

function blockStart(index: number, block: JsonObject): string {
  return event({ type: 'content_block_start', index, content_block: block });
}

function blockDelta(index: number, delta: JsonObject): string {
  return event({ type: 'content_block_delta', index, delta });
}

function blockStop(index: number): string {
  return event({ type: 'content_block_stop', index });
}

function thinkingBlock(deltas: readonly string[]): readonly string[] {
  return [
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
    ...deltas.map((thinking) => blockDelta(0, { type: 'thinking_delta', thinking })),
    blockDelta(0, { type: 'signature_delta', signature: signatureOf(deltas.join('')) }),
    blockStop(0),
  ];
}

function textBlock(deltas: readonly string[], index: number): readonly string[] {
  return [
    blockStart(index, { type: 'text', text: '' }),
    ...deltas.map((text) => blockDelta(index, { type: 'text_delta', text })),
    blockStop(index),
  ];
}

function callBlock(call: AnswerCall, index: number): readonly string[] {
  return [
    blockStart(index, { type: 'tool_use', id: call.id, name: call.name, input: {} }),
    ...call.arguments.map((json) => blockDelta(index, { type: 'input_json_delta', partial_json: json })),
    blockStop(index),
  ];
}
