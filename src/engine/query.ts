// The one loop: model and tools take turns until the model has nothing more to do or a limit is reached. It is
// handed everything it uses and knows nothing of files, networks, terminals or sessions; every door runs this code.

import type { Limits } from '../core/agent.ts';
import { asCrabError, CrabError, errorData } from '../core/errors.ts';
import type { Event, Outcome, PermissionDenied, Recovery, RunEnd } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import { DEFAULT_MAX_TOKENS } from '../core/limits.ts';
import {
  type AssistantMessage,
  type Message,
  messageText,
  toolCalls,
  type UserMessage,
  userMessage,
} from '../core/message.ts';
import type { Effort, Model, ModelChunk, ModelRequest, ToolSchema } from '../core/model.ts';
import { addUsage, NO_TOKENS, NO_USAGE, type TokenCounts, type Usage, usageOf } from '../core/usage.ts';
import { Answer } from './answer.ts';
import type { CallEnvironment } from './call.ts';
import type { Journal } from './journal.ts';
import { Outbox } from './outbox.ts';
import { MAX_RECOVERIES, shortened } from './recovery.ts';
import { Step } from './step.ts';
import type { View } from './view.ts';

export interface Query {
  readonly prompt: UserMessage;
  readonly view: View;
  readonly journal: Journal;
  readonly system: string;
  readonly tools: readonly ToolSchema[];
  /** Made once; `emit` puts an event in line with the run's own. */
  calls(emit: Emit): CallEnvironment;
  readonly limits: Limits;
  readonly effort?: Effort;
  readonly clock: Clock;
  /** Asked before each request, so that a change takes effect at the next step. */
  model(): Promise<Model>;
  /** Where to go when the model fails and its own retries are used up. */
  fallback?(): Promise<Model>;
  /** The model has nothing more to do; a returned text sends it back to work. */
  beforeStop?(text: string): Promise<string | undefined>;
  /** The tool whose call ends the run with a value. */
  readonly finish?: { readonly tool: string; value(): unknown };
  readonly signal: AbortSignal;
}

/** A `droppable` event may be left out when the listener is far behind: something later says the same. */
export type Emit = (event: Event, options?: { readonly droppable: boolean }) => void;

/** Batches waiting beyond which droppable events are left out. */
const MAX_BACKLOG = 256;

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

/** What one request came to. */
interface Exchange {
  readonly answer: Answer;
  readonly step: Step;
  readonly end: Extract<ModelChunk, { type: 'end' | 'failure' }>;
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
  #usage: Usage = NO_USAGE;
  #turns = 0;
  #apiMs = 0;
  #text = '';
  #maxTokens: number;
  #onFallback = false;
  #endedRefused = false;
  #finishing = false;

