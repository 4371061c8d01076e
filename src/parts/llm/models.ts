// Finds the model that a name means and makes it ready to be asked. A model is made once and kept, because with
// it lives what its wire remembers of the messages that it has encoded.

import type { Credential, Credentials } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, Models } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { createModel } from './create-model.ts';
import {
  type Endpoint,
  type Environment,
  endpointOf,
  hasAccess,
  isKeyless,
  isLoopback,
  missing,
} from './endpoint.ts';
import { createHttp, type Http, type HttpLimits } from './http.ts';
import { knownOf, settledOf } from './known-facts.ts';
import { firstOf, LIST_MS, listModels, type Server } from './list-models.ts';
import type { Preferred } from './list-providers.ts';
import { findLocalServer, findLocalServers, type LocalServer } from './local-servers.ts';
import { withOwnProviders } from './own-providers.ts';
import { type OwnModel, onOwnServer } from './own-server.ts';
import { probe } from './probe.ts';
import type { ProviderRow } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';

export interface ModelsOptions {
  readonly env: Environment;
  readonly credentials: Credentials;
  readonly settings: Settings;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly userAgent: string;
  /** Tries after the first; wins over CRAB_MAX_RETRIES. */
  readonly maxRetries?: number;
  /** Replaces the bounds of every request. */
  readonly limits?: Partial<HttpLimits>;
  readonly providers?: readonly ProviderRow[];
  /** In place of the network. */
  readonly http?: Http;
}

/** What a name means, before anybody is asked. */
interface Choice {
  readonly row: ProviderRow;
  /** Absent for the provider's default. */
  readonly id?: string;
  /** The row was not chosen by the person: its server was found here. */
  readonly found?: LocalServer;
}

/** Throws `settings-invalid`. */
export function createModels(options: ModelsOptions): Models {
  const { env, credentials, settings, clock, random, userAgent } = options;
  const rows = withOwnProviders(options.providers ?? PROVIDERS, settings);
  const http = options.http ?? createHttp(options.limits);
  const looking = { env, http, userAgent };
  const once = rememberPromises();

  async function credentialOf(row: ProviderRow): Promise<Credential | undefined> {
    const found = await credentials.find({ provider: row.name, scheme: row.auth });
    if (found === undefined && !isKeyless(row, env)) throw missing([row], env);
    return found;
  }

  /** A server on this machine may listen on either version of IP. */
  async function placeOf(row: ProviderRow): Promise<Endpoint> {
    const endpoint = endpointOf(row, env);
    if (!row.local) return endpoint;
    const server = await once(`at ${row.name}`, () => findLocalServer(row, looking));
    return server === undefined ? endpoint : { ...endpoint, baseUrl: server.baseUrl };
  }

  async function defaultModel(server: Server): Promise<string> {
    const { row, endpoint } = server;
    const chosen = row.modelKey === undefined ? undefined : env[row.modelKey]?.trim();
    if (chosen) return chosen;
    const own = settings.providers[row.name]?.defaultModel ?? (row.ownUrl ? row.models?.[0] : undefined);
    if (own !== undefined) return own;
    const asks = row.listsModels && (endpoint.moved || row.local);
    if (row.defaultModel !== undefined && !asks) return row.defaultModel;
    const signal = AbortSignal.timeout(isLoopback(endpoint.baseUrl) ? LIST_MS.local : LIST_MS.remote);
    return firstOf(await listModels(server, signal), server).id;
  }

  async function make(server: Server, id: string, found: LocalServer | undefined): Promise<Model> {
    const { row, endpoint, credential } = server;
    const local = isLoopback(endpoint.baseUrl);
    const fixed = settledOf(row, id, settings);
    const facts = { ...knownOf(row, id, local && credential === undefined), ...fixed };
    const { maxRetries } = options;
    const setup = { row, id, endpoint, credential, http, env, clock, random, userAgent, maxRetries };
    const model = await createModel({ ...setup, facts, local });
    const asks = probeOf(row, endpoint.baseUrl, rows);
    const isOwn = local && credential === undefined;
    if (asks === undefined && !isOwn) return model;
    const own: OwnModel = onOwnServer(model, {
      name: `${row.name} at ${endpoint.baseUrl.host}`,
      local,
      probe: async (signal) => (asks?.probe === undefined ? {} : probe(asks.probe, id, server, signal)),
      fixed,
      widen: asks?.widen,
      introduction: found && `No key is set, so ${id} is asked, which ${row.name} serves on this machine.`,
    });
    if (local) await own.learn();
    return own;
  }

  async function chosen(name: string | undefined): Promise<Choice> {
    const choice = choose(name, rows, options);
    if (choice !== undefined) return choice;
    for await (const found of findLocalServers(rows, looking)) {
      const has = name === undefined ? found.models.length > 0 : found.models.some(({ id }) => id === name);
      if (has) return { row: found.row, found, ...(name !== undefined && { id: name }) };
    }
    throw missing(rows, env);
  }

  /** Throws `CrabError` where the name leads nowhere. */
  async function meant(name: string | undefined) {
    const { row, id: named, found } = await chosen(name?.trim() || settings.model?.trim() || undefined);
    const endpoint = found === undefined ? await placeOf(row) : { baseUrl: found.baseUrl, moved: false };
    const server = { row, endpoint, credential: await credentialOf(row), http, userAgent };
    const id = named ?? (await once(row.name, () => defaultModel(server)));
    return { row, id, server, found };
  }

  /** What is asked when nobody names a model; undefined where nothing could be. */
  async function preferred(): Promise<Preferred | undefined> {
    try {
      const { row, id } = await meant(undefined);
      return { provider: row.name, id };
    } catch (thrown) {
      if (thrown instanceof CrabError) return undefined;
      throw thrown;
    }
  }

  return {
    async resolve(name) {
      const { row, id, server, found } = await meant(name);
      return once(`${row.name}/${id}`, () => make(server, id, found));
    },
    async list(provider) {
      const { listProviders } = await import('./list-providers.ts');
      return listProviders({
        ...looking,
        rows,
        credentials,
        settings,
        provider,
        preferred: await preferred(),
      });
    },
  };
}

/** Who tells more of a model: the row itself, or that of the server which usually listens at this port. */
function probeOf(
  row: ProviderRow,
  baseUrl: URL,
  rows: readonly ProviderRow[],
): Pick<ProviderRow, 'probe' | 'widen'> | undefined {
  const isUsual = ({ local, baseUrl: usual }: ProviderRow) => local && new URL(usual).port === baseUrl.port;
  const usual = isLoopback(baseUrl) ? rows.find(isUsual) : undefined;
  if (usual !== undefined) return usual;
  return row.probe === undefined ? undefined : row;
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

/** Undefined where the name says no provider and nobody is let in anywhere. */
function choose(
  name: string | undefined,
  rows: readonly ProviderRow[],
  { env, credentials }: ModelsOptions,
): Choice | undefined {
  const first = rows.find((row) => hasAccess(row, env, credentials));
  if (name === undefined) return first && { row: first };
  const slash = name.indexOf('/');
  const named = rows.find((row) => row.name === name.slice(0, Math.max(slash, 0)));
  const id = named === undefined ? name : name.slice(slash + 1);
  if (!/^[\x21-\x7e]+$/.test(id)) {
    throw new CrabError('model-unknown', `${JSON.stringify(name)} is not the name of a model.`);
  }
  const row =
    named ??
    rows.find(({ models }) => models?.includes(id)) ??
    rows.find(({ ids }) => ids?.test(id)) ??
    first;
  return row && { row, id };
}
