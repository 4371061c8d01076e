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
  const { baseUrl, moved } = addressOf(row, env, credential);
  return { baseUrl: below(baseUrl, accountPath(row, env, credential)), moved };
}

function addressOf(row: ProviderRow, env: Environment, credential: Credential | undefined): Endpoint {
  const { baseUrlKey: key, hostKey } = row;
  const own = key === undefined ? undefined : env[key];
  if (key !== undefined && isSet(own)) return { baseUrl: parseBaseUrl(own, key, row), moved: true };
  const host = hostKey === undefined ? undefined : env[hostKey];
  if (hostKey !== undefined && isSet(host)) return { baseUrl: parseHost(host, hostKey, row), moved: true };
  if (row.ownUrl) return { baseUrl: new URL(row.baseUrl), moved: true };
  return { baseUrl: placedUrl(row, env, credential), moved: false };
}

/** Whether a request to this provider could be made at all, as far as somebody has said so. */
export function hasAccess(row: ProviderRow, env: Environment, credentials: Credentials): boolean {
  return hasCredential(row, credentials) || (row.keyless && isMoved(row, env));
}

export function hasCredential({ name, auth }: ProviderRow, credentials: Credentials): boolean {
  return credentials.has({ provider: name, scheme: auth });
}

/** Whether this provider is one to take when nobody names any. */
export function isOffered(row: ProviderRow, env: Environment, credentials: Credentials): boolean {
  const isMeant = row.meantBy === undefined || row.meantBy.some((name) => isSet(env[name]));
  return isMeant && hasAccess(row, env, credentials);
}

/** A server of one's own needs no key. */
export function isKeyless(row: ProviderRow, env: Environment): boolean {
  return row.auth.kind === 'none' || row.local === true || (row.keyless && isMoved(row, env));
}

function isMoved({ ownUrl, baseUrlKey }: ProviderRow, env: Environment): boolean {
  return ownUrl === true || (baseUrlKey !== undefined && isSet(env[baseUrlKey]));
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
    .filter(({ keyless, baseUrlKey }) => keyless && baseUrlKey !== undefined)
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

/** Throws `usage`. `from` is where the text was found, for errors. */
export function parseBaseUrl(text: string, from: string, row: ProviderRow): URL {
  return checked(parse(text.trim()), from, row);
}

function checked(url: URL | undefined, from: string, row: ProviderRow): URL {
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

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * The address of a server, as its own variable has it: a scheme, a port and a path may be missing, and where it listens on
 * every address, this machine is asked (ollama's `OLLAMA_HOST`).
 */
function parseHost(given: string, from: string, row: ProviderRow): URL {
  const text = given.trim();
  const usual = new URL(row.baseUrl);
  const whole = /^[a-z]+:\/\//i.test(text);
  const url = parse(whole ? text : `http://${text.startsWith(':') ? `${usual.hostname}${text}` : text}`);
  if (url === undefined) return checked(url, from, row);
  if (!whole && !/:\d+(?:\/|$)/.test(text)) url.port = usual.port;
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = usual.hostname;
  if (url.pathname === '/') url.pathname = usual.pathname;
  return checked(url, from, row);
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

/** The address of what stands beside a version of an API, not below it. */
export function besideVersion(baseUrl: URL, path: string): URL {
  const root = new URL(baseUrl);
  root.pathname = root.pathname.replace(/\/v\d+\/*$/, '');
  return below(root, path);
}
