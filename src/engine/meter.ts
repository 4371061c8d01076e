// The times and the bill of one request, try by try: how long until the answer began, how long it took, what the
// provider counted. Every try that was sent has one line, however it ended, since each may have cost money.

import type { Priced, RequestCause, RequestEnd, RequestOutcome } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import type { ModelChunk, ModelInfo, ModelRequest, ModelRetry } from '../core/model.ts';
import { NO_TOKENS, type TokenCounts, usageOf } from '../core/usage.ts';
import { isFree } from './budget.ts';
import { estimateInput, textTokens } from './estimate.ts';

export interface MeterOptions {
  readonly info: ModelInfo;
  readonly request: ModelRequest;
  readonly cause: RequestCause;
  readonly clock: Clock;
}

type End = Extract<ModelChunk, { type: 'end' }>;
type Failure = Extract<ModelChunk, { type: 'failure' }>;

interface Bill {
  readonly tokens: TokenCounts | undefined;
  readonly costUsd?: number | undefined;
  readonly status?: number | undefined;
  readonly unreportedUsd?: number;
}

export class Meter {
  readonly #options: MeterOptions;
  #cause: RequestCause;
  #startedAt: number;
  #begunAt: number | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#cause = options.cause;
    this.#startedAt = options.clock.monotonic();
  }

  /** The answer begins. */
  begun(): void {
    this.#begunAt ??= this.#options.clock.monotonic();
  }

  /** A try failed and another follows; undefined where only the first try waits for its turn. */
  retried({ attempt, delayMs, status, tokens }: ModelRetry): RequestEnd | undefined {
    const over = attempt === 0 ? undefined : this.#over('retried', { tokens, status });
    if (attempt > 0) this.#cause = 'retry';
    this.#startedAt = this.#options.clock.monotonic() + delayMs;
    this.#begunAt = undefined;
    return over;
  }

  ended({ tokens, costUsd }: End): RequestEnd {
    return this.#over('done', { tokens, costUsd });
  }

  /** Undefined when it was stopped in the pause before a try: nothing was sent then. `written` is all that came. */
  failed({ error, tokens }: Failure, written: string, aborted: boolean): RequestEnd | undefined {
    if (aborted && this.#options.clock.monotonic() < this.#startedAt) return undefined;
    const unreportedUsd = this.#begunAt === undefined ? 0 : this.#unreported(tokens, written);
    return this.#over(aborted ? 'aborted' : 'failed', { tokens, status: error.status, unreportedUsd });
  }

  #over(outcome: RequestOutcome, { tokens, costUsd, status, unreportedUsd = 0 }: Bill): RequestEnd {
    const { info, clock } = this.#options;
    const durationMs = Math.max(0, clock.monotonic() - this.#startedAt);
    const ttftMs = this.#begunAt === undefined ? undefined : Math.max(0, this.#begunAt - this.#startedAt);
    const usage = usageOf(tokens ?? NO_TOKENS, info.price, costUsd);
    const writingMs = durationMs - (ttftMs ?? durationMs);
    return {
      type: 'requestEnd',
      provider: info.provider,
      model: info.id,
      cause: this.#cause,
      outcome,
      ...(status !== undefined && { status }),
      usage,
      priced: pricedBy(info, costUsd),
      ...(unreportedUsd > 0 && { unreportedUsd }),
      ...(ttftMs !== undefined && { ttftMs }),
      durationMs,
      ...(outcome === 'done' &&
        writingMs > 0 &&
        usage.output > 0 && { tokensPerSecond: (usage.output * 1000) / writingMs }),
    };
  }

  /** An answer that had begun is paid for as far as it came, also where the provider had no time to say so. */
  #unreported(tokens: TokenCounts | undefined, written: string): number {
    const { info, request, clock } = this.#options;
    if (info.price === undefined) return 0;
    const told = tokens ?? NO_TOKENS;
    const isCounted = told.input + told.cacheRead + told.cacheWrite > 0;
    const input = isCounted ? told.input : estimateInput(request, info, clock.now()).tokens;
    const output = Math.max(told.output, textTokens(written));
    return usageOf({ ...told, input, output }, info.price).cost.total - usageOf(told, info.price).cost.total;
  }
}

function pricedBy(info: ModelInfo, costUsd: number | undefined): Priced {
  if (costUsd !== undefined) return 'provider';
  return info.price !== undefined || isFree(info) ? 'table' : 'unknown';
}
