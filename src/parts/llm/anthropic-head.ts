// The head of a request of Anthropic's Messages API: everything but the prompt, the tools and the messages.

import type { Message } from '../../core/message.ts';
import type { Effort, ModelRequest } from '../../core/model.ts';
import { contentBlocks } from './anthropic-content.ts';
import { FILES_BETA } from './anthropic-files.ts';
import type { AnthropicModel } from './anthropic-model.ts';
import { closedSchema } from './anthropic-schema.ts';
import type { AdaptiveThinking } from './provider-row.ts';

/** Tokens for thinking. */
const BUDGETS: Readonly<Record<Exclude<Effort, 'off'>, number>> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  max: 32_768,
};
const LEAST_BUDGET = 1024;

export function requestHead(request: ModelRequest, model: AnthropicModel): object {
  const { maxTokens, thinking, effort } = thinkingOf(request, model);
  const canForce = model.adaptive === undefined || model.adaptive.canStop;
  const format = model.structured ? formatOf(request) : undefined;
  const { envelope } = model;
  const betas = envelope?.betas === 'body' ? betasOf(request, model) : [];
  return {
    ...(envelope === undefined ? { model: request.model } : { anthropic_version: envelope.version }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
    max_tokens: maxTokens,
    ...(envelope?.framing === undefined && { stream: true }),
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    ...(request.fast === true && model.fast !== undefined && { speed: 'fast' }),
    ...(request.toolChoice !== undefined &&
      canForce && { tool_choice: { type: 'tool', name: request.toolChoice } }),
  };
}

/** What the request needs that its API version does not have. */
export function betasOf(request: ModelRequest, model: AnthropicModel): readonly string[] {
  const betas = [...model.betas];
  if (model.files?.used === true) betas.push(FILES_BETA);
  if (model.adaptive?.bound === true) betas.push('thinking-binding-controls-2026-08-01');
  if (request.fast === true && model.fast?.beta !== undefined) betas.push(model.fast.beta);
  return betas;
}

function formatOf({ output }: ModelRequest): object | undefined {
  const schema = output === undefined ? undefined : closedSchema(output.schema);
  return schema && { type: 'json_schema', schema };
}

interface Thinking {
  readonly maxTokens: number;
  readonly thinking?: object;
  readonly effort?: string;
}

/** The API refuses thinking beside a tool that must be called. */
function thinkingOf(request: ModelRequest, model: AnthropicModel): Thinking {
  const maxTokens = Math.min(request.maxTokens, model.maxOutput ?? request.maxTokens);
  const effort = request.toolChoice === undefined ? request.effort : 'off';
  if (model.adaptive !== undefined) return { maxTokens, ...adaptiveThinking(model.adaptive, effort) };
  if (effort === undefined || effort === 'off' || !continuesThinking(request.messages, model)) {
    return { maxTokens };
  }
  const wanted = BUDGETS[effort];
  const room = maxTokens > wanted ? maxTokens : Math.min(maxTokens + wanted, model.maxOutput ?? Infinity);
  const budget = Math.max(LEAST_BUDGET, Math.min(wanted, room - LEAST_BUDGET));
  return {
    maxTokens: Math.max(room, budget + 1),
    thinking: { type: 'enabled', budget_tokens: budget },
  };
}

function adaptiveThinking(family: AdaptiveThinking, effort: Effort | undefined): Omit<Thinking, 'maxTokens'> {
  if (effort === 'off' && family.canStop) return family.byDefault ? { thinking: { type: 'disabled' } } : {};
  if (effort === undefined && !family.byDefault) return {};
  const binding = family.bound && { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  return {
    thinking: { type: 'adaptive', display: 'summarized', ...binding },
    ...(effort !== undefined && { effort: effort === 'off' ? 'low' : effort }),
  };
}

/** With a budget, an assistant turn that results answer must begin with its thinking, or the API refuses. */
function continuesThinking(messages: readonly Message[], model: AnthropicModel): boolean {
  if (messages.at(-1)?.role !== 'toolResult') return true;
  const last = messages.findLast((message) => message.role === 'assistant');
  const first = last === undefined ? undefined : contentBlocks(last, model)[0];
  return first === undefined || first.type === 'thinking' || first.type === 'redacted_thinking';
}
