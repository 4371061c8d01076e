// The wire of OpenAI's Responses API. Loaded only when a model that speaks it is used.

import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import { ResponsesDecoder } from './openai-responses-answer.ts';
import { explain } from './openai-responses-errors.ts';
import { API, createRequestEncoder } from './openai-responses-request.ts';
import type { ResponsesDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface ResponsesSetup {
  readonly provider: string;
  readonly model: string;
  readonly facts: ModelFacts;
  readonly dialect: ResponsesDialect;
  readonly random: () => number;
}

export function createResponsesWire({ provider, model, facts, dialect, random }: ResponsesSetup): Wire {
  const callIds = createCallIds(random);
  const { conversationHeader, path = '/responses' } = dialect;
  return {
    api: API,
    path,
    headers: {},
    structured: true,
    headersFor: ({ conversation }) =>
      conversationHeader === undefined || conversation === undefined
        ? {}
        : { [conversationHeader]: conversation },
    encode: createRequestEncoder({ provider, id: model, maxOutput: facts.maxOutput, dialect }),
    decoder: (request) => new ResponsesDecoder(callIds(request.messages)),
    explain,
  };
}
