// The one loop: model and tools take turns until the model has nothing more to do or a limit is reached. It is
// handed everything it uses and knows nothing of files, networks, terminals or sessions; every door runs this code.

import { asCrabError, CrabError, errorData } from '../core/errors.ts';
import type { Event, Outcome, PermissionDenied, Recovery, RequestEnd, RunEnd } from '../core/event.ts';
import {
  type AssistantMessage,
  type Message,
  messageText,
  toolCalls,
  type UserMessage,
  userMessage,
} from '../core/message.ts';
import type { Model, ModelChunk, ModelInfo } from '../core/model.ts';
import { NO_TOKENS, type TokenCounts, type Usage } from '../core/usage.ts';
import type { Answer } from './answer.ts';
import { cutByBudget } from './budget.ts';
import type { CallEnvironment } from './call.ts';
import { countedTokens } from './estimate.ts';
import type { Exchange } from './exchange.ts';
import { mayFallBack, nameOf } from './fallback.ts';
import { Outbox } from './outbox.ts';
import { MAX_RECOVERIES, shortened } from './recovery.ts';
import { type Finish, type RequestSpec, Requests } from './requests.ts';
import { Step } from './step.ts';

export interface Query extends RequestSpec {
  readonly prompt: UserMessage;
  /** Made once; `emit` puts an event in line with the run's own, `spent` adds the usage of a run that a call waited for. */
  calls(emit: Emit, spent: (usage: Usage) => void): CallEnvironment;
  /** Who speaks in place of the conversation's own agent. Of an answer of his that breaks off nothing is kept. */
  readonly guest?: string;
  readonly compaction?: CompactionOffer;
  /** The model has nothing more to do; a returned text sends it back to work. */
  beforeStop?(text: string): Promise<string | undefined>;
  /** Before each request: adds to the view what happened meanwhile. Undefined where nothing did, so that nothing waits. */
  news?(): Promise<readonly Event[]> | undefined;
}

/** Compaction, as somebody may ask for it while the run goes on. It happens between two requests, or at the end. */
export interface CompactionOffer {
  isAsked(): boolean;
  /** Resolves when it is asked for. */
  asked(): Promise<void>;
  /** Does what was asked. */
  run(told: { emit: Emit; spent(request: RequestEnd): void; signal: AbortSignal }): Promise<void>;
}

/** A `droppable` event may be left out when the listener is far behind: something later says the same. */
export type Emit = (event: Event, options?: { readonly droppable: boolean }) => void;

/** Batches waiting beyond which droppable events are left out. */
const MAX_BACKLOG = 256;

/** Milliseconds that a request waits for somebody to ask for a compaction. */
const PAUSE_MS = 5_000;

/** Turns after a pause without another one: what a compaction could not shrink it will not shrink a moment later. */
const TURNS_BETWEEN_PAUSES = 3;

/** Runs one prompt to its end. Does not throw; the last event is `runEnd`. Leaving early cancels the run. */
export function query(spec: Query): AsyncIterable<readonly Event[]> {
  const abandoned = new AbortController();
  const outbox = new Outbox<Event>({
    onAbandon: () => abandoned.abort(new Error('Nobody listens.')),
    onLost: (error) => {
      abandoned.abort(error);
      return [run.runEnd({ outcome: 'failed', error: asCrabError(error) })];
    },
  });
  const onAbort = () => abandoned.abort(spec.signal.reason);
  if (spec.signal.aborted) onAbort();
  else spec.signal.addEventListener('abort', onAbort, { once: true });
  const run: Run = new Run({ ...spec, signal: abandoned.signal }, outbox);
  run.drive().finally(() => {
    spec.signal.removeEventListener('abort', onAbort);
    outbox.end();
  });
  return outbox;
}

/** Undefined: the loop goes on. */
type Ending = { readonly outcome: Outcome; readonly error?: CrabError } | undefined;

class Run {
  readonly #spec: Query;
  readonly #outbox: Outbox<Event>;
  readonly #calls: CallEnvironment;
  readonly #startedAt: number;
  readonly #denials: PermissionDenied[] = [];
  readonly #recoveries = new Map<Recovery['cause'], number>();
  readonly #requests: Requests;
  #turns = 0;
  #text = '';
  #endedRefused = false;
  #mayPauseAt = 1;
  #finishing = false;
  #asked: ModelInfo | undefined;

