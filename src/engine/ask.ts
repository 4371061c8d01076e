// One question to a model outside the loop: no tools, no history, an answer in words. It is counted, paid and held to
// the budgets like every other request.

import { asCrabError, CrabError } from '../core/errors.ts';
import type { Event, RequestCause, RequestEnd } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import { userMessage } from '../core/message.ts';
import type { Model, ModelChunk, ModelRequest } from '../core/model.ts';
import { Answer } from './answer.ts';
import { affordableTokens, leastOf } from './budget.ts';
import { Meter } from './meter.ts';
import type { Accounts } from './requests.ts';

export interface AskOptions {
  readonly model: Model;
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly cause: RequestCause;
  readonly conversation: string;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  emit(event: Event): void;
  /** Told of each try when it is over. */
  spent(request: RequestEnd): void;
}

/** The text of the answer, which may be empty. Throws the `CrabError` that the request failed with. */
export async function ask(options: AskOptions): Promise<string> {
  const { model, system, prompt, cause, conversation, accounts, clock, signal } = options;
  const { info } = model;
  const messages = [userMessage(prompt, clock.now())];
  const content: Pick<ModelRequest, 'system' | 'messages' | 'tools'> = { system, messages, tools: [] };
  const most = Math.min(options.maxTokens, info.maxOutput ?? Number.POSITIVE_INFINITY);
  const least = leastOf(accounts.budgets());
  const maxTokens =
    least === undefined ? most : Math.min(most, affordableTokens(least, info, content, clock.now()));
  const request: ModelRequest = { model: info.id, ...content, maxTokens, effort: 'off', conversation };
  const meter = new Meter({ info, request, cause, clock });
  const answer = new Answer(info);
  const over = (end: RequestEnd | undefined): void => {
    if (end === undefined) return;
    accounts.spent(end);
    options.spent(end);
    options.emit(end);
  };
  const end = await receive(options, request, answer, meter, over);
  if (end.type === 'end') {
    over(meter.ended(end));
    return answer.text;
  }
  over(meter.failed(end, answer.written(), signal.aborted));
  throw signal.aborted ? new CrabError('interrupted', 'Interrupted.', { cause: end.error }) : end.error;
}

async function receive(
  { model, emit, signal }: AskOptions,
  request: ModelRequest,
  answer: Answer,
  meter: Meter,
  over: (end: RequestEnd | undefined) => void,
): Promise<Extract<ModelChunk, { type: 'end' | 'failure' }>> {
  try {
    for await (const chunks of model.stream(request, signal))
      for (const chunk of chunks) {
        if (chunk.type === 'end' || chunk.type === 'failure') return chunk;
        if (chunk.type === 'messageStart') meter.begun();
        if (chunk.type === 'retry') {
          over(meter.retried(chunk));
          emit({ ...chunk, model: model.info.id });
        } else answer.take(chunk);
      }
    const error = new CrabError('stream-cut', `${model.info.provider} ended its answer without an end.`);
    return { type: 'failure', error };
  } catch (thrown) {
    return { type: 'failure', error: asCrabError(thrown) };
  }
}
