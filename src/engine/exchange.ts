// One request to a model, from sending it to its last chunk: what arrives goes into the answer, to the step that runs
// its calls, and on to whoever listens.

import { asCrabError, CrabError } from '../core/errors.ts';
import type { Event, RequestCause, RequestEnd } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import type { Model, ModelChunk, ModelRequest } from '../core/model.ts';
import { Answer } from './answer.ts';
import type { Journal } from './journal.ts';
import { Meter } from './meter.ts';
import type { Outbox } from './outbox.ts';
import type { Step } from './step.ts';

export interface ExchangeOptions {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly cause: RequestCause;
  readonly step: Step;
  readonly outbox: Outbox<Event>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of each try as soon as it is over, whether somebody listens to the events or not. */
  spent(request: RequestEnd): void;
}

/** What one request came to. */
export interface Exchange {
  readonly answer: Answer;
  readonly step: Step;
  readonly end: Extract<ModelChunk, { type: 'end' | 'failure' }>;
  /** The last try; undefined when it was never sent. Its event has yet to leave. */
  readonly over: RequestEnd | undefined;
}

export async function exchange(options: ExchangeOptions): Promise<Exchange> {
  const { model, request, cause, step, clock, signal } = options;
  const { info } = model;
  const answer = new Answer(info);
  const meter = new Meter({ info, request, cause, clock });
  let end: Exchange['end'];
  try {
    end = (await receive(options, answer, meter)) ?? {
      type: 'failure',
      error: new CrabError('stream-cut', `${info.provider} ended its answer without an end.`),
    };
  } catch (thrown) {
    // A model does not throw (law 2). Whatever did, the request was sent and has its line.
    end = { type: 'failure', error: asCrabError(thrown) };
  }
  const over = end.type === 'end' ? meter.ended(end) : meter.failed(end, answer.written(), signal.aborted);
  if (over !== undefined) options.spent(over);
  return { answer, step, end, over };
}

async function receive(
  { model, request, step, outbox, journal, signal, spent }: ExchangeOptions,
  answer: Answer,
  meter: Meter,
): Promise<Exchange['end'] | undefined> {
  const { api, provider, id } = model.info;
  let end: Exchange['end'] | undefined;
  let written = 0;
  for await (const chunks of model.stream(request, signal)) {
    const events: Event[] = [];
    for (const chunk of chunks) {
      if (chunk.type === 'end' || chunk.type === 'failure') {
        end = chunk;
        continue;
      }
      if (chunk.type === 'messageStart') meter.begun();
      if (chunk.type === 'retry') {
        const over = meter.retried(chunk);
        if (over !== undefined) {
          spent(over);
          events.push(over);
        }
      }
      const call = answer.take(chunk);
      if (call?.type === 'toolCall') step.arrived(call);
      else if (call?.type === 'badCall') step.arrivedBad(call);
      const event = eventOf(chunk, id);
      if (event !== undefined) events.push(event);
    }
    outbox.push(events);
    if (answer.text.length > written) {
      written = answer.text.length;
      journal.partial({ api, provider, model: id, text: answer.text });
    }
    // The listener's pace is ours: nothing is read from the network that nobody has taken.
    if (outbox.backlog > 1) await outbox.drained();
  }
  return end;
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
