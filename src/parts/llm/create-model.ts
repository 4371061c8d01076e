// One model of one provider, ready to be asked: its wire, its address and its credential put together. A wire is loaded
// when the first model that speaks it is made.

import type { Credential } from '../../core/credential.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, ModelFacts } from '../../core/model.ts';
import { below, type Endpoint, type Environment } from './endpoint.ts';
import type { Http } from './http.ts';
import type { ProviderRow } from './provider-row.ts';
import { retriesFrom } from './retry.ts';
import { createStream } from './stream.ts';
import type { Wire } from './wire.ts';

export interface ModelSetup {
  readonly row: ProviderRow;
  readonly id: string;
  /** What is known of the model before its server is asked. */
  readonly facts: ModelFacts;
  /** Whether its server runs on this machine. */
  readonly local: boolean;
  readonly endpoint: Endpoint;
  /** Undefined for a server that needs none. */
  readonly credential: Credential | undefined;
  readonly http: Http;
  readonly env: Environment;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly maxRetries: number | undefined;
}

export async function createModel(setup: ModelSetup): Promise<Model> {
  const { row, id, credential, http, env, clock, random } = setup;
  const wire = await createWire(setup);
  const stream = createStream({
    wire,
    http,
    provider: {
      name: row.name,
      url: below(setup.endpoint.baseUrl, wire.path),
      secrets: () => credential?.secrets() ?? [],
    },
    headers: {
      ...commonHeaders(setup.userAgent),
      'content-type': 'application/json',
      ...wire.headers,
      ...row.headers,
    },
    credential,
    maxRetries: setup.maxRetries ?? retriesFrom(env['CRAB_MAX_RETRIES']),
    clock,
    random,
  });
  return {
    info: {
      provider: row.name,
      id,
      api: wire.api,
      ...setup.facts,
      ...(wire.structured === true && { structured: true }),
      ...(setup.local && { local: true }),
    },
    stream,
    ...(credential !== undefined && { credential: credential.source }),
  };
}

async function createWire({ row, id: model, facts, endpoint, random }: ModelSetup): Promise<Wire> {
  const { dialect, name } = row;
  switch (dialect.wire) {
    case 'anthropic-messages': {
      const { createAnthropicWire } = await import('./anthropic.ts');
      return createAnthropicWire({ provider: name, model, facts, dialect, random });
    }
    case 'openai-completions': {
      const { createOpenAiWire } = await import('./openai-chat.ts');
      return createOpenAiWire({ provider: name, model, baseUrl: endpoint.baseUrl, facts, dialect, random });
    }
  }
}

/** Compression would only delay the small pieces that a stream is made of. */
export function commonHeaders(userAgent: string): Record<string, string> {
  return {
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
}
