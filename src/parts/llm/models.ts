// Finds the model that a name means and makes it ready to be asked. A model is made once and kept, because with
// it lives what its wire remembers of the messages that it has encoded.

import type { Credential, Credentials } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, Models } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { createModel } from './create-model.ts';
import { type Endpoint, type Environment, endpointOf, isKeyless, isOffered, missing } from './endpoint.ts';
import { createHealths } from './health.ts';
import { createHttp, type Http, type HttpLimits } from './http.ts';
import { knownOf, settledOf } from './known-facts.ts';
import { isLoopback } from './limits.ts';
import type { Listed, Server } from './list-models.ts';
import type { Preferred } from './list-providers.ts';
import type { LocalServer } from './local-servers.ts';
import { placedRow } from './place.ts';
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
  /** What lies between us and the network, such as a recording; `redact` removes the keys in use. */
  readonly http?: (real: Http, redact: (text: string) => string) => Http;
}

/** What a name means, as far as the name says it. */
interface Choice {
  readonly row: ProviderRow;
  /** Absent for the provider's default. */
  readonly id?: string;
  /** The row was not chosen by the person: its server was found here. */
  readonly found?: LocalServer;
}

/** What a name means. */
interface Meant {
  readonly server: Server;
  readonly id: string;
  /** Nobody chose it: its server was found here. */
  readonly isFound: boolean;
}

