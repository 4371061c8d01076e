// Everything that could be asked, provider by provider: what our table knows, what the servers list themselves, and what
// the person's settings add. One that cannot be reached says why and keeps nobody from listing the others.

import type { Credentials } from '../../core/credential.ts';
import { asCrabError, CrabError, errorData } from '../../core/errors.ts';
import type { ModelFacts, ModelListing, ProviderListing } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { dialectOf } from './create-model.ts';
import {
  type Endpoint,
  type Environment,
  endpointOf,
  hasCredential,
  isKeyless,
  missing,
} from './endpoint.ts';
import { namesOf } from './facts.ts';
import { knownOf, settledOf } from './known-facts.ts';
import { isLoopback } from './limits.ts';
import { canTalk, LIST_MS, type Listed, listModels } from './list-models.ts';
import { findLocalServer, type Looking } from './local-servers.ts';
import type { ProviderRow } from './provider-row.ts';

/** What is asked when nobody names a model. */
export interface Preferred {
  readonly provider: string;
  readonly id: string;
}

export interface Catalogues extends Looking {
  readonly rows: readonly ProviderRow[];
  readonly credentials: Credentials;
  readonly settings: Settings;
  readonly preferred: Preferred | undefined;
  /** The only provider that is wanted. */
  readonly provider: string | undefined;
}

/** Throws `usage` for a provider that does not exist. */
export async function listProviders(from: Catalogues): Promise<readonly ProviderListing[]> {
  const { rows, provider } = from;
  const wanted = provider === undefined ? rows : rows.filter(({ name }) => name === provider);
  if (wanted.length === 0) {
    throw new CrabError('usage', `There is no provider ${JSON.stringify(provider)}.`, {
      hint: `There are ${rows.map(({ name }) => name).join(', ')}.`,
    });
  }
  const listings = await Promise.all(wanted.map((row) => listingOf(row, from)));
  return listings.filter((listing) => listing !== undefined);
}

interface Found {
  /** Undefined while it has no address. */
  readonly endpoint?: Endpoint;
  readonly listed: readonly Listed[];
  readonly missing?: string;
  readonly failure?: CrabError;
}

/** Undefined for a server of this machine that does not run and was not asked for. */
async function listingOf(row: ProviderRow, from: Catalogues): Promise<ProviderListing | undefined> {
  const found = row.local ? await lookHere(row, from) : await lookThere(row, from);
  if (found === undefined) return undefined;
  const { endpoint, listed, missing: absent, failure } = found;
  const local = endpoint !== undefined && isLoopback(endpoint.baseUrl.hostname);
  const isFree = local && (row.local === true || !hasCredential(row, from.credentials));
  return {
    provider: row.name,
    api: endpoint === undefined ? row.dialect.wire : dialectOf(row, '', endpoint).wire,
    baseUrl: endpoint === undefined ? row.baseUrl : endpoint.baseUrl.href.replace(/\/$/, ''),
    local,
    ...(absent !== undefined && { missing: absent }),
    ...(failure !== undefined && { failure: errorData(failure) }),
    models: modelsOf(row, { endpoint, listed, isFree }, from),
  };
}

async function lookHere(row: ProviderRow, from: Catalogues): Promise<Found | undefined> {
  const server = await findLocalServer(row, from, LIST_MS.local);
  if (server !== undefined) {
    return { endpoint: { baseUrl: server.baseUrl, moved: true }, listed: server.models };
  }
  if (from.provider === undefined) return undefined;
  const endpoint = endpointOf(row, from.env);
  return { endpoint, listed: [], missing: `Nobody answers at ${endpoint.baseUrl.host}.` };
}

async function lookThere(row: ProviderRow, from: Catalogues): Promise<Found> {
  const { env, credentials, http, userAgent } = from;
  const account = { provider: row.name, scheme: row.auth };
  const known = addressOf(row, env);
  if (!credentials.has(account) && !isKeyless(row, env)) {
    return { ...(known && { endpoint: known }), listed: [], missing: missing([row], env).message };
  }
  if (known !== undefined && !row.listsModels) return { endpoint: known, listed: [] };
  let endpoint = known;
  try {
    const credential = await credentials.find(account);
    endpoint ??= endpointOf(row, env, credential);
    if (!row.listsModels) return { endpoint, listed: [] };
    const bound = isLoopback(endpoint.baseUrl.hostname) ? LIST_MS.local : LIST_MS.remote;
    const server = { row, endpoint, credential, http, userAgent };
    return { endpoint, listed: await listModels(server, AbortSignal.timeout(bound)) };
  } catch (thrown) {
    const error = asCrabError(thrown);
    if (endpoint === undefined) return { listed: [], missing: error.message };
    return { endpoint, listed: [], failure: error };
  }
}

/** Undefined where the address depends on the account, or cannot be one. */
function addressOf(row: ProviderRow, env: Environment): Endpoint | undefined {
  try {
    return endpointOf(row, env);
  } catch {
    return undefined;
  }
}

interface Stock {
  readonly endpoint: Endpoint | undefined;
  readonly listed: readonly Listed[];
  readonly isFree: boolean;
}

function modelsOf(
  row: ProviderRow,
  { endpoint, listed, isFree }: Stock,
  { settings, preferred }: Catalogues,
): readonly ModelListing[] {
  const models = new Map<string, ModelListing>();
  const add = (id: string, source: ModelListing['source'], said: ModelFacts = {}) => {
    const facts = { ...knownOf(row, id, isFree), ...said, ...settledOf(row, id, settings) };
    const isDefault = preferred?.provider === row.name && preferred.id === id;
    models.set(id, { id, source, isDefault, ...facts });
  };
  // Whoever moved the address has a server whose models are not the vendor's.
  if (!endpoint?.moved) {
    const known = [...namesOf(row.catalogue ?? row.name), ...(row.defaultModel ? [row.defaultModel] : [])];
    for (const id of known) add(id, 'catalogue');
  }
  for (const { id, facts } of listed) if (canTalk(id) && !isRelease(id, listed)) add(id, 'server', facts);
  const named = Object.keys(settings.models).flatMap((key) =>
    key.startsWith(`${row.name}/`) ? [key.slice(row.name.length + 1)] : [],
  );
  for (const id of [...(row.models ?? []), ...named]) if (!models.has(id)) add(id, 'settings');
  if (preferred?.provider === row.name && !models.has(preferred.id)) add(preferred.id, 'settings');
  return [...models.values()];
}

/** A dated release of a model that is listed without its date. */
function isRelease(id: string, listed: readonly Listed[]): boolean {
  const name = id.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return name !== id && listed.some((other) => other.id === name);
}
