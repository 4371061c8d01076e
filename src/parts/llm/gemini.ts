// The wire of Google's Gemini API. Loaded only when a model that speaks it is used.

import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import { GeminiDecoder } from './gemini-answer.ts';
import { explain } from './gemini-errors.ts';
import { API, createRequestEncoder } from './gemini-request.ts';
import type { GeminiDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface GeminiSetup {
  readonly provider: string;
  readonly model: string;
  readonly facts: ModelFacts;
  readonly dialect: GeminiDialect;
  readonly random: () => number;
}

export function createGeminiWire({ provider, model, facts, dialect, random }: GeminiSetup): Wire {
  const callIds = createCallIds(random);
  const family = dialect.families.find(({ ids }) => ids.test(model));
  return {
    api: API,
    path: dialect.path.replace('{model}', encodeURIComponent(model)),
    headers: {},
    structured: family?.modern === true,
    encode: createRequestEncoder({ provider, id: model, maxOutput: facts.maxOutput, family }),
    decoder: (request) => new GeminiDecoder(callIds(request.messages)),
    explain,
  };
}
