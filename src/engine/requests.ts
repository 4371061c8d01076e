// The requests of one run: which model is asked, what is put into a request, how long the answer may be for the money
// that is left, and what it all came to. What an answer means for the run is not decided here.

import type { Limits } from '../core/agent.ts';
import type { Event, RequestCause, RequestEnd } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import { DEFAULT_MAX_TOKENS } from '../core/limits.ts';
import type { Message, ToolResultMessage } from '../core/message.ts';
import type { Model, ModelRequest, ToolSchema } from '../core/model.ts';
import { addUsage, type BudgetKind, type BudgetState, NO_USAGE, type Usage } from '../core/usage.ts';
import type { Accesses } from './accesses.ts';
import { affordableTokens, budgetWarning, isFree, leastOf } from './budget.ts';
import { type Exchange, exchange } from './exchange.ts';
import { Chain, type FallbackModel, nameOf } from './fallback.ts';
import type { Journal } from './journal.ts';
import type { Outbox } from './outbox.ts';
import { shortened } from './recovery.ts';
import type { Step } from './step.ts';
import { Trimmer } from './trim.ts';
import type { View } from './view.ts';

export interface RequestSpec {
  readonly view: View;
  readonly journal: Journal;
  readonly system: string;
  /** What the next request sends. */
  tools(): readonly ToolSchema[];
  readonly limits: Limits;
  readonly clock: Clock;
  /** Asked before each request, so that a change takes effect at the next step. */
  model(): Promise<Model>;
  /** Where to turn, in order, when the model fails and its own retries are used up. */
  readonly fallbacks?: readonly FallbackModel[];
  /** How to ask; read before each request, too. */
  style?(): RequestStyle;
  readonly accounts?: Accounts;
  /** Learns what the calls of these messages touched; needed where `limits.context.snipAt` is set. */
  accesses?(messages: readonly Message[]): Promise<Pick<Accesses, 'isReading'>>;
  /** Of the conversation, so that what a wire knows of a message lasts longer than a run. */
  readonly trimmer?: Trimmer;
  /** As in `TrimOptions`. */
  snipBefore?(): string | undefined;
  readonly digests?: Digests;
  /** How the history is told to the model. */
  told?(messages: readonly Message[]): readonly Message[];
  readonly finish?: Finish;
  readonly signal: AbortSignal;
}

/** Old results in a line each, as a model tells them. */
export interface Digests {
  /** Undefined for one that nobody was asked about; empty for one that nobody could tell. */
  lineOf(callId: string): string | undefined;
  /** From then on each of them has a line, be it empty. Rejects only when the signal aborts. */
  write(results: readonly ToolResultMessage[], told: DigestTold): Promise<void>;
}

interface DigestTold {
  emit(event: Event): void;
  spent(request: RequestEnd): void;
  readonly signal: AbortSignal;
}

export type RequestStyle = Pick<ModelRequest, 'effort' | 'fast' | 'conversation'>;

/** Where the money of a run is counted. */
export interface Accounts {
  /** As they stand at this moment, other processes included; none where nothing was set. */
  budgets(): readonly BudgetState[];
  /** The budgets that somebody was warned of. */
  readonly warned: Set<BudgetKind>;
  /** A try of a request is over. Called once for each, at once, also when nobody listens any more. */
  spent(request: RequestEnd): void;
}

/** How a run ends with a value. */
export interface Finish {
  /** The tool whose call gives it. */
  readonly tool: string;
  value(): unknown;
  /** For a model that answers in a shape: `accept` takes such an answer, or says what is wrong with it. */
  readonly native?: {
    readonly output: NonNullable<ModelRequest['output']>;
    accept(text: string): string | undefined;
  };
}

/** What the run wants of its next request. */
export interface Wanted {
  /** How often the history was too long; the oldest of it is left out accordingly. */
  readonly shorten: number;
  /** The answer must be the value that the run ends with. */
  readonly finishing: boolean;
}

type Content = Pick<ModelRequest, 'system' | 'messages' | 'tools'>;

export class Requests {
  readonly #spec: RequestSpec;
  readonly #outbox: Outbox<Event>;
  readonly #chain: Chain;
  readonly #trimmer: Trimmer;
  #usage: Usage = NO_USAGE;
  #apiMs = 0;
  #maxTokens: number;
  #clamped = false;
  #cause: RequestCause = 'turn';

