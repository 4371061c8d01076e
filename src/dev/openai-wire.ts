// OpenAI Chat Completions, streaming (platform.openai.com/docs/api-reference/chat/streaming). Thinking has
// no place on this wire; it is sent as `reasoning_content`, as DeepSeek and the local servers do.

import type { JsonObject } from '../core/schema.ts';
import type { Answer, AnswerCall } from './answer.ts';
import { serverSentEvent } from './bytes.ts';
import { isObject } from './json.ts';
import { readOpenaiHistory } from './openai-history.ts';
import type { Wire, WireError } from './wire.ts';

const FINISH_REASONS: Readonly<Record<Answer['stop'], string>> = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool_calls',
  refusal: 'content_filter',
};

const ERRORS: Readonly<Record<number, { readonly type: string; readonly code: string | null }>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
};

/** Fixed, so that a scenario always yields the same bytes. */
const CREATED = 1_700_000_000;

export const openaiWire: Wire = {
  name: 'openai',
  contentType: 'text/event-stream',
  countsCacheWrites: false,
  refusesToStream: ({ body }) => (body['stream'] === true ? undefined : 'send "stream": true'),
  history: ({ body }) => readOpenaiHistory(body),
  variant: wantsUsage,

  render(answer, { model, body }) {
    const chunk = chunkWriter(answer, model);
    const withUsage = wantsUsage(body);
    const choice = (delta: JsonObject, finish: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason: finish }], ...(withUsage && { usage: null }) });
    return {
      said: [
        choice({ role: 'assistant', content: '' }),
        ...answer.thinking.map((text) => choice({ reasoning_content: text })),
        ...answer.text.map((content) => choice({ content })),
      ],
      calls: answer.calls.flatMap((call, index) => callDeltas(call, index).map((delta) => choice(delta))),
      closing: [
        choice({}, FINISH_REASONS[answer.stop]),
        ...(withUsage ? [chunk({ choices: [], usage: usageOf(answer) })] : []),
        '[DONE]',
      ],
    };
  },

  frame: (event) => serverSentEvent(event),
  ping: ': keep-alive\n\n',
  errorEvent: (type, message) => serverSentEvent({ error: { message, type, param: null, code: null } }),

  errorBody: openaiErrorBody,

  overflow: {
    status: 400,
    type: 'context_length_exceeded',
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens.",
  },
};

export function openaiErrorBody({ status, message, type }: WireError): JsonObject {
  const known = ERRORS[status] ?? {
    type: status >= 500 ? 'server_error' : 'invalid_request_error',
    code: null,
  };
  const code = type ?? known.code;
  return { error: { message, type: known.type, param: null, code } };
}

function wantsUsage(body: JsonObject): boolean {
  const options = body['stream_options'];
  return isObject(options) && options['include_usage'] === true;
}

function chunkWriter({ turn }: Answer, model: string): (fields: JsonObject) => JsonObject {
  const start = {
    id: `chatcmpl-fake-${turn}`,
    object: 'chat.completion.chunk',
    created: CREATED,
    model,
  };
  return (fields) => ({ ...start, ...fields });
}

function callDeltas(call: AnswerCall, index: number): readonly JsonObject[] {
  const opening = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  return [
    { tool_calls: [opening] },
    ...call.arguments.map((json) => ({ tool_calls: [{ index, function: { arguments: json } }] })),
  ];
}

/** On this wire, prompt tokens include what came from the cache. */
function usageOf({ usage }: Answer): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}
