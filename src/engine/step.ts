// The calls of one assistant message. Calls that are safe beside others run together, the rest one by one in call
// order; a safe call that needs no question starts while the message still streams. Results are recorded as they
// come (the view puts them in call order), and never before the message that asked for them.

import { messageOf } from '../core/errors.ts';
import type { Event, PermissionDenied } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import { MAX_PARALLEL_CALLS } from '../core/limits.ts';
import { type ToolCallContent, type ToolResultMessage, toolResultMessage } from '../core/message.ts';
import { errorOutput, type ToolOutput } from '../core/tool.ts';
import type { BadCall } from './answer.ts';
import {
  type CallEnvironment,
  displayOf,
  grantedBy,
  judge,
  type Permission,
  type Planned,
  permit,
  planCall,
  refusal,
  runCall,
  type UnplannedCall,
} from './call.ts';
import type { Outbox } from './outbox.ts';
import { whileWanted } from './while-wanted.ts';

export interface StepOptions {
  readonly environment: CallEnvironment;
  readonly outbox: Outbox<Event>;
  readonly clock: Clock;
  /** Aborting it ends every call of the step. */
  readonly signal: AbortSignal;
  /** Puts results on the tape and in the view. */
  record(messages: readonly ToolResultMessage[]): { readonly synced: Promise<void> };
}

export interface StepResult {
  readonly denials: readonly PermissionDenied[];
  /** The last call of the message was refused, so nothing was done since. */
  readonly endedRefused: boolean;
}

type ToolResult = Extract<Event, { type: 'toolResult' }>;

interface Pending {
  readonly call: ToolCallContent;
  readonly planned: Promise<Planned>;
  /** The gate has said so already, a moment before it was started early. */
  permission?: Permission;
  started?: Promise<void>;
}

