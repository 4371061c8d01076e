// The wire of OpenAI's Chat Completions API. Loaded only when a model that speaks it is used.

import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import { OpenAiDecoder } from './openai-answer.ts';
import { explain } from './openai-errors.ts';
import { API, createRequestEncoder } from './openai-request.ts';
import type { OpenAiDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface OpenAiSetup {
  readonly model: string;
  readonly baseUrl: URL;
  readonly facts: ModelFacts;
  readonly dialect: OpenAiDialect;
  readonly random: () => number;
}

export function createOpenAiWire({ model, baseUrl, facts, dialect, random }: OpenAiSetup): Wire {
  const host = baseUrl.hostname;
  const callIds = createCallIds(random);
  const isOwn = dialect.completionTokenHosts.some((own) => host === own || host.endsWith(`.${own}`));
  return {
    api: API,
    path: '/chat/completions',
    headers: {},
    encode: createRequestEncoder({
      maxOutput: facts.maxOutput,
      maxTokensField: isOwn ? 'max_completion_tokens' : 'max_tokens',
      efforts: dialect.efforts.find(({ ids }) => ids.test(model)),
    }),
    decoder: (request) => new OpenAiDecoder(callIds(request.messages)),
    explain,
  };
}
