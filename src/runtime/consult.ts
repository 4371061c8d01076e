// A question to a model beside the conversation: the model for light work where there is one, else the conversation's own.

import { CrabError } from '../core/errors.ts';
import type { RequestCause } from '../core/event.ts';
import type { Model } from '../core/model.ts';
import type { ModelQuestion } from '../core/tool.ts';
import { type AskOptions, ask } from '../engine/ask.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { isOfMoney } from './spending.ts';

export interface Consultation extends Pick<AskOptions, 'emit' | 'spent' | 'signal'> {
  readonly host: RuntimeHost;
  readonly conversation: Conversation;
}

/** The models for light work, in the order in which they are to be asked. */
export function lightModels({
  host,
  conversation,
}: Pick<Consultation, 'host' | 'conversation'>): readonly (() => Promise<Model>)[] {
  const { smallModel } = conversation.declaration.agent;
  const small = smallModel === undefined ? [] : [() => host.models.resolve(smallModel)];
  return [...small, () => conversation.model()];
}

/** One request to this model. Throws the `CrabError` that it failed with. */
export function asked(
  { host, conversation, ...told }: Consultation,
  model: Model,
  question: ModelQuestion,
  cause: RequestCause,
): Promise<string> {
  return ask({
    ...{ ...told, ...question, model, cause },
    conversation: conversation.identity.session,
    accounts: conversation.spending,
    clock: host.clock,
  });
}

/** The answer of the first model that gives one. Throws the `CrabError` of the last that failed. */
export async function consult(
  consultation: Consultation,
  question: ModelQuestion,
  cause: RequestCause = 'aside',
): Promise<string> {
  let failure: unknown;
  for (const find of lightModels(consultation)) {
    try {
      const answer = (await asked(consultation, await find(), question, cause)).trim();
      if (answer !== '') return answer;
    } catch (thrown) {
      if (consultation.signal.aborted || isOfMoney(thrown)) throw thrown;
      failure = thrown;
    }
  }
  throw failure ?? new CrabError('provider-failed', 'The model gave an empty answer.');
}
