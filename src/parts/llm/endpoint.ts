// Where a provider is: its own address, or the one that the person gave in its place.

import type { Credential, Credentials } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { accountPath, placedUrl } from './place.ts';
import type { ProviderRow } from './provider-row.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  readonly baseUrl: URL;
  /** Whether the address is somebody's own choice. */
  readonly moved: boolean;
}

/** Throws `usage`. */
export function endpointOf(row: ProviderRow, env: Environment, credential?: Credential): Endpoint {
  const own = row.baseUrlKey === undefined ? undefined : env[row.baseUrlKey];
  const moved = isSet(own);
  const baseUrl = moved ? parseBaseUrl(own, row.baseUrlKey ?? '', row) : placedUrl(row, env, credential);
  return { baseUrl: below(baseUrl, accountPath(row, env, credential)), moved };
}

/** Whether a request to this provider could be made at all, as far as somebody has said so. */
export function hasAccess(row: ProviderRow, env: Environment, credentials: Credentials): boolean {
  return credentials.has({ provider: row.name, scheme: row.auth }) || (row.keyless && isMoved(row, env));
}

/** Whether this provider is one to take when nobody names any. */
export function isOffered(row: ProviderRow, env: Environment, credentials: Credentials): boolean {
  const isMeant = row.meantBy === undefined || row.meantBy.some((name) => isSet(env[name]));
  return isMeant && hasAccess(row, env, credentials);
}

/** A server of one's own needs no key. */
export function isKeyless(row: ProviderRow, env: Environment): boolean {
  return row.local === true || (row.keyless && isMoved(row, env));
}

function isMoved({ baseUrlKey }: ProviderRow, env: Environment): boolean {
  return baseUrlKey !== undefined && isSet(env[baseUrlKey]);
}

/** Of so many providers each is named; of more, the first, which are those that most people have. */
const NAMED = 2;

/** Names the variables that would have helped. */
export function missing(rows: readonly ProviderRow[], env: Environment): CrabError {
  const [only, ...more] = rows;
  if (only?.access !== undefined && more.length === 0)
    return new CrabError('auth-missing', `There are no credentials for ${only.name}.`, { hint: only.access });
  const all = rows.flatMap(keysOf);
  const empty = all.filter((key) => env[key] !== undefined);
  const named = rows.slice(0, NAMED);
  const keys = named.flatMap(keysOf);
  const others = rows.length - named.length;
  const also = named
    .filter(({ keyless }) => keyless)
    .map(({ baseUrlKey }) => `${baseUrlKey} for a local server`);
  const where = others === 0 ? '' : ` \`${GUIDE}\` lists ${others} providers more.`;
  const settable = [...(empty.length > 0 ? empty : keys), ...also];
  const set = settable.length === 0 ? 'Run' : `Set ${settable.join(' or ')}, or run`;
  const hint = { hint: `${set} \`crab auth login\`.${where}` };
  if (empty.length > 0) {
    const verb = empty.length === 1 ? 'is' : 'are';
    return new CrabError('auth-missing', `${empty.join(' and ')} ${verb} set, but empty.`, hint);
  }
  const who = named.map(({ name }) => name).join(' or ');
  const rest = others === 0 ? '' : `, nor for one of ${others} others`;
  const none = keys.length === 0 ? '' : `: none of ${keys.join(', ')} is set, and nothing is stored`;
  return new CrabError('auth-missing', `There was no API key found for ${who}${none}${rest}.`, hint);
}

const GUIDE = 'docs/guide/providers.md';

function keysOf({ auth }: ProviderRow): readonly string[] {
  return auth.kind === 'key' ? auth.variables.map(({ name }) => name) : [];
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

/** `from` is where the text was found, for errors. */
function parseBaseUrl(text: string, from: string, row: ProviderRow): URL {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CrabError('usage', `${from} is not an http or https URL.`, {
      hint: `Set it to an address such as ${row.baseUrl}.`,
    });
  }
  if (url.username !== '' || url.password !== '') {
    const keys = keysOf(row);
    throw new CrabError('usage', `${from} must not hold a user name or a password.`, {
      hint: keys.length === 0 ? 'Leave them out.' : `Set ${keys.join(' or ')} instead.`,
    });
  }
  url.hash = '';
  url.pathname = withoutEndpoint(url.pathname, row.endpoints);
  return url;
}

/** The path without trailing slashes and without the endpoint that it was copied with. */
function withoutEndpoint(path: string, endpoints: readonly string[]): string {
  const bare = path.replace(/\/+$/, '');
  const endpoint = endpoints.find((suffix) => bare.endsWith(suffix));
  return endpoint === undefined ? bare : bare.slice(0, -endpoint.length).replace(/\/+$/, '');
}

/** The address of an endpoint below a base URL; a query of the base is kept, one of the endpoint joins it. */
export function below(baseUrl: URL, path: string): URL {
  const [name = '', query] = path.split('?');
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${name}`;
  if (query !== undefined)
    for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value);
  return url;
}
