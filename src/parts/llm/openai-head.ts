// The fields of a Chat Completions request beside its messages and tools: all of what a quirk can change in them.

import type { Effort, ModelRequest } from '../../core/model.ts';
import type { JsonObject, JsonSchema } from '../../core/schema.ts';
import type { OpenAiModel } from './openai-message.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';

export function requestHead(request: ModelRequest, { quirks, maxOutput }: OpenAiModel): JsonObject {
  const field = quirks.maxTokensField ?? 'max_tokens';
  const { conversation } = request;
  return {
    model: request.model,
    ...(field !== 'none' && { [field]: Math.min(request.maxTokens, maxOutput ?? request.maxTokens) }),
    stream: true,
    ...(quirks.streamUsage !== false && { stream_options: { include_usage: true } }),
    ...(quirks.refuseStore === true && { store: false }),
    ...effortFields(request, quirks),
    ...toolFields(request, quirks),
    ...outputFields(request, quirks),
    ...(request.fast === true && quirks.fastTier !== undefined && { service_tier: quirks.fastTier }),
    ...(quirks.cacheField !== undefined &&
      conversation !== undefined && { [quirks.cacheField]: conversation }),
  };
}

function toolFields({ tools, toolChoice }: ModelRequest, quirks: OpenAiQuirks): JsonObject {
  if (tools.length === 0 || quirks.tools === false) return {};
  const { parallelCalls, toolChoice: how = 'named' } = quirks;
  const named = { type: 'function', function: { name: toolChoice } };
  return {
    ...(toolChoice !== undefined &&
      how !== 'none' && { tool_choice: how === 'required' ? 'required' : named }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
  };
}

function effortFields(request: ModelRequest, quirks: OpenAiQuirks): JsonObject {
  const { effort } = withoutThinking(request, quirks) ? ({ effort: 'off' } as const) : request;
  const field = quirks.effortField ?? 'reasoning_effort';
  const name = field === 'none' ? '' : effortName(effort, request.tools.length > 0, quirks);
  return {
    ...(effort !== undefined && switchFields(effort !== 'off', quirks)),
    ...(name !== '' && (field === 'reasoning' ? { reasoning: { effort: name } } : { [field]: name })),
  };
}

/** A tool is demanded of a model that can be made to call one only while it does not think. */
function withoutThinking({ toolChoice }: ModelRequest, quirks: OpenAiQuirks): boolean {
  return toolChoice !== undefined && quirks.toolChoice === 'unthinking';
}

function switchFields(on: boolean, { thinkingSwitch = 'none' }: OpenAiQuirks): JsonObject {
  switch (thinkingSwitch) {
    case 'none':
      return {};
    case 'thinking':
      return { thinking: { type: on ? 'enabled' : 'disabled' } };
    case 'enable_thinking':
      return { enable_thinking: on };
    // Templates of Qwen and GLM read the one, those of DeepSeek and Kimi the other, and none minds a stranger.
    case 'chat_template_kwargs':
      return { chat_template_kwargs: { enable_thinking: on, thinking: on } };
  }
}

function effortName(effort: Effort | undefined, tools: boolean, quirks: OpenAiQuirks): string {
  if (tools && quirks.effortWithTools !== undefined) return quirks.effortWithTools;
  return effort === undefined ? '' : (quirks.efforts?.[effort] ?? COMMON_EFFORTS[effort]);
}

/** What every server with efforts understands; there is no common word for none at all. */
const COMMON_EFFORTS: Readonly<Record<Effort, string>> = {
  off: '',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

function outputFields({ output }: ModelRequest, { responseFormat }: OpenAiQuirks): JsonObject {
  if (output === undefined || responseFormat === 'none') return {};
  if (responseFormat === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = output;
  return {
    response_format: { type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } },
  };
}

/**
 * Whether a schema keeps the rules of strict mode (platform.openai.com/docs/guides/structured-outputs): every object
 * closed, every property required. One that does not is refused when strictness is asked for.
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties = {}, required = [], additionalProperties } = schema as JsonSchema;
  const closed =
    (type !== 'object' && !(Array.isArray(type) && type.includes('object'))) ||
    (additionalProperties === false &&
      Array.isArray(required) &&
      Object.keys(properties as object).every((name) => required.includes(name)));
  return closed && Object.values(schema).every(isStrict);
}