  constructor(spec: Query, outbox: Outbox<Event>) {
    this.#spec = spec;
    this.#outbox = outbox;
    const emit: Emit = (event, options) => {
      if (options?.droppable !== true || outbox.backlog < MAX_BACKLOG) outbox.push([event]);
    };
    this.#calls = spec.calls(emit, (usage) => this.#requests.addUsage(usage));
    this.#startedAt = spec.clock.monotonic();
    this.#requests = new Requests(spec, outbox);
  }

  async drive(): Promise<void> {
    let ending: Ending;
    try {
      const message = this.#spec.prompt;
      const { synced } = this.#record(message);
      this.#outbox.push([{ type: 'promptAccepted', message }], synced);
      while (ending === undefined) ending = await this.#turn();
      if (!this.#spec.signal.aborted) await this.#compacted();
    } catch (thrown) {
      const error = asCrabError(thrown);
      const outcome = error.code === 'budget-exhausted' ? 'budget' : 'failed';
      ending = this.#spec.signal.aborted ? { outcome: 'cancelled' } : { outcome, error };
    }
    this.#outbox.push([this.runEnd(ending)]);
  }

  runEnd(ending: NonNullable<Ending>): RunEnd {
    const { outcome, error } = ending;
    const value = outcome === 'done' ? this.#spec.finish?.value() : undefined;
    return {
      type: 'runEnd',
      outcome,
      ...(error !== undefined && { error: errorData(error) }),
      text: this.#text,
      turns: this.#turns,
      usage: this.#requests.usage,
      durationMs: this.#spec.clock.monotonic() - this.#startedAt,
      apiMs: this.#requests.apiMs,
      denials: this.#denials,
      ...(value !== undefined && { structured: value }),
    };
  }

  async #turn(): Promise<Ending> {
    const { limits, signal } = this.#spec;
    if (signal.aborted) return { outcome: 'cancelled' };
    if (limits.turns !== undefined && this.#turns >= limits.turns) {
      const error = new CrabError(
        'turn-limit',
        `Stopped after ${plural(this.#turns, 'turn')}, the limit of this run.`,
      );
      return { outcome: 'turnLimit', error };
    }
    this.#turns++;
    this.#outbox.push([{ type: 'turnStart', turn: this.#turns }]);
    for (;;) {
      const news = this.#spec.news?.();
      if (news !== undefined) this.#outbox.push(await news);
      const model = await this.#requests.model();
      this.#noteWindow(model);
      await this.#pause(model);
      await this.#compacted();
      const exchange = await this.#exchange(model);
      const { end } = exchange;
      const verdict =
        end.type === 'failure'
          ? await this.#failed(exchange, end, model)
          : await this.#ended(exchange, end, model);
      if (verdict !== 'repeat') return verdict;
    }
  }

