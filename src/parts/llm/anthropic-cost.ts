// What an answer of Anthropic's cost where that is not its tokens times the model's price: a fast answer costs a multiple,
// and what is kept in the cache for an hour costs twice its input (platform.claude.com/docs/en/about-claude/pricing).

import { type Price, type TokenCounts, usageOf } from '../../core/usage.ts';

export interface AnthropicRates {
  readonly price: Price;
  /** A fast answer costs this many times the price. */
  readonly fastFactor: number;
}

/** Beside its price for five minutes, which the model's price has. */
const HOUR_FACTOR = 2;

/** US dollars; undefined where the model's price says as much. */
export function costOf(
  tokens: TokenCounts,
  rates: AnthropicRates | undefined,
  answer: { readonly isFast: boolean; readonly longLived: number },
): number | undefined {
  if (rates === undefined || (!answer.isFast && answer.longLived === 0)) return undefined;
  const { price, fastFactor } = rates;
  const long = Math.min(answer.longLived, tokens.cacheWrite);
  const extra = (long * (price.input * HOUR_FACTOR - price.cacheWrite)) / 1e6;
  const factor = answer.isFast ? fastFactor : 1;
  return (usageOf(tokens, price).cost.total + extra) * factor;
}
