// One model of one provider, ready to be asked: its wire, its address and its credential put together. A wire is loaded
// when the first model that speaks it is made.

import type { Credential } from '../../core/credential.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, ModelFacts } from '../../core/model.ts';
import { below, type Endpoint, type Environment } from './endpoint.ts';
import type { Health } from './health.ts';
import type { Http, HttpLimits } from './http.ts';
import { limitsFor } from './limits.ts';
import type { Dialect, ProviderRow } from './provider-row.ts';
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
  /** That of the endpoint. */
  readonly health: Health;
  /** Replaces the bounds of every request. */
  readonly limits: Partial<HttpLimits> | undefined;
  readonly env: Environment;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly maxRetries: number | undefined;
  /** Retries that the settings name; CRAB_MAX_RETRIES wins. */
  readonly configuredRetries: number | undefined;
}

export async function createModel(setup: ModelSetup): Promise<Model> {
  const { row, id, credential, http, env, clock, random } = setup;
  const wire = await createWire(setup);
  const url = below(setup.endpoint.baseUrl, wire.path);
  const answers = createStream({
    wire,
    http,
    health: setup.health,
    limits: { ...limitsFor(url), ...setup.limits },
    provider: {
      name: row.name,
      url,
      secrets: () => credential?.secrets() ?? [],
    },
    headers: {
      ...commonHeaders(setup.userAgent),
      'content-type': 'application/json',
      ...wire.headers,
      ...row.headers,
    },
    credential,
    maxRetries: setup.maxRetries ?? retriesFrom(env['CRAB_MAX_RETRIES'], setup.configuredRetries),
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
    ...answers,
    ...(credential !== undefined && { credential: credential.source }),
  };
}

/** What is spoken at an address: a provider's own hosts understand all that it does. */
export function dialectOf(row: ProviderRow, id: string, { baseUrl, moved }: Endpoint): Dialect {
  const other = row.others?.find(({ ids }) => ids.test(id));
  if (other !== undefined) return other.dialect;
  if (row.moved === undefined || !moved || baseUrl.host === new URL(row.baseUrl).host) return row.dialect;
  return row.moved;
}

async function createWire(setup: ModelSetup): Promise<Wire> {
  const { row, id: model, facts, endpoint, random } = setup;
  const family = row.vendorId?.exec(model)?.[1] ?? model;
  const provider = row.name;
  const dialect = dialectOf(row, model, endpoint);
  switch (dialect.wire) {
    case 'anthropic-messages': {
      const { createAnthropicWire } = await import('./anthropic.ts');
      const betas = row.headers?.['anthropic-beta']?.split(',') ?? [];
      const files = {
        http: setup.http,
        baseUrl: endpoint.baseUrl,
        credential: setup.credential,
        headers: { ...commonHeaders(setup.userAgent), ...row.headers },
        now: () => setup.clock.now(),
      };
      return createAnthropicWire({ provider, model, family, facts, dialect, betas, files, random });
    }
    case 'bedrock-converse': {
      const { createConverseWire } = await import('./converse.ts');
      return createConverseWire({ provider, model, facts, dialect, random });
    }
    case 'openai-completions': {
      const { createOpenAiWire } = await import('./openai-chat.ts');
      return createOpenAiWire({ provider, model, baseUrl: endpoint.baseUrl, facts, dialect, random });
    }
    case 'openai-responses': {
      const { createResponsesWire } = await import('./openai-responses.ts');
      return createResponsesWire({ provider, model, facts, dialect, random });
    }
    case 'google-generative-ai': {
      const { createGeminiWire } = await import('./gemini.ts');
      return createGeminiWire({ provider, model, facts, dialect, random });
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