  constructor(spec: RequestSpec, outbox: Outbox<Event>) {
    this.#spec = spec;
    this.#outbox = outbox;
    this.#trimmer = spec.trimmer ?? new Trimmer();
    this.#maxTokens = spec.limits.maxTokens ?? DEFAULT_MAX_TOKENS;
    this.#chain = new Chain({
      first: () => spec.model(),
      others: spec.fallbacks ?? [],
      refuses: (model) => this.#refuses(model),
      notice: (text) => this.#notice(text),
    });
  }

  /** All tries together. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Milliseconds spent waiting for providers. */
  get apiMs(): number {
    return this.#apiMs;
  }

  /** Tokens that the next answer may have, money permitting. */
  get maxTokens(): number {
    return this.#maxTokens;
  }

  /** The budget that kept the last request shorter than it would have been. */
  get clampedBy(): BudgetState | undefined {
    return this.#clamped ? leastOf(this.#budgets()) : undefined;
  }

  grow(): void {
    this.#maxTokens *= 2;
  }

  /** What the next request is sent for, where it is no step of its own. */
  because(cause: RequestCause): void {
    this.#cause = cause;
  }

  async model(): Promise<Model> {
    const model = await this.#chain.current();
    if (model.health?.() !== 'open') return model;
    return (await this.fallBack(model, `${nameOf(model)} failed again and again.`)) ?? model;
  }

  /** Goes on with the next model that can be used, and says why; undefined when there is none. */
  async fallBack(failed: Model, reason: string): Promise<Model | undefined> {
    const other = await this.#chain.next(failed);
    if (other === undefined) return undefined;
    this.#cause = 'fallback';
    const { depth: attempt, length: maxAttempts } = this.#chain;
    const detail = `${reason} Going on with ${nameOf(other)}.`;
    this.#outbox.push([{ type: 'recovery', cause: 'fallbackModel', attempt, maxAttempts, detail }]);
    return other;
  }

  /** Sends a request and takes its answer in. */
  async send(model: Model, request: ModelRequest, step: Step): Promise<Exchange> {
    const { clock, journal, signal, accounts } = this.#spec;
    const cause = this.#cause;
    this.#cause = 'turn';
    const spent = (over: RequestEnd) => {
      this.#usage = addUsage(this.#usage, over.usage);
      accounts?.spent(over);
    };
    const startedAt = clock.monotonic();
    const outbox = this.#outbox;
    const ended = await exchange({ model, request, cause, step, outbox, journal, clock, signal, spent });
    this.#apiMs += clock.monotonic() - startedAt;
    return ended;
  }

  /** How a model that answers in a shape is made to end the run; undefined for one that must call the tool. */
  native({ info }: Model): Finish['native'] {
    return info.structured === true ? this.#spec.finish?.native : undefined;
  }

  /** The next request. Throws `CrabError` (`budget-exhausted`, `budget-unpriced`). */
  async compose(model: Model, { shorten, finishing }: Wanted): Promise<ModelRequest> {
    const { system, tools, style, finish } = this.#spec;
    const all = await this.#trimmed(model);
    const history = shorten === 0 ? all : (shortened(all, shorten) ?? all);
    const messages = this.#spec.told?.(history) ?? history;
    const content: Content = { system, messages, tools: tools() };
    const most = Math.min(this.#maxTokens, model.info.maxOutput ?? Number.POSITIVE_INFINITY);
    const maxTokens = this.#affordable(model, content, most);
    const request: ModelRequest = { model: model.info.id, ...content, maxTokens, ...style?.() };
    if (!finishing || finish === undefined) return request;
    const output = this.native(model)?.output;
    return output === undefined ? { ...request, toolChoice: finish.tool } : { ...request, output };
  }

  /** The history without most of old results, where there is little room left for it. */
  async #trimmed({ info }: Model): Promise<readonly Message[]> {
    const { view, limits, accesses, digests } = this.#spec;
    const messages = view.messages();
    const snipBefore = this.#spec.snipBefore?.();
    const { contextWindow: window = Number.POSITIVE_INFINITY } = info;
    const snipAt = limits.context?.snipAt ?? Number.POSITIVE_INFINITY;
    const reach = { window, snipAt, snipBefore };
    if (!this.#trimmer.trims(messages, reach)) return messages;
    const known = await accesses?.(messages);
    const isReading = (callId: string) => known?.isReading(callId) === true;
    if (digests === undefined) return this.#trimmer.trim(messages, { ...reach, isReading });
    const { lineOf } = digests;
    const untold = this.#trimmer
      .clearable(messages, reach)
      .filter(({ toolCallId }) => lineOf(toolCallId) === undefined);
    if (untold.length > 0)
      await digests.write(untold, {
        emit: (event) => this.#outbox.push([event]),
        spent: (over) => this.add(over),
        signal: this.#spec.signal,
      });
    return this.#trimmer.trim(messages, { ...reach, isReading, lineOf });
  }

  /** A request of the same run, but not of its loop. */
  add(over: RequestEnd): void {
    this.addUsage(over.usage);
  }

  addUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  /** How many of the wanted tokens the budgets pay for. */
  #affordable({ info }: Model, content: Content, wanted: number): number {
    const { accounts, clock } = this.#spec;
    const least = leastOf(this.#budgets());
    this.#clamped = false;
    if (accounts === undefined || least === undefined) return wanted;
    const most = affordableTokens(least, info, content, clock.now());
    const warning = accounts.warned.has(least.kind) ? undefined : budgetWarning(least);
    if (warning !== undefined) {
      accounts.warned.add(least.kind);
      this.#notice(warning);
    }
    this.#clamped = most < wanted;
    return Math.min(wanted, most);
  }

  #budgets(): readonly BudgetState[] {
    return this.#spec.accounts?.budgets() ?? [];
  }

  /** Why a model of the chain cannot be gone on with. */
  #refuses(model: Model): string | undefined {
    if (model.health?.() === 'open') return 'it failed again and again.';
    const isUnpriced = model.info.price === undefined && !isFree(model.info);
    return isUnpriced && this.#budgets().length > 0
      ? 'its price is not known, and there is a budget.'
      : undefined;
  }

  #notice(text: string): void {
    this.#outbox.push([{ type: 'notice', level: 'warning', text }]);
  }
}
