// Finds the model that a name means and makes it ready to be asked. A model is made once and kept, because with
// it lives what its wire remembers of the messages that it has encoded.

import type { Credential, Credentials } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Models } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { createModel } from './create-model.ts';
import { type Endpoint, type Environment, endpointOf, isKeyless, isOffered, missing } from './endpoint.ts';
import { createHealths } from './health.ts';
import { createHttp, type Http, type HttpLimits } from './http.ts';
import { firstModel } from './list-models.ts';
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

interface Choice {
  readonly row: ProviderRow;
  /** Absent for the provider's default. */
  readonly id?: string;
}

export function createModels(options: ModelsOptions): Models {
  const { env, credentials, clock, random, userAgent } = options;
  const rows = (options.providers ?? PROVIDERS).map((row) =>
    placedRow(row, options.settings.providers[row.name]),
  );
  const used = new Set<Credential>();
  const redact = (text: string) => {
    let clean = text;
    for (const credential of used)
      for (const secret of credential.secrets()) clean = clean.replaceAll(secret, '[key]');
    return clean;
  };
  const network = createHttp(options.limits, { env, settings: options.settings.network });
  const http = options.http?.(network, redact) ?? network;
  const healthOf = createHealths();
  const once = rememberPromises();

  async function credentialOf(row: ProviderRow) {
    const found = await credentials.find({ provider: row.name, scheme: row.auth });
    if (found === undefined && !isKeyless(row, env)) throw missing([row], env);
    if (found !== undefined) used.add(found);
    return found;
  }

  async function defaultModel(row: ProviderRow, endpoint: Endpoint): Promise<string> {
    const chosen = row.modelKey === undefined ? undefined : env[row.modelKey]?.trim();
    if (chosen) return chosen;
    if (row.defaultModel !== undefined && !(row.listsModels && endpoint.moved)) return row.defaultModel;
    return firstModel({ row, endpoint, credential: await credentialOf(row), http, userAgent });
  }

  return {
    async resolve(name) {
      const { row, id: named } = choose(name?.trim() || undefined, rows, options);
      const credential = await credentialOf(row);
      const endpoint = endpointOf(row, env, credential);
      const id = named ?? (await once(row.name, () => defaultModel(row, endpoint)));
      const { maxRetries, limits, settings } = options;
      const road = { http, health: healthOf(endpoint.baseUrl), limits };
      const retries = { maxRetries, configuredRetries: settings.providers[row.name]?.maxRetries };
      return once(`${row.name}/${id}`, () =>
        createModel({ row, id, endpoint, credential, ...road, ...retries, env, clock, random, userAgent }),
      );
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

function choose(
  name: string | undefined,
  rows: readonly ProviderRow[],
  { env, credentials }: ModelsOptions,
): Choice {
  const first = rows.find((row) => isOffered(row, env, credentials));
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
  const row = named ?? rows.find(({ ids }) => ids?.test(id)) ?? first;
  if (row === undefined) throw missing(rows, env);
  return { row, id };
}
