// The wire of Bedrock's ConverseStream, which models of many makers speak. Loaded only when one of them is used.

import { explainAws, explainException } from './aws-errors.ts';
import { converseFraming } from './bedrock-framing.ts';
import { createCallIds } from './call-ids.ts';
import { ConverseDecoder } from './converse-answer.ts';
import { API, createRequestEncoder } from './converse-request.ts';
import type { ModelFacts } from './facts.ts';
import type { ConverseDialect } from './provider-row.ts';
import type { Wire } from './wire.ts';

export interface ConverseSetup {
  readonly provider: string;
  readonly model: string;
  readonly facts: ModelFacts;
  readonly dialect: ConverseDialect;
  readonly random: () => number;
}

export function createConverseWire({ provider, model: id, facts, dialect, random }: ConverseSetup): Wire {
  const callIds = createCallIds(random);
  const canForce = dialect.forced.test(id);
  return {
    api: API,
    path: `/model/${encodeURIComponent(id)}/converse-stream`,
    headers: {},
    framing: converseFraming,
    encode: createRequestEncoder({ provider, id, maxOutput: facts.maxOutput, canForce }),
    decoder: (request) => new ConverseDecoder(request.model, callIds(request.messages)),
    explain: (body) => explainAws(body) ?? explainException(body),
  };
}
