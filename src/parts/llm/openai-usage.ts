// What servers of Chat Completions call the tokens of an answer, and its price. Where a name is of one vendor's own, it
// stands with that vendor; all of them are read, since no two mean different things by one name.

import { type TokenCounts, thought } from '../../core/usage.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';

type Count = number | null | undefined;

export interface WireUsage {
  readonly prompt_tokens?: Count;
  readonly completion_tokens?: Count;
  readonly total_tokens?: Count;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: Count;
    /** OpenRouter. */
    readonly cache_write_tokens?: Count;
    /** LiteLLM. */
    readonly cache_creation_tokens?: Count;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: Count } | null;
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: Count;
  /** Moonshot. */
  readonly cached_tokens?: Count;
  /** LiteLLM, in Anthropic's words. */
  readonly cache_read_input_tokens?: Count;
  readonly cache_creation_input_tokens?: Count;
  /** OpenRouter: the account pays the upstream provider itself, and `cost` is only the fee. */
  readonly is_byok?: boolean | null;
  readonly cost_details?: { readonly upstream_inference_cost?: Count } | null;
}

/** The prompt is counted with what was read from a cache and written to it. */
export function countsOf(usage: WireUsage): TokenCounts {
  const prompt = usage.prompt_tokens ?? 0;
  const details = usage.prompt_tokens_details;
  const read =
    details?.cached_tokens ??
    usage.prompt_cache_hit_tokens ??
    usage.cached_tokens ??
    usage.cache_read_input_tokens ??
    0;
  const written =
    details?.cache_write_tokens ?? details?.cache_creation_tokens ?? usage.cache_creation_input_tokens ?? 0;
  const cacheRead = Math.min(read, prompt);
  const cacheWrite = Math.min(written, prompt - cacheRead);
  return {
    input: prompt - cacheRead - cacheWrite,
    output: outputOf(usage, prompt),
    cacheRead,
    cacheWrite,
    ...thought(usage.completion_tokens_details?.reasoning_tokens ?? 0),
  };
}

/** xAI counts reasoning beside the completion and not within it, as its total shows. */
function outputOf(usage: WireUsage, prompt: number): number {
  const completion = usage.completion_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const beside = reasoning > 0 && usage.total_tokens === prompt + completion + reasoning;
  return beside ? completion + reasoning : completion;
}

/** US dollars, where the server says them. */
export function costOf(usage: WireUsage, { costField, costPerUsd = 1 }: OpenAiQuirks): number | undefined {
  if (costField === undefined) return undefined;
  let found: unknown = usage;
  for (const name of costField.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  if (typeof found !== 'number' || !(found >= 0)) return undefined;
  const upstream = usage.is_byok === true ? (usage.cost_details?.upstream_inference_cost ?? 0) : 0;
  return found / costPerUsd + upstream;
}