export function createModels(options: ModelsOptions): Models {
  const { env, credentials, settings, clock, random, userAgent } = options;
  const builtIn = (options.providers ?? PROVIDERS).map((row) => placedRow(row, settings.providers[row.name]));
  const used = new Set<Credential>();
  const redact = (text: string) => {
    let clean = text;
    for (const credential of used)
      for (const secret of credential.secrets()) clean = clean.replaceAll(secret, '[key]');
    return clean;
  };
  const network = createHttp(options.limits, { env, settings: settings.network });
  const http = options.http?.(network, redact) ?? network;
  const healthOf = createHealths();
  const looking = { env, http, userAgent };
  const once = rememberPromises();

  // What most people never need is loaded when it is needed: providers of their own, and servers on their machine.

  /** Throws `settings-invalid`. */
  async function allRows(): Promise<readonly ProviderRow[]> {
    if (Object.keys(settings.providers).length === 0) return builtIn;
    const { withOwnProviders } = await import('./own-providers.ts');
    return once('all rows', async () => withOwnProviders(builtIn, settings));
  }

  async function credentialOf(row: ProviderRow): Promise<Credential | undefined> {
    const found = await credentials.find({ provider: row.name, scheme: row.auth });
    if (found === undefined && !isKeyless(row, env)) throw missing([row], env);
    if (found !== undefined) used.add(found);
    return found;
  }

  async function chosen(name: string | undefined): Promise<Choice> {
    const rows = await allRows();
    const choice = choose(name, rows, options);
    if (choice !== undefined) return choice;
    return once(`here ${name ?? ''}`, () => findHere(name, rows));
  }

  async function findHere(name: string | undefined, rows: readonly ProviderRow[]): Promise<Choice> {
    const { findLocalServers } = await import('./local-servers.ts');
    for await (const found of findLocalServers(rows, looking)) {
      const has = name === undefined ? found.models.length > 0 : found.models.some(({ id }) => id === name);
      if (has) return { row: found.row, found, ...(name !== undefined && { id: name }) };
    }
    throw missing(rows, env);
  }

  /** A server on this machine may listen on either version of IP. */
  async function lookFor(row: ProviderRow, place: Endpoint): Promise<LocalServer | undefined> {
    if (!row.local || place.moved) return undefined;
    const { findLocalServer } = await import('./local-servers.ts');
    return once(`at ${row.name}`, () => findLocalServer(row, looking));
  }

  async function defaultModel(server: Server, listed: readonly Listed[] | undefined): Promise<string> {
    const { row, endpoint } = server;
    const named = row.modelKey === undefined ? undefined : env[row.modelKey]?.trim();
    if (named) return named;
    const set = settings.providers[row.name]?.defaultModel ?? (row.ownUrl ? row.models?.[0] : undefined);
    if (set !== undefined) return set;
    const asks = row.listsModels && (endpoint.moved || row.local);
    if (row.defaultModel !== undefined && !asks) return row.defaultModel;
    const { firstOf, LIST_MS, listModels } = await import('./list-models.ts');
    const signal = AbortSignal.timeout(
      isLoopback(endpoint.baseUrl.hostname) ? LIST_MS.local : LIST_MS.remote,
    );
    return firstOf(listed ?? (await listModels(server, signal)), server).id;
  }

  /** Throws `CrabError` where the name leads nowhere. */
  async function meant(name: string | undefined): Promise<Meant> {
    const { row, id: named, found } = await chosen(name?.trim() || settings.model?.trim() || undefined);
    const credential = await credentialOf(row);
    const place = endpointOf(row, env, credential);
    const here = found ?? (await lookFor(row, place));
    const endpoint: Endpoint = here === undefined ? place : { ...place, baseUrl: here.baseUrl };
    const server = { row, endpoint, credential, http, userAgent };
    const id = named ?? (await once(row.name, () => defaultModel(server, here?.models)));
    return { server, id, isFound: found !== undefined };
  }

  async function make({ server, id, isFound }: Meant): Promise<Model> {
    const { row, endpoint, credential } = server;
    const local = isLoopback(endpoint.baseUrl.hostname);
    const isFree = local && (row.local === true || credential === undefined);
    const fixed = settledOf(row, id, settings);
    const facts = { ...knownOf(row, id, isFree), ...fixed };
    const { maxRetries, limits } = options;
    const road = { http, health: healthOf(endpoint.baseUrl), limits };
    const retries = { maxRetries, configuredRetries: settings.providers[row.name]?.maxRetries };
    const setup = { row, id, endpoint, credential, ...road, ...retries, env, clock, random, userAgent };
    const model = await createModel({ ...setup, facts, local });
    const teller = tellerOf(row, endpoint.baseUrl, await allRows());
    if (teller === undefined && !isFree) return model;
    const [{ onOwnServer }, { probe }] = await Promise.all([import('./own-server.ts'), import('./probe.ts')]);
    const watched = onOwnServer(model, {
      name: `${row.name} at ${endpoint.baseUrl.host}`,
      local,
      probe: async (signal) => (teller?.probe === undefined ? {} : probe(teller.probe, id, server, signal)),
      fixed,
      widen: teller?.widen,
      introduction: isFound
        ? `No key is set, so ${id} is asked, which ${row.name} serves on this machine.`
        : undefined,
    });
    if (local) await watched.learn();
    return watched;
  }

  /** What is asked when nobody names a model; undefined where nothing could be. */
  async function preferred(): Promise<Preferred | undefined> {
    try {
      const { server, id } = await meant(undefined);
      return { provider: server.row.name, id };
    } catch (thrown) {
      if (thrown instanceof CrabError && thrown.code !== 'settings-invalid') return undefined;
      throw thrown;
    }
  }

  return {
    async resolve(name) {
      const model = await meant(name);
      return once(`${model.server.row.name}/${model.id}`, () => make(model));
    },
    async list(provider) {
      const { listProviders } = await import('./list-providers.ts');
      const [rows, first] = [await allRows(), await preferred()];
      return listProviders({ ...looking, rows, credentials, settings, provider, preferred: first });
    },
  };
}

/** Who tells more of a model: the row itself, or that of the server which usually listens at this port. */
function tellerOf(
  row: ProviderRow,
  baseUrl: URL,
  rows: readonly ProviderRow[],
): Pick<ProviderRow, 'probe' | 'widen'> | undefined {
  const isUsual = ({ local, baseUrl: usual }: ProviderRow) => local && new URL(usual).port === baseUrl.port;
  const usual = isLoopback(baseUrl.hostname) ? rows.find(isUsual) : undefined;
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
  const first = rows.find((row) => isOffered(row, env, credentials));
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
