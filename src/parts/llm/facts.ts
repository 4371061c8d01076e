// What is known of models: context window, longest output and price, as their vendors list them. A model that
// is not here works all the same: its window is unknown and its cost counts as zero. Prices are those of short
// prompts; the surcharge that some models have beyond 200,000 or 272,000 tokens is not in the table.

import type { Price } from '../../core/usage.ts';

export interface ModelFacts {
  /** Tokens. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  readonly price?: Price;
}

const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** The facts of a model; those of `name` hold for `name-20250929` and `name-latest` too. */
export function factsOf(id: string): ModelFacts {
  const name = id.replace(DATED, '');
  return Object.hasOwn(FACTS, name) ? (FACTS[name] ?? {}) : {};
}

const K = 1000;
const M = 1_000_000;

const FACTS: Readonly<Record<string, ModelFacts>> = {
  'claude-fable-5': facts(M, 128 * K, [10, 50, 1, 12.5]),
  'claude-fable-5-1': { contextWindow: M, maxOutput: 128 * K },
  'claude-opus-5-5': facts(M, 128 * K, [4, 20, 0.2, 5]),
  'claude-opus-5': facts(M, 128 * K, [5, 25, 0.5, 6.25]),
  'claude-opus-4-8': facts(M, 128 * K, [5, 25, 0.5, 6.25]),
  'claude-opus-4-7': facts(M, 128 * K, [5, 25, 0.5, 6.25]),
  'claude-opus-4-6': facts(M, 128 * K, [5, 25, 0.5, 6.25]),
  'claude-opus-4-5': facts(200 * K, 64 * K, [5, 25, 0.5, 6.25]),
  'claude-opus-4-1': facts(200 * K, 32 * K, [15, 75, 1.5, 18.75]),
  'claude-sonnet-5-5': facts(M, 128 * K, [2, 10, 0.2, 2.5]),
  'claude-sonnet-5': facts(M, 128 * K, [2, 10, 0.2, 2.5]),
  'claude-sonnet-4-6': facts(M, 64 * K, [3, 15, 0.3, 3.75]),
  'claude-sonnet-4-5': facts(200 * K, 64 * K, [3, 15, 0.3, 3.75]),
  'claude-sonnet-4': facts(200 * K, 64 * K, [3, 15, 0.3, 3.75]),
  'claude-haiku-5-5': { contextWindow: M, maxOutput: 128 * K },
  'claude-haiku-4-5': facts(200 * K, 64 * K, [1, 5, 0.1, 1.25]),
  'gpt-6.2-sol': facts(1_050_000, 128 * K, [2, 10, 0.1, 2.5]),
  'gpt-6-sol': facts(1_050_000, 128 * K, [2, 10, 0.2, 2.5]),
  'gpt-5.5': facts(1_050_000, 128 * K, [5, 30, 0.5, 5]),
  'gpt-5.4': facts(1_050_000, 128 * K, [2.5, 15, 0.25, 2.5]),
  'gpt-5.4-mini': facts(400 * K, 128 * K, [0.75, 4.5, 0.075, 0.75]),
  'gpt-5.2': facts(400 * K, 128 * K, [1.75, 14, 0.175, 1.75]),
  'gpt-5.1': facts(400 * K, 128 * K, [1.25, 10, 0.125, 1.25]),
  'gpt-5': facts(400 * K, 128 * K, [1.25, 10, 0.125, 1.25]),
  'gpt-5-mini': facts(400 * K, 128 * K, [0.25, 2, 0.025, 0.25]),
  'gpt-5-nano': facts(400 * K, 128 * K, [0.05, 0.4, 0.005, 0.05]),
  'gpt-4.1': facts(1_047_576, 32_768, [2, 8, 0.5, 2]),
  'gpt-4.1-mini': facts(1_047_576, 32_768, [0.4, 1.6, 0.1, 0.4]),
  'gpt-4o': facts(128 * K, 16_384, [2.5, 10, 1.25, 2.5]),
  'gpt-4o-mini': facts(128 * K, 16_384, [0.15, 0.6, 0.075, 0.15]),
  o3: facts(200 * K, 100 * K, [2, 8, 0.5, 2]),
  'o4-mini': facts(200 * K, 100 * K, [1.1, 4.4, 0.275, 1.1]),
};

function facts(
  contextWindow: number,
  maxOutput: number,
  [input, output, cacheRead, cacheWrite]: readonly [number, number, number, number],
): ModelFacts {
  return { contextWindow, maxOutput, price: { input, output, cacheRead, cacheWrite } };
}
