// What money allows: how long the next answer may be, and the refusal when it may not be at all. A reply that is cut to
// what is left overshoots by no more than itself. Where the price is not known there is nothing to reckon with, so that
// a budget refuses (law 3).

import { CrabError } from '../core/errors.ts';
import type { ModelInfo, ModelRequest } from '../core/model.ts';
import { type BudgetKind, type BudgetState, NO_TOKENS, type Price, usageOf } from '../core/usage.ts';
import { estimateInput, type InputEstimate } from './estimate.ts';

/** An answer for which there is less money than for so many tokens is not worth its input. */
export const LEAST_ANSWER_TOKENS = 256;

/** Money is no matter: a model that is given away, as one's own server does. */
export function isFree({ price }: ModelInfo): boolean {
  if (price === undefined) return false;
  return price.input === 0 && price.output === 0 && price.cacheRead === 0 && price.cacheWrite === 0;
}

export function unpriced({ provider, id }: ModelInfo): CrabError {
  const name = `${provider}/${id}`;
  return new CrabError(
    'budget-unpriced',
    `There is a budget, and the price of ${name} is not known, so it could not be kept.`,
    { hint: `Set the price in the settings ([models."${name}".price] input = …, output = …), or no budget.` },
  );
}

/** The tokens that an answer may have. Throws `CrabError` (`budget-unpriced`, `budget-exhausted`). */
export function affordableTokens(
  budget: BudgetState,
  info: ModelInfo,
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
  now: number,
): number {
  if (isFree(info)) return Number.POSITIVE_INFINITY;
  if (info.price === undefined) throw unpriced(info);
  const left = budget.limitUsd - budget.spentUsd;
  if (left <= 0) throw exhausted(budget);
  const { inputUsd, perToken } = priceOf(estimateInput(request, info, now), info.price);
  const forAnswer = left - inputUsd;
  const tokens = perToken === 0 ? Number.POSITIVE_INFINITY : Math.floor(forAnswer / perToken);
  if (forAnswer <= 0 || tokens < LEAST_ANSWER_TOKENS)
    throw exhausted(budget, inputUsd + LEAST_ANSWER_TOKENS * perToken);
  return tokens;
}

/** What is not in the cache may be written to it, which some sell dearer than to read it. */
function priceOf(
  { tokens, cached }: InputEstimate,
  price: Price,
): { readonly inputUsd: number; readonly perToken: number } {
  const fresh = tokens - cached;
  const read = { ...NO_TOKENS, cacheRead: cached, output: 1 };
  const plain = usageOf({ ...read, input: fresh }, price).cost;
  const kept = usageOf({ ...read, cacheWrite: fresh }, price).cost;
  const perToken = plain.output;
  return { inputUsd: Math.max(plain.total, kept.total) - perToken, perToken };
}

const OWNERS: Readonly<Record<BudgetKind, string>> = {
  run: 'this run',
  conversation: 'this conversation',
  day: 'today',
  sender: 'this sender for today',
};

const HINTS: Readonly<Record<BudgetKind, string>> = {
  run: 'Raise --max-budget-usd (in the settings: [budget] run_usd) and go on with --continue.',
  conversation:
    'Raise [budget] conversation_usd in the settings and go on with --continue, or start a new session.',
  day: 'Raise [budget] day_usd in the settings, or go on tomorrow with --continue.',
  sender: 'Raise [budget] sender_usd in the settings, or go on tomorrow with --continue.',
};

/** `neededUsd` is the least that the next request would cost, where something is left. */
export function exhausted(budget: BudgetState, neededUsd?: number): CrabError {
  const { kind, limitUsd, spentUsd } = budget;
  const figures = `${dollars(spentUsd)} of ${dollars(limitUsd)}`;
  const message =
    neededUsd === undefined
      ? `The budget for ${OWNERS[kind]} is used up: ${figures}.`
      : `The budget for ${OWNERS[kind]} has too little left: ${figures} is spent, and the next request would cost about ${dollars(neededUsd)} or more.`;
  return new CrabError('budget-exhausted', message, { hint: HINTS[kind] });
}

/** An answer that was kept short by what was left, and reached that length. */
export function cutByBudget({ kind, limitUsd, spentUsd }: BudgetState): CrabError {
  const figures = `${dollars(spentUsd)} of ${dollars(limitUsd)} is spent`;
  const message = `The answer was cut where the budget for ${OWNERS[kind]} ended: ${figures}.`;
  return new CrabError('budget-exhausted', message, { hint: HINTS[kind] });
}

/** The part of a budget beyond which a person is warned. */
const WARN_AT = 0.8;

/** What a person should know before a budget is used up; undefined while there is enough. */
export function budgetWarning({ kind, limitUsd, spentUsd }: BudgetState): string | undefined {
  if (limitUsd <= 0 || spentUsd < limitUsd * WARN_AT) return undefined;
  const percent = Math.floor((spentUsd / limitUsd) * 100);
  return `${percent} % of the budget for ${OWNERS[kind]} is spent: ${dollars(spentUsd)} of ${dollars(limitUsd)}.`;
}

/** The budget that has the least left. */
export function leastOf(budgets: readonly BudgetState[]): BudgetState | undefined {
  let least: BudgetState | undefined;
  for (const budget of budgets) if (least === undefined || left(budget) < left(least)) least = budget;
  return least;
}

function left({ limitUsd, spentUsd }: BudgetState): number {
  return limitUsd - spentUsd;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`;
}
