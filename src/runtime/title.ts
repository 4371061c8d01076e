// A title for a conversation, from a model that is told what was said in it. Only for whoever asks for one (law 9).

import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { cleanTitle, TITLE_SYSTEM, titlePrompt } from '../engine/title.ts';
import { consult } from './consult.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';

export interface Titling {
  readonly host: RuntimeHost;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  emit(event: Event): void;
}

/** Room for a model that thinks aloud before it says seven words. */
const TITLE_TOKENS = 400;

/** Throws `CrabError`: why there is none. */
export async function makeTitle(titling: Titling): Promise<string> {
  const { host, conversation } = titling;
  const prompt = titlePrompt(conversation.view.messages());
  if (prompt === undefined)
    throw new CrabError('usage', 'Nothing was said yet that a title could be made from.', {
      hint: 'Say it yourself: ,title fix the parser',
    });
  const redact = host.redact ?? ((text: string) => text);
  const question = { system: TITLE_SYSTEM, prompt: redact(prompt), maxTokens: TITLE_TOKENS };
  const title = cleanTitle(redact(await consult({ ...titling, spent: () => {} }, question, 'title')));
  if (title === '')
    throw new CrabError('provider-protocol', 'The model gave no title.', { hint: 'Try again.' });
  return title;
}
