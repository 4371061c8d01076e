// Finds the model that a name means and makes it ready to be asked. A model is made once and kept, because with
// it lives what its wire remembers of the messages that it has encoded.

import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, Models } from '../../core/model.ts';
import { readText } from './attempt.ts';
import { type Access, accessTo, below, type Environment, hasAccess, missing } from './credentials.ts';
import { factsOf } from './facts.ts';
import { protocolFailure, redirectFailure, statusFailure } from './failure.ts';
import { createHttp, type Http, type HttpLimits, type HttpRequest } from './http.ts';
import { PROVIDERS, type ProviderRow } from './providers.ts';
import { retriesFrom } from './retry.ts';
import { createStream } from './stream.ts';
import type { Wire } from './wire.ts';

export interface ModelsOptions {
  readonly env: Environment;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly userAgent: string;
  /** Tries after the first; wins over CRAB_MAX_RETRIES. */
  readonly maxRetries?: number;
  /** Replaces the bounds of every request. */
  readonly limits?: Partial<HttpLimits>;
  readonly providers?: readonly ProviderRow[];
}

interface Choice {
  readonly row: ProviderRow;
  /** Absent for the provider's default. */
  readonly id?: string;
}

const LIST_BYTES = 4 * 1024 * 1024;
const LIST_MS = 10_000;

export function createModels(options: ModelsOptions): Models {
  const { env } = options;
  const rows = options.providers ?? PROVIDERS;
  const http = createHttp(options.limits);
  const once = rememberPromises();
  return {
    async resolve(name) {
      const { row, id: named } = choose(name?.trim() || undefined, rows, env);
      const access = accessTo(row, env);
      const id = named ?? (await once(row.name, () => defaultModel(row, access, http, options)));
      return once(`${row.name}/${id}`, () => createModel(row, id, access, http, options));
    },
  };
}

/** Makes each thing once; what failed is tried again when it is next asked for. */
function rememberPromises(): <T>(key: string, make: () => Promise<T>) => Promise<T> {
  const known = new Map<string, Promise<unknown>>();
  return <T>(key: string, make: () => Promise<T>) => {
    const made = (known.get(key) as Promise<T> | undefined) ?? make();
    known.set(key, made);
    made.catch(() => known.delete(key));
    return made;
  };
}

function choose(name: string | undefined, rows: readonly ProviderRow[], env: Environment): Choice {
  const first = rows.find((row) => hasAccess(row, env));
  if (name === undefined) {
    if (first === undefined) throw missing(rows, env);
    return { row: first };
  }
  const slash = name.indexOf('/');
  const named = rows.find((row) => row.name === name.slice(0, Math.max(slash, 0)));
  const id = named === undefined ? name : name.slice(slash + 1);
  if (!/^[\x21-\x7e]+$/.test(id)) {
    throw new CrabError('model-unknown', `${JSON.stringify(name)} is not the name of a model.`);
  }
  const row = named ?? rows.find(({ ids }) => ids.test(id)) ?? first;
  if (row === undefined) throw missing(rows, env);
  return { row, id };
}

async function defaultModel(
  row: ProviderRow,
  access: Access,
  http: Http,
  options: ModelsOptions,
): Promise<string> {
  const chosen = options.env[row.modelKey]?.trim();
  if (chosen) return chosen;
  return row.listsModels && access.moved ? firstModel(row, access, http, options) : row.defaultModel;
}

/** The model that a server lists first. */
async function firstModel(
  row: ProviderRow,
  access: Access,
  http: Http,
  { userAgent }: ModelsOptions,
): Promise<string> {
  const url = below(access.baseUrl, '/models');
  const provider = { name: row.name, url, secret: access.secret };
  const headers = { ...commonHeaders(userAgent), ...access.headers };
  const { status, location, text } = await list(http, { method: 'GET', url, headers });
  const hint = 'Name a model with --model.';
  if (status >= 300 && status < 400) throw redirectFailure(provider, status, location);
  if (status !== 200) {
    const { code, message } = statusFailure(provider, status, { message: text });
    throw new CrabError(code, message, { status, hint });
  }
  const id = firstId(text);
  if (id === undefined) throw protocolFailure(provider, 'did not answer with a list of models', text);
  if (id === '') throw new CrabError('model-unknown', `${url.host} has no model to offer.`, { hint });
  return id;
}

async function list(
  http: Http,
  request: HttpRequest,
): Promise<{ status: number; location: string | undefined; text: string }> {
  const signal = AbortSignal.timeout(LIST_MS);
  try {
    const answer = await http.send(request, signal);
    const text = await readText(answer, LIST_BYTES);
    answer.destroy();
    return { status: answer.status, location: answer.headers.location, text };
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    const text = `${request.url.host} did not list its models within ${LIST_MS / 1000} seconds.`;
    throw new CrabError('provider-stalled', text, { hint: 'Name a model with --model.' });
  }
}

/** Empty when the list is; undefined when it is no list. */
function firstId(text: string): string | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: readonly { id?: unknown }[] };
    if (!Array.isArray(data)) return undefined;
    const id: unknown = data.length === 0 ? '' : data[0]?.id;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

async function createModel(
  row: ProviderRow,
  id: string,
  access: Access,
  http: Http,
  options: ModelsOptions,
): Promise<Model> {
  const wire = await createWire(row, id, access, options);
  const stream = createStream({
    wire,
    http,
    provider: { name: row.name, url: below(access.baseUrl, wire.path), secret: access.secret },
    headers: {
      ...commonHeaders(options.userAgent),
      'content-type': 'application/json',
      ...wire.headers,
      ...access.headers,
    },
    maxRetries: options.maxRetries ?? retriesFrom(options.env['CRAB_MAX_RETRIES']),
    clock: options.clock,
    random: options.random,
  });
  return { info: { provider: row.name, id, api: wire.api, ...factsOf(id) }, stream };
}

async function createWire(
  { name, dialect }: ProviderRow,
  model: string,
  { baseUrl }: Access,
  { random }: ModelsOptions,
): Promise<Wire> {
  const facts = factsOf(model);
  switch (dialect.wire) {
    case 'anthropic-messages': {
      const { createAnthropicWire } = await import('./anthropic.ts');
      return createAnthropicWire({ provider: name, model, facts, dialect, random });
    }
    case 'openai-completions': {
      const { createOpenAiWire } = await import('./openai-chat.ts');
      return createOpenAiWire({ model, baseUrl, facts, dialect, random });
    }
  }
}

/** Compression would only delay the small pieces that a stream is made of. */
function commonHeaders(userAgent: string): Record<string, string> {
  return {
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
}
