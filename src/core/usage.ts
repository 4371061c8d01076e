// Tokens and money of one request or of many, as the provider reported them: never an estimate.

/** Counts are tokens. `input` excludes what was read from or written to the provider's cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of `output`, what the model thought; absent where the provider does not tell it apart, and where it is none. */
  readonly reasoning?: number;
  readonly totalTokens: number;
  /** US dollars, zero where the price is not known. */
  readonly cost: Cost;
}

/** By the ids of models. */
export type ModelUsage = Readonly<Record<string, Usage>>;

/** `total` is what the provider said, where it did; then the classes need not add up to it. */
export interface Cost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

/** US dollars for a million tokens of each class. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** What all tokens of a request cost instead when its prompt, with what came from a cache, has more than `tokens`. */
  readonly above?: { readonly tokens: number; readonly price: Price };
}

export type TokenCounts = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning'>;

export const NO_TOKENS: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const NO_COST: Cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export const NO_USAGE: Usage = {
  ...NO_TOKENS,
  totalTokens: 0,
  cost: NO_COST,
};

/** `costUsd` is what the provider itself says that it costs: it wins over the table. */
export function usageOf(tokens: TokenCounts, price?: Price, costUsd?: number): Usage {
  const { input, output, cacheRead, cacheWrite, reasoning } = tokens;
  const totalTokens = input + output + cacheRead + cacheWrite;
  const cost = costOf(tokens, price);
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    ...thought(reasoning),
    totalTokens,
    cost: costUsd === undefined ? cost : { ...cost, total: costUsd },
  };
}

function costOf(tokens: TokenCounts, listed: Price | undefined): Cost {
  if (listed === undefined) return NO_COST;
  const price = tierOf(listed, tokens.input + tokens.cacheRead + tokens.cacheWrite);
  const input = (tokens.input * price.input) / 1e6;
  const output = (tokens.output * price.output) / 1e6;
  const cacheRead = (tokens.cacheRead * price.cacheRead) / 1e6;
  const cacheWrite = (tokens.cacheWrite * price.cacheWrite) / 1e6;
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

function tierOf(price: Price, prompt: number): Price {
  return price.above !== undefined && prompt > price.above.tokens ? tierOf(price.above.price, prompt) : price;
}

/** As it stands among counts. */
export function thought(reasoning = 0): Pick<Usage, 'reasoning'> {
  return reasoning > 0 ? { reasoning } : {};
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...thought((a.reasoning ?? 0) + (b.reasoning ?? 0)),
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
    },
  };
}

export type BudgetKind = 'run' | 'conversation' | 'day' | 'sender';

/** A budget as it stands, in US dollars. */
export interface BudgetState {
  readonly kind: BudgetKind;
  readonly limitUsd: number;
  readonly spentUsd: number;
}

/** Requests that have something in common, added up. */
export interface UsageSummary {
  /** What they have in common: a day, a model, a session. */
  readonly key: string;
  /** Tries, the failed ones among them. */
  readonly requests: number;
  readonly failures: number;
  readonly tokens: TokenCounts;
  readonly costUsd: number;
  /** An estimate of what answers that broke off cost beside it. */
  readonly unreportedUsd: number;
  /** Requests that used tokens whose price nobody knew. */
  readonly unpriced: number;
  /** Medians, absent where nothing was measured. */
  readonly ttftMs?: number;
  readonly tokensPerSecond?: number;
}