export class Step {
  readonly #options: StepOptions;
  readonly #controller = new AbortController();
  readonly #pending: Pending[] = [];
  readonly #denials: PermissionDenied[] = [];
  readonly #limiter = createLimiter(MAX_PARALLEL_CALLS);
  readonly #onAbort: () => void;
  #early: Promise<void> = Promise.resolve();
  #earlyEnded = false;
  #written: () => void = () => {};
  readonly #isWritten = new Promise<void>((resolve) => {
    this.#written = resolve;
  });
  #abandoned = false;
  #unwritten: ToolResult[] = [];
  #writing: Promise<void> | undefined;
  #lastRefused = false;
  #skipRest = false;

  constructor(options: StepOptions) {
    this.#options = options;
    this.#onAbort = () => this.#controller.abort(options.signal.reason);
    if (options.signal.aborted) this.#onAbort();
    else options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** A call is complete while its message still streams: starts it when that can do no harm. */
  arrived(call: ToolCallContent): void {
    const planning = whileWanted(planCall(call, this.#options.environment), this.#controller.signal);
    const planned = planning.catch((): Planned => ({ call, failure: CANCELLED }));
    const pending: Pending = { call, planned };
    this.#pending.push(pending);
    if (this.#earlyEnded) return;
    // Judged side by side, since a verdict changes nothing; started in order.
    const permitted = this.#permittedEarly(pending.planned);
    this.#early = this.#early.then(() => this.#startEarly(pending, permitted));
  }

  /** A call that cannot be read keeps its place, so that nothing behind it starts early. */
  arrivedBad(bad: BadCall): void {
    this.#earlyEnded = true;
    const call: ToolCallContent = { type: 'toolCall', id: bad.id, name: bad.name, arguments: {} };
    this.#pending.push({ call, planned: Promise.resolve({ call, failure: bad.reason }) });
  }

  /** The message came to nothing: what was started early ends, and no result is kept. */
  async abandon(): Promise<void> {
    this.#earlyEnded = true;
    this.#abandoned = true;
    this.#controller.abort(new Error('The message was not completed.'));
    this.#written();
    await this.#early;
    await this.#settle();
  }

  /** The message is on the tape and will be durable when `synced` resolves: runs what is left. */
  async finish(synced: Promise<void>): Promise<StepResult> {
    try {
      this.#written();
      await this.#early;
      await this.#runAll(synced);
      return { denials: this.#denials, endedRefused: this.#lastRefused };
    } catch (error) {
      this.#controller.abort(error);
      throw error;
    } finally {
      await this.#settle();
    }
  }

  /** Nothing of the step runs on behind its back. */
  async #settle(): Promise<void> {
    await Promise.allSettled(this.#pending.map((pending) => pending.started));
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  /** The permission of a call that can do no harm; undefined for every other. */
  async #permittedEarly(planning: Promise<Planned>): Promise<Permission | undefined> {
    const planned = await planning;
    if ('failure' in planned || !planned.plan.parallel || !planned.plan.repeatable) return undefined;
    const verdict = await judge(planned, this.#options.environment);
    return verdict.decision === 'allow' ? grantedBy(verdict) : undefined;
  }

  async #startEarly(pending: Pending, permitted: Promise<Permission | undefined>): Promise<void> {
    if (this.#earlyEnded) return;
    const permission = await permitted;
    if (permission !== undefined) {
      pending.permission = permission;
      this.#start(pending, Promise.resolve());
    } else {
      this.#earlyEnded = true;
    }
  }

  async #runAll(synced: Promise<void>): Promise<void> {
    let together: Promise<void>[] = [];
    for (const pending of this.#pending) {
      const planned = await pending.planned;
      const parallel = !('failure' in planned) && planned.plan.parallel;
      if (!parallel) {
        await Promise.all(together);
        together = [];
      }
      const running = pending.started ?? this.#start(pending, synced);
      if (parallel) together.push(running);
      else await running;
    }
    await Promise.all(together);
  }

  #start(pending: Pending, synced: Promise<void>): Promise<void> {
    const running = this.#run(pending, synced);
    // Whoever awaits it meets the failure; that may be later than the failure itself.
    running.catch(() => {});
    pending.started = running;
    return running;
  }

  async #run(pending: Pending, synced: Promise<void>): Promise<void> {
    const { call } = pending;
    const { environment, clock, outbox } = this.#options;
    const signal = this.#controller.signal;
    const planned = await pending.planned;
    let startedAt = clock.monotonic();
    const isLast = this.#pending.at(-1)?.call === call;
    if (signal.aborted) return this.#record(call, errorOutput(CANCELLED), startedAt);
    if ('failure' in planned) {
      if (planned.isViolation) {
        const { agent } = environment.identity();
        outbox.push([{ type: 'scopeViolation', id: call.id, agent, tool: call.name }]);
      }
      return this.#record(call, errorOutput(this.#explained(planned)), startedAt);
    }
    if (this.#skipRest && !planned.plan.parallel)
      return this.#record(
        call,
        errorOutput('Not run: an earlier command of this message failed.'),
        startedAt,
      );
    const permission = pending.permission ?? (await this.#permitted(planned));
    if (!permission.granted) {
      this.#denials.push(permission.denied);
      if (isLast) this.#lastRefused = true;
      if (planned.plan.access.kind === 'command') this.#skipRest = true;
      outbox.push([permission.denied]);
      const { advice, stop } = environment.denied(permission.denied);
      const { reason } = permission.denied;
      await this.#record(call, errorOutput(advice === undefined ? reason : `${reason} ${advice}`), startedAt);
      if (stop !== undefined) throw stop;
      return;
    }
    environment.permitted();
    if (!planned.plan.repeatable) await synced;
    const display = await displayOf(planned, signal);
    const { tool, input } = planned;
    const output = await this.#limiter(async () => {
      if (signal.aborted) return errorOutput(CANCELLED);
      // How long somebody thought about it is no matter of the tool.
      startedAt = clock.monotonic();
      outbox.push([{ type: 'toolStart', id: call.id, name: tool.name, input, display }]);
      return runCall(planned, permission.paths, environment, signal);
    });
    if (output.isError && planned.plan.access.kind === 'command') this.#skipRest = true;
    await this.#record(call, output, startedAt);
  }

  /** A model that was never sent the tool cannot know what it takes. */
  #explained({ failure, tool }: UnplannedCall): string {
    if (tool === undefined || this.#options.environment.introduce?.(tool.name) !== true) return failure;
    return `${failure}\n${tool.name}: ${tool.description}\n${JSON.stringify(tool.input)}`;
  }

  async #permitted(planned: Exclude<Planned, { failure: string }>): Promise<Permission> {
    try {
      return await permit(planned, this.#options.environment, this.#controller.signal);
    } catch (error) {
      return refusal(planned, `It could not be asked about: ${messageOf(error)}`);
    }
  }

  async #record(call: ToolCallContent, output: ToolOutput, startedAt: number): Promise<void> {
    await this.#isWritten;
    // The message that asked for it is not on the tape, and never will be.
    if (this.#abandoned) return;
    const { clock } = this.#options;
    const { isError, display } = output;
    const content =
      output.content.length > 0 ? output.content : [{ type: 'text', text: '(no output)' } as const];
    const message = toolResultMessage(call, content, { isError, timestamp: clock.now() });
    const durationMs = clock.monotonic() - startedAt;
    await this.#write({ type: 'toolResult', message, ...(display && { display }), durationMs });
  }

  /** Results that come at the same moment share one write. Resolves when it is done. */
  #write(result: ToolResult): Promise<void> {
    const { outbox, record } = this.#options;
    this.#unwritten.push(result);
    this.#writing ??= Promise.resolve().then(() => {
      const results = this.#unwritten;
      this.#unwritten = [];
      this.#writing = undefined;
      const { synced } = record(results.map(({ message }) => message));
      outbox.push(results, synced);
    });
    return this.#writing;
  }
}

const CANCELLED = 'Not run: the run was cancelled.';

/** At most `limit` tasks at once, begun in the order they were given. */
function createLimiter(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      return await task();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
}
