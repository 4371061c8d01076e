// The wire of Anthropic's Messages API. Loaded only when a model that speaks it is used.

import { AnthropicDecoder } from './anthropic-answer.ts';
import type { AnthropicRates } from './anthropic-cost.ts';
import { explain } from './anthropic-errors.ts';
import { createFiles, type FilesSetup } from './anthropic-files.ts';
import { betasOf } from './anthropic-head.ts';
import { type AnthropicModel, API } from './anthropic-model.ts';
import { createRequestEncoder } from './anthropic-request.ts';
import { explainAws, explainException } from './aws-errors.ts';
import { bedrockFraming } from './bedrock-framing.ts';
import { createCallIds } from './call-ids.ts';
import type { ModelFacts } from './facts.ts';
import type { AnthropicDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface AnthropicSetup {
  readonly provider: string;
  readonly model: string;
  /** What the vendor itself calls the model; `model` when absent. */
  readonly family?: string;
  readonly facts: ModelFacts;
  readonly dialect: AnthropicDialect;
  /** Betas that the person asks for with every request. */
  readonly betas?: readonly string[];
  /** How the Files API is reached, where there is one. */
  readonly files?: FilesSetup;
  readonly random: () => number;
}

export function createAnthropicWire(setup: AnthropicSetup): Wire {
  const model = modelOf(setup);
  const { envelope, structured, files } = model;
  const { price } = setup.facts;
  const rates: AnthropicRates | undefined = price && { price, fastFactor: model.fast?.priceFactor ?? 1 };
  const isFramed = envelope?.framing === 'aws-event-stream';
  const explainAny: Wire['explain'] = isFramed
    ? (body) => explainAws(body) ?? explainException(body) ?? explain(body)
    : explain;
  const callIds = createCallIds(setup.random);
  return {
    api: API,
    path: envelope?.path.replace('{model}', inPath(model.id)) ?? '/v1/messages',
    headers: envelope === undefined ? { 'anthropic-version': '2023-06-01' } : {},
    headersFor(request): Readonly<Record<string, string>> {
      const betas = envelope?.betas === 'body' ? [] : betasOf(request, model);
      return betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') };
    },
    ...(structured && { structured }),
    ...(files && { prepare: ({ messages }, signal) => files.prepare(messages, signal) }),
    ...(isFramed && { framing: bedrockFraming }),
    encode: createRequestEncoder(model),
    decoder: (request) => new AnthropicDecoder(callIds(request.messages), { rates, explain: explainAny }),
    explain: explainAny,
  };
}

/** Google writes its versions behind an `@`, which a path may hold. */
function inPath(id: string): string {
  return encodeURIComponent(id).replaceAll('%40', '@');
}

function modelOf({ provider, model, facts, dialect, ...setup }: AnthropicSetup): AnthropicModel {
  const family = setup.family ?? model;
  const { citations = false, files = false, cacheTtl } = dialect.quirks ?? {};
  return {
    provider,
    id: model,
    maxOutput: facts.maxOutput,
    adaptive: dialect.adaptive.find(({ ids }) => ids.test(family)),
    fast: dialect.fast?.find(({ ids }) => ids.test(family)),
    structured: !citations && dialect.structured?.test(family) === true,
    cacheTtl: cacheTtl === '1h' ? cacheTtl : undefined,
    citations,
    envelope: dialect.envelope,
    betas: setup.betas ?? [],
    files: files && setup.files !== undefined ? createFiles(setup.files) : undefined,
  };
}