  #noteWindow({ info }: Model): void {
    const before = this.#asked;
    this.#asked = info;
    const [oldWindow, newWindow] = [before?.contextWindow, info.contextWindow];
    if (before === undefined || oldWindow === undefined || newWindow === undefined || newWindow <= oldWindow)
      return;
    const [from, to] = [nameOf({ info: before }), nameOf({ info })];
    this.#outbox.push([{ type: 'contextUpgraded', from, to, oldWindow, newWindow }]);
  }

  /** Holds the request back for a moment when the context is fuller than the limits want it. */
  async #pause({ info }: Model): Promise<void> {
    const { limits, compaction, view, clock, signal } = this.#spec;
    const pauseAt = limits.context?.pauseAt;
    const window = info.contextWindow;
    if (pauseAt === undefined || window === undefined || compaction === undefined) return;
    if (this.#turns < this.#mayPauseAt || compaction.isAsked()) return;
    const tokens = countedTokens(view.messages());
    if (tokens === undefined || tokens <= threshold(window, pauseAt)) return;
    this.#mayPauseAt = this.#turns + TURNS_BETWEEN_PAUSES;
    this.#outbox.push([{ type: 'contextUsage', tokens, window, waiting: true }]);
    const over = new AbortController();
    const waited = clock.sleep(PAUSE_MS, AbortSignal.any([signal, over.signal])).catch(() => {});
    await Promise.race([compaction.asked(), waited]);
    over.abort();
  }

  async #compacted(): Promise<void> {
    const { compaction, signal } = this.#spec;
    if (compaction?.isAsked() !== true) return;
    const emit: Emit = (event) => this.#outbox.push([event]);
    await compaction.run({ emit, spent: (request) => this.#requests.add(request), signal });
    this.#recoveries.delete('promptTooLong');
  }

  async #exchange(model: Model): Promise<Exchange> {
    const { clock, signal } = this.#spec;
    const shorten = this.#recoveries.get('promptTooLong') ?? 0;
    const request = await this.#requests.compose(model, { shorten, finishing: this.#finishing });
    const record = (messages: readonly Message[]) => this.#record(...messages);
    const step = new Step({ environment: this.#calls, outbox: this.#outbox, clock, signal, record });
    return this.#requests.send(model, request, step);
  }

  async #failed(
    { answer, step, over }: Exchange,
    end: Extract<ModelChunk, { type: 'failure' }>,
    model: Model,
  ): Promise<Ending | 'repeat'> {
    const { error } = end;
    if (over !== undefined) this.#outbox.push([over]);
    await step.abandon();
    if (this.#spec.signal.aborted) {
      this.#keepCut(answer, 'aborted', end.tokens);
      return { outcome: 'cancelled' };
    }
    if (error.code === 'context-overflow' && this.#canShorten()) {
      this.#recover(
        'promptTooLong',
        'The prompt is too long; the oldest messages are left out of the request.',
      );
      this.#requests.because('recovery');
      return 'repeat';
    }
    this.#keepCut(answer, 'error', end.tokens, error.message);
    if (mayFallBack(error) && (await this.#requests.fallBack(model, error.message)) !== undefined)
      return 'repeat';
    return { outcome: 'failed', error };
  }

  async #ended(
    { answer, step, over }: Exchange,
    end: Extract<ModelChunk, { type: 'end' }>,
    model: Model,
  ): Promise<Ending | 'repeat'> {
    const { stopReason, tokens, costUsd } = end;
    const timestamp = this.#spec.clock.now();
    const cost = costUsd === undefined ? {} : { costUsd };
    const message = this.#spoken(answer.message({ stopReason, tokens, timestamp, ...cost }));
    const calls = toolCalls(message);
    const bill: readonly Event[] = over === undefined ? [] : [over];
    const cutShort = stopReason === 'length' && calls.length === 0;
    if (cutShort && this.#requests.clampedBy === undefined && this.#canGrow(model)) {
      this.#outbox.push(bill);
      await step.abandon();
      this.#requests.grow();
      this.#requests.because('recovery');
      this.#recover(
        'outputLimit',
        `The answer was cut at its limit; asking again with ${this.#requests.maxTokens} tokens.`,
      );
      return 'repeat';
    }
    this.#text = messageText(message);
    const { synced } = this.#record(message);
    this.#outbox.push([...bill, { type: 'messageEnd', message }, contextUsage(message, model)], synced);
    if (calls.length > 0) {
      const result = await step.finish(synced);
      this.#denials.push(...result.denials);
      this.#endedRefused = result.endedRefused;
      return this.#spec.finish?.value() === undefined ? undefined : { outcome: 'done' };
    }
    await step.abandon();
    if (cutShort) return this.#cutShort();
    return this.#stopping(model);
  }

  #cutShort(): Ending {
    const { clampedBy } = this.#requests;
    if (clampedBy !== undefined) return { outcome: 'budget', error: cutByBudget(clampedBy) };
    const error = new CrabError(
      'output-limit',
      'The answer was cut at the limit of what the model may write.',
    );
    return { outcome: 'failed', error };
  }

  /** The model has nothing more to do; whether that is the end is decided here. */
  async #stopping(model: Model): Promise<Ending> {
    const { beforeStop, finish } = this.#spec;
    if (finish !== undefined && finish.value() === undefined) return this.#finish(finish, model);
    const more = await beforeStop?.(this.#text);
    if (more !== undefined && this.#canRecover('stopHook')) {
      this.#recover('stopHook', more);
      this.#record(userMessage(more, this.#spec.clock.now()));
      return undefined;
    }
    if (!this.#endedRefused) return { outcome: 'done' };
    const last = this.#denials.at(-1);
    return {
      outcome: 'refused',
      error: new CrabError(
        'permission-refused',
        `The run ended with a refused call: ${last?.tool}. ${last?.reason}`,
      ),
    };
  }

  /** The run must end with a value, and the model ended without one: it is made to give it. */
  #finish(finish: Finish, model: Model): Ending {
    const native = this.#requests.native(model);
    const fault = this.#finishing ? native?.accept(this.#text) : undefined;
    if (finish.value() !== undefined) return { outcome: 'done' };
    if (!this.#canRecover('stopHook')) {
      const why = fault === undefined ? '' : ` ${fault}`;
      const message = `The model ended without a value of the shape asked for.${why}`;
      return { outcome: 'failed', error: new CrabError('structured-output', message) };
    }
    this.#finishing = true;
    this.#requests.because('structured');
    const ask =
      native === undefined
        ? `Give the final answer by calling ${finish.tool}.`
        : 'Give the final answer as JSON of the shape asked for, and nothing else.';
    const detail =
      native === undefined ? `The model has yet to call ${finish.tool}.` : 'The value is missing.';
    this.#recover('stopHook', fault ?? detail);
    this.#record(userMessage(fault === undefined ? ask : `${fault} ${ask}`, this.#spec.clock.now()));
    return undefined;
  }

  /** A message that was cut keeps its words: they are on the tape before anybody hears of the failure. */
  #keepCut(
    answer: Answer,
    stopReason: 'error' | 'aborted',
    tokens?: TokenCounts,
    errorMessage?: string,
  ): void {
    if (answer.text.trim() === '' || this.#spec.guest !== undefined) return;
    const timestamp = this.#spec.clock.now();
    const cut = answer.message({
      stopReason,
      tokens: tokens ?? NO_TOKENS,
      timestamp,
      ...(errorMessage !== undefined && { errorMessage }),
    });
    const message: AssistantMessage = {
      ...cut,
      content: cut.content.filter((block) => block.type === 'text'),
    };
    this.#text = messageText(message);
    const { synced } = this.#record(message);
    this.#outbox.push([{ type: 'messageEnd', message }], synced);
  }

  #spoken(message: AssistantMessage): AssistantMessage {
    const { guest } = this.#spec;
    return guest === undefined ? message : { ...message, agent: guest };
  }

  #record(...messages: readonly Message[]): { readonly synced: Promise<void> } {
    const appended = this.#spec.journal.append(messages);
    for (const message of messages) this.#spec.view.add(message);
    return appended;
  }

  #canShorten(): boolean {
    const attempt = (this.#recoveries.get('promptTooLong') ?? 0) + 1;
    return this.#canRecover('promptTooLong') && shortened(this.#spec.view.messages(), attempt) !== undefined;
  }

  #canGrow(model: Model): boolean {
    const most = model.info.maxOutput ?? Number.POSITIVE_INFINITY;
    return this.#canRecover('outputLimit') && this.#requests.maxTokens < most;
  }

  #canRecover(cause: Recovery['cause']): boolean {
    return (this.#recoveries.get(cause) ?? 0) < MAX_RECOVERIES;
  }

  #recover(cause: Recovery['cause'], detail: string): void {
    const attempt = (this.#recoveries.get(cause) ?? 0) + 1;
    this.#recoveries.set(cause, attempt);
    this.#outbox.push([{ type: 'recovery', cause, attempt, maxAttempts: MAX_RECOVERIES, detail }]);
  }
}

/** Half of a window is always there to be used, however much of it is to stay free. */
function threshold(
  window: number,
  { share, reserveTokens }: { readonly share: number; readonly reserveTokens: number },
): number {
  return Math.min(window * share, Math.max(window - reserveTokens, window / 2));
}

function contextUsage(message: AssistantMessage, model: Model): Event {
  const window = model.info.contextWindow;
  return {
    type: 'contextUsage',
    tokens: message.usage.totalTokens,
    ...(window !== undefined && { window }),
  };
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
