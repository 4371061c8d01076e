// One prompt from its first event to its last, which always comes: a signal, a silent provider or a reader
// that went away cancels the run, and a run that does not end in time after that is left behind.

import type { Address } from '../../core/conversation.ts';
import { asCrabError, CrabError, errorData } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Clock } from '../../core/host.ts';
import type { Platform, Prompt } from '../../core/platform.ts';
import type { Answer, Question } from '../../core/question.ts';
import { runEnd } from '../../core/run-end.ts';
import { createActivity } from '../../faces/activity.ts';
import { stoppedBy } from '../../faces/exit-code.ts';
import type { ContextWatch } from '../../policy/compaction.ts';
import type { Printer } from './printer.ts';
import { pauseTooLong, watchIdle } from './watch.ts';

export interface PromptRun {
  readonly platform: Platform;
  readonly address: Address;
  readonly printer: Printer;
  readonly clock: Clock;
  /** Aborts with a `CrabError` that says why: `interrupted`, `terminated`. */
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** Asks for compactions. */
  readonly watch: ContextWatch;
  /** Somebody else may answer what is asked. */
  readonly isShared: boolean;
  /** Shown behind the start of the run. */
  readonly notices: readonly Event[];
}

/** Milliseconds that a cancelled run has to end by itself. */
export const GRACE_MS = 5_000;

const NO_EVENTS: readonly Event[] = [];

/** Never throws. The end it returns has been printed, unless the output itself is what failed. */
export async function runPrompt(run: PromptRun, prompt: Prompt): Promise<RunEnd> {
  const { platform, address, clock } = run;
  const stop = new AbortController();
  const over = new AbortController();
  const activity = createActivity(clock.monotonic());
  let writing = false;
  let broken: CrabError | undefined;
  let abandoned = false;
  let end: RunEnd | undefined;

  const onSignal = (): void => stop.abort(asStop(run.signal.reason));
  if (run.signal.aborted) onSignal();
  else run.signal.addEventListener('abort', onSignal, { once: true });

  async function print(events: readonly Event[]): Promise<void> {
    if (broken || abandoned) return;
    writing = true;
    try {
      await run.printer.print(events);
    } catch (thrown) {
      broken = asCrabError(thrown);
      stop.abort(broken);
    }
    writing = false;
  }

  async function consume(): Promise<RunEnd> {
    let notices = run.notices;
    try {
      for await (const batch of platform.prompt(address, prompt, stop.signal)) {
        activity.see(batch, clock.monotonic());
        const last = batch.at(-1);
        if (last?.type === 'runEnd') end = stoppedBy(last, reasonOf(stop.signal));
        const told = await run.watch.see(batch);
        const events = end ? [...batch.slice(0, -1), ...told, end] : [...batch, ...told];
        await print(notices.length > 0 ? [...events.slice(0, 1), ...notices, ...events.slice(1)] : events);
        notices = [];
        const hopeless = pauseTooLong(batch, run.idleTimeoutMs);
        if (hopeless !== undefined) stop.abort(hopeless);
        if (!run.isShared) await refuseQuestions(platform, address, batch);
        // The provider's silence begins when we listen again.
        activity.see(NO_EVENTS, clock.monotonic());
      }
      return end ?? (await printEnd(new CrabError('internal', 'The run ended without saying how.')));
    } catch (thrown) {
      const error = reasonOf(stop.signal) ?? asCrabError(thrown);
      stop.abort(error);
      return await printEnd(error);
    }
  }

  /** A run has one end: whatever goes wrong behind it changes nothing. */
  async function printEnd(error: CrabError): Promise<RunEnd> {
    if (end) return end;
    end = stoppedEnd(error);
    await print([end]);
    return end;
  }

  async function leaveBehind(): Promise<RunEnd> {
    await aborted(stop.signal, over.signal);
    await clock.sleep(GRACE_MS, over.signal);
    const error = asStop(stop.signal.reason);
    if (!writing) return await printEnd(error);
    abandoned = true;
    return end ?? runEnd('failed', { error });
  }

  const idle = { clock, activity, limitMs: run.idleTimeoutMs, isHeldUp: () => writing };
  watchIdle(idle, AbortSignal.any([stop.signal, over.signal])).then((error) => error && stop.abort(error));
  const consumed = consume();
  const last = await Promise.race([consumed, leaveBehind().catch(() => consumed)]);
  abandoned = true;
  over.abort();
  run.signal.removeEventListener('abort', onSignal);
  // An answer that could not be delivered is no success, whatever became of the run.
  return broken ? { ...last, outcome: 'failed', error: errorData(broken) } : last;
}

/** The error that a signal was aborted with, when it is one that names a reason. */
function reasonOf(signal: AbortSignal): CrabError | undefined {
  return signal.aborted && signal.reason instanceof CrabError ? signal.reason : undefined;
}

/** What a signal was aborted with, as an error. */
export function asStop(reason: unknown): CrabError {
  return reason instanceof CrabError
    ? reason
    : new CrabError('interrupted', 'Interrupted.', { cause: reason });
}

/** The end of a run that a signal or a failure kept from its own. */
export function stoppedEnd(error: CrabError): RunEnd {
  const stopped = error.code === 'interrupted' || error.code === 'terminated';
  return runEnd(stopped ? 'cancelled' : 'failed', { error });
}

/** Resolves when the first signal aborts, rejects when the second does. */
function aborted(signal: AbortSignal, giveUp: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    giveUp.addEventListener('abort', () => reject(giveUp.reason), { once: true });
  });
}

/** Nobody is there to ask: what needs a yes gets a no (law 3). */
async function refuseQuestions(platform: Platform, address: Address, batch: readonly Event[]): Promise<void> {
  for (const event of batch) {
    if (event.type === 'question') await platform.answer(address, event.question.id, refusal(event.question));
  }
}

function refusal(question: Question): Answer {
  if (question.kind === 'choice') return { kind: 'choice', answers: [] };
  return { kind: 'permission', allowed: false, feedback: 'Nobody is there to ask.' };
}