  constructor(spec: Query, outbox: Outbox<Event>) {
    this.#spec = spec;
    this.#outbox = outbox;
    this.#calls = spec.calls((event, options) => {
      if (options?.droppable !== true || outbox.backlog < MAX_BACKLOG) outbox.push([event]);
    });
    this.#startedAt = spec.clock.monotonic();
    this.#maxTokens = spec.limits.maxTokens ?? DEFAULT_MAX_TOKENS;
  }

  async drive(): Promise<void> {
    let ending: Ending;
    try {
      const message = this.#spec.prompt;
      const { synced } = this.#record(message);
      this.#outbox.push([{ type: 'promptAccepted', message }], synced);
      while (ending === undefined) ending = await this.#turn();
    } catch (thrown) {
      ending = this.#spec.signal.aborted
        ? { outcome: 'cancelled' }
        : { outcome: 'failed', error: asCrabError(thrown) };
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
      usage: this.#usage,
      durationMs: this.#spec.clock.monotonic() - this.#startedAt,
      apiMs: this.#apiMs,
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
      const spent = this.#usage.cost.total;
      if (limits.budgetUsd !== undefined && spent >= limits.budgetUsd) {
        const figures = `$${spent.toFixed(4)} of $${limits.budgetUsd}`;
        return {
          outcome: 'budget',
          error: new CrabError('budget-exhausted', `The budget is used up: ${figures}.`),
        };
      }
      const model = await this.#model();
      const exchange = await this.#exchange(model);
      const verdict =
        exchange.end.type === 'failure'
          ? await this.#failed(exchange, exchange.end)
          : await this.#ended(exchange, exchange.end, model);
      if (verdict !== 'repeat') return verdict;
    }
  }

  #model(): Promise<Model> {
    const { fallback, model } = this.#spec;
    return this.#onFallback && fallback !== undefined ? fallback() : model();
  }

  /** Sends one request and takes its answer in, passing everything on as it comes. */
  async #exchange(model: Model): Promise<Exchange> {
    const { clock, journal, signal } = this.#spec;
    const { api, provider, id } = model.info;
    const answer = new Answer(model.info);
    const record = (messages: readonly Message[]) => this.#record(...messages);
    const step = new Step({ environment: this.#calls, outbox: this.#outbox, clock, signal, record });
    const startedAt = clock.monotonic();
    let end: Exchange['end'] | undefined;
    let written = 0;
    for await (const chunks of model.stream(this.#request(model), signal)) {
      const events: Event[] = [];
      for (const chunk of chunks) {
        if (chunk.type === 'end' || chunk.type === 'failure') {
          end = chunk;
          continue;
        }
        const call = answer.take(chunk);
        if (call?.type === 'toolCall') step.arrived(call);
        else if (call?.type === 'badCall') step.arrivedBad(call);
        const event = eventOf(chunk, id);
        if (event !== undefined) events.push(event);
      }
      this.#outbox.push(events);
      if (answer.text.length > written) {
        written = answer.text.length;
        journal.partial({ api, provider, model: id, text: answer.text });
      }
      // The listener's pace is ours: nothing is read from the network that nobody has taken.
      if (this.#outbox.backlog > 1) await this.#outbox.drained();
    }
    this.#apiMs += clock.monotonic() - startedAt;
    end ??= {
      type: 'failure',
      error: new CrabError('stream-cut', `${provider} ended its answer without an end.`),
    };
    const tokens = end.tokens ?? NO_TOKENS;
    this.#usage = addUsage(this.#usage, usageOf(tokens, model.info.price));
    return { answer, step, end };
  }

  #request(model: Model): ModelRequest {
    const { view, system, tools, effort, finish } = this.#spec;
    const all = view.messages();
    const level = this.#recoveries.get('promptTooLong') ?? 0;
    return {
      model: model.info.id,
      system,
      messages: level === 0 ? all : (shortened(all, level) ?? all),
      tools,
      maxTokens: Math.min(this.#maxTokens, model.info.maxOutput ?? Number.POSITIVE_INFINITY),
      ...(effort !== undefined && { effort }),
      ...(this.#finishing && finish !== undefined && { toolChoice: finish.tool }),
    };
  }

  async #failed(
    exchange: Exchange,
    end: Extract<ModelChunk, { type: 'failure' }>,
  ): Promise<Ending | 'repeat'> {
    const { answer, step } = exchange;
    const { error } = end;
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
      return 'repeat';
    }
    const { fallback } = this.#spec;
    if (fallback !== undefined && !this.#onFallback && mayFallBack(error)) {
      const other = await fallback();
      this.#onFallback = true;
      const where = `${other.info.provider}/${other.info.id}`;
      this.#recover('fallbackModel', `${error.message} Going on with ${where}.`);
      return 'repeat';
    }
    this.#keepCut(answer, 'error', end.tokens, error.message);
    return { outcome: 'failed', error };
  }

  async #ended(
    exchange: Exchange,
    end: Extract<ModelChunk, { type: 'end' }>,
    model: Model,
  ): Promise<Ending | 'repeat'> {
    const { answer, step } = exchange;
    const timestamp = this.#spec.clock.now();
    const message = answer.message({ stopReason: end.stopReason, tokens: end.tokens, timestamp });
    const calls = toolCalls(message);
    const cutShort = end.stopReason === 'length' && calls.length === 0;
    if (cutShort && this.#canGrow(model)) {
      await step.abandon();
      this.#maxTokens *= 2;
      this.#recover(
        'outputLimit',
        `The answer was cut at its limit; asking again with ${this.#maxTokens} tokens.`,
      );
      return 'repeat';
    }
    this.#text = messageText(message);
    const { synced } = this.#record(message);
    this.#outbox.push([{ type: 'messageEnd', message }, contextUsage(message, model)], synced);
    if (calls.length > 0) {
      const result = await step.finish(synced);
      this.#denials.push(...result.denials);
      this.#endedRefused = result.endedRefused;
      return this.#spec.finish?.value() === undefined ? undefined : { outcome: 'done' };
    }
    await step.abandon();
    if (cutShort) {
      const error = new CrabError(
        'output-limit',
        'The answer was cut at the limit of what the model may write.',
      );
      return { outcome: 'failed', error };
    }
    return this.#stopping();
  }

  /** The model has nothing more to do; whether that is the end is decided here. */
  async #stopping(): Promise<Ending> {
    const { beforeStop, finish } = this.#spec;
    if (finish !== undefined && finish.value() === undefined) {
      if (!this.#canRecover('stopHook')) {
        const error = new CrabError(
          'structured-output',
          'The model ended without a value of the shape asked for.',
        );
        return { outcome: 'failed', error };
      }
      this.#finishing = true;
      this.#recover('stopHook', `The model has yet to call ${finish.tool}.`);
      this.#record(userMessage(`Give the final answer by calling ${finish.tool}.`, this.#spec.clock.now()));
      return undefined;
    }
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

  /** A message that was cut keeps its words: they are on the tape before anybody hears of the failure. */
  #keepCut(
    answer: Answer,
    stopReason: 'error' | 'aborted',
    tokens?: TokenCounts,
    errorMessage?: string,
  ): void {
    if (answer.text.trim() === '') return;
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
    return this.#canRecover('outputLimit') && this.#maxTokens < most;
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

/** What a listener hears of a chunk: proofs and sources are for the message alone. */
function eventOf(chunk: Exclude<ModelChunk, Exchange['end']>, model: string): Event | undefined {
  switch (chunk.type) {
    case 'retry':
      return { ...chunk, model };
    case 'notice':
      return { type: 'notice', level: 'warning', text: chunk.text };
    case 'thinkingSignature':
    case 'textSignature':
    case 'thoughtSignature':
    case 'citation':
      return undefined;
    default:
      return chunk;
  }
}

function contextUsage(message: AssistantMessage, model: Model): Event {
  const window = model.info.contextWindow;
  return {
    type: 'contextUsage',
    tokens: message.usage.totalTokens,
    ...(window !== undefined && { window }),
  };
}

/** Faults of a provider that another one may not share; a wrong request or key is wrong everywhere. */
function mayFallBack(error: CrabError): boolean {
  switch (error.code) {
    case 'rate-limited':
    case 'quota-exhausted':
    case 'provider-overloaded':
    case 'provider-failed':
    case 'provider-stalled':
    case 'provider-protocol':
    case 'stream-cut':
    case 'network':
      return true;
    default:
      return false;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
