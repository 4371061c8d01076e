// The wire of Anthropic's Messages API. Loaded only when a model that speaks it is used.

import { AnthropicDecoder } from './anthropic-answer.ts';
import { explain } from './anthropic-errors.ts';
import { API, createRequestEncoder } from './anthropic-request.ts';
import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import type { AnthropicDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface AnthropicSetup {
  readonly provider: string;
  readonly model: string;
  readonly facts: ModelFacts;
  readonly dialect: AnthropicDialect;
  readonly random: () => number;
}

export function createAnthropicWire(setup: AnthropicSetup): Wire {
  const adaptive = setup.dialect.adaptive.find(({ ids }) => ids.test(setup.model));
  const { maxOutput } = setup.facts;
  const callIds = createCallIds(setup.random);
  return {
    api: API,
    path: '/v1/messages',
    headers: {
      'anthropic-version': '2023-06-01',
      ...(adaptive?.bound && { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }),
    },
    encode: createRequestEncoder({ provider: setup.provider, id: setup.model, maxOutput, adaptive }),
    decoder: (request) => new AnthropicDecoder(callIds(request.messages)),
    explain,
  };
}
