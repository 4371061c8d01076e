// The wire of OpenAI's Chat Completions API. Loaded only when a model that speaks it is used.

import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import { OpenAiDecoder } from './openai-answer.ts';
import { explain } from './openai-errors.ts';
import { API } from './openai-message.ts';
import { quirksFor } from './openai-quirks.ts';
import { createRequestEncoder } from './openai-request.ts';
import type { OpenAiDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface OpenAiSetup {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: URL;
  readonly facts: ModelFacts;
  readonly dialect: OpenAiDialect;
  readonly random: () => number;
}

export function createOpenAiWire({ provider, model, baseUrl, facts, dialect, random }: OpenAiSetup): Wire {
  const quirks = quirksFor(dialect, model, baseUrl);
  const { path = '/chat/completions', conversationHeader } = quirks;
  const callIds = createCallIds(random);
  return {
    api: API,
    path: path.replace('{model}', encodeURIComponent(model)),
    headers: {},
    ...(conversationHeader !== undefined && {
      headersFor: ({ conversation }) =>
        conversation === undefined ? {} : { [conversationHeader]: conversation },
    }),
    structured: quirks.responseFormat === 'json_schema',
    encode: createRequestEncoder({ provider, id: model, maxOutput: facts.maxOutput, quirks }),
    decoder: ({ messages, tools }) => new OpenAiDecoder({ callId: callIds(messages), quirks, tools }),
    explain,
  };
}
