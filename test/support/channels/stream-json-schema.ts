// What readers of Claude Code's `stream-json` index without asking: the fields that the Python SDK's
// `parse_message` takes with `[...]`, and those that the TypeScript SDK declares as present. Stricter than
// either: a `type` that they do not know is refused.

const text = { type: 'string' };
const count = { type: 'number', minimum: 0 };
const session = { session_id: text, uuid: text };
const parent = { parent_tool_use_id: { type: ['string', 'null'] } };

function object(properties: Record<string, unknown>, optional: Record<string, unknown> = {}): object {
  return { type: 'object', properties: { ...properties, ...optional }, required: Object.keys(properties) };
}

const usage = object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});

const assistantBlock = {
  oneOf: [
    object({ type: { const: 'text' }, text }),
    object({ type: { const: 'thinking' }, thinking: text, signature: text }),
    object({ type: { const: 'redacted_thinking' }, data: text }),
    object({ type: { const: 'tool_use' }, id: text, name: text, input: { type: 'object' } }),
  ],
};

const userBlock = {
  oneOf: [
    object({ type: { const: 'text' }, text }),
    object({
      type: { const: 'image' },
      source: object({ type: { const: 'base64' }, media_type: text, data: text }),
    }),
    object({
      type: { const: 'tool_result' },
      tool_use_id: text,
      content: { type: ['string', 'array'] },
      is_error: { type: 'boolean' },
    }),
  ],
};

const message = object({
  id: text,
  type: { const: 'message' },
  role: { const: 'assistant' },
  model: text,
  content: { type: 'array', items: assistantBlock },
  stop_reason: { enum: ['end_turn', 'max_tokens', 'tool_use', 'stop_sequence', 'refusal', null] },
  usage,
});

const delta = {
  oneOf: [
    object({ type: { const: 'text_delta' }, text }),
    object({ type: { const: 'thinking_delta' }, thinking: text }),
    object({ type: { const: 'input_json_delta' }, partial_json: text }),
  ],
};

const apiEvent = {
  oneOf: [
    object({ type: { const: 'message_start' }, message }),
    object({ type: { const: 'content_block_start' }, index: count, content_block: assistantBlock }),
    object({ type: { const: 'content_block_delta' }, index: count, delta }),
    object({ type: { const: 'content_block_stop' }, index: count }),
    object({ type: { const: 'message_delta' }, delta: object({ stop_reason: {} }), usage }),
    object({ type: { const: 'message_stop' } }),
  ],
};

const init = object({
  type: { const: 'system' },
  subtype: { const: 'init' },
  cwd: text,
  model: text,
  tools: { type: 'array', items: text },
  mcp_servers: { type: 'array' },
  slash_commands: { type: 'array', items: text },
  permissionMode: text,
  apiKeySource: text,
  output_style: text,
  ...session,
});

const retry = object({
  type: { const: 'system' },
  subtype: { const: 'api_retry' },
  attempt: count,
  max_retries: count,
  retry_delay_ms: count,
  error_status: { type: ['number', 'null'] },
  error: text,
  ...session,
});

const otherSystem = object({
  type: { const: 'system' },
  subtype: { type: 'string', not: { enum: ['init', 'api_retry'] } },
  ...session,
});

const result = object(
  {
    type: { const: 'result' },
    subtype: {
      enum: [
        'success',
        'error_during_execution',
        'error_max_turns',
        'error_max_budget_usd',
        'error_max_structured_output_retries',
      ],
    },
    is_error: { type: 'boolean' },
    duration_ms: count,
    duration_api_ms: count,
    num_turns: count,
    result: text,
    total_cost_usd: count,
    usage,
    modelUsage: { type: 'object' },
    permission_denials: {
      type: 'array',
      items: object({ tool_name: text, tool_use_id: text, tool_input: { type: 'object' } }),
    },
    ...session,
  },
  { errors: { type: 'array', items: text } },
);

export const STREAM_JSON_LINE = {
  oneOf: [
    init,
    retry,
    otherSystem,
    object({ type: { const: 'assistant' }, message, ...parent, ...session }),
    object({
      type: { const: 'user' },
      message: object({
        role: { const: 'user' },
        content: { oneOf: [text, { type: 'array', items: userBlock }] },
      }),
      ...parent,
      ...session,
    }),
    object({ type: { const: 'stream_event' }, event: apiEvent, ...parent, ...session }),
    result,
  ],
};
