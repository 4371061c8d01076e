// Where a provider is: its own address, or the one that the person gave in its place.

import type { Credentials } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { ProviderRow } from './provider-row.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  readonly baseUrl: URL;
  /** Whether the address is somebody's own choice. */
  readonly moved: boolean;
}

/** Throws `usage`. */
export function endpointOf(row: ProviderRow, env: Environment): Endpoint {
  const { baseUrlKey: key } = row;
  const own = key === undefined ? undefined : env[key];
  if (key !== undefined && isSet(own)) return { baseUrl: parseBaseUrl(own, key, row), moved: true };
  if (row.ownAddress && !row.ownUrl) {
    throw new CrabError('usage', `${row.name} has no address that everybody shares.`, {
      hint: `Set ${key ?? `providers.${row.name}.base_url`} to one such as ${row.baseUrl}.`,
    });
  }
  return { baseUrl: new URL(row.baseUrl), moved: row.ownUrl === true };
}

/** Whether this provider may be chosen for somebody who named none. */
export function hasAccess(row: ProviderRow, env: Environment, credentials: Credentials): boolean {
  if (row.onlyNamed) return false;
  return hasCredential(row, credentials) || (row.keyless && isMoved(row, env));
}

export function hasCredential({ name, auth }: ProviderRow, credentials: Credentials): boolean {
  return credentials.has({ provider: name, scheme: auth });
}

/** A server of one's own needs no key. */
export function isKeyless(row: ProviderRow, env: Environment): boolean {
  return row.auth.kind === 'none' || row.local === true || (row.keyless && isMoved(row, env));
}

function isMoved({ ownUrl, baseUrlKey }: ProviderRow, env: Environment): boolean {
  return ownUrl === true || (baseUrlKey !== undefined && isSet(env[baseUrlKey]));
}

/** More than these would bury what to do. */
const NAMED_KEYS = 4;

/** Names the variables that would have helped. */
export function missing(rows: readonly ProviderRow[], env: Environment): CrabError {
  const keyed = rows.filter(({ auth }) => auth.kind === 'key' && auth.variables.length > 0);
  const keys = keyed.flatMap(({ auth }) =>
    auth.kind === 'key' ? auth.variables.map(({ name }) => name) : [],
  );
  const also = rows
    .filter(({ keyless, local, baseUrlKey }) => keyless && !local && baseUrlKey !== undefined)
    .map(({ baseUrlKey }) => `${baseUrlKey} for a local server`);
  const few = keys.length <= NAMED_KEYS;
  const hint = few ? { hint: `Set ${[...keys, ...also].join(' or ')}.` } : {};
  const empty = keys.filter((key) => env[key] !== undefined);
  if (empty.length > 0) {
    const verb = empty.length === 1 ? 'is' : 'are';
    return new CrabError('auth-missing', `${empty.join(' and ')} ${verb} set, but empty.`, hint);
  }
  const who = few ? keyed.map(({ name }) => name).join(' or ') : 'any provider';
  const more = few ? '' : ` and ${keys.length - NAMED_KEYS} more`;
  const named = keys.slice(0, NAMED_KEYS).join(', ');
  if (keys.length > 0) {
    return new CrabError('auth-missing', `There is no key for ${who}: none of ${named}${more} is set.`, hint);
  }
  const name = rows.map((row) => row.name).join(' or ');
  return new CrabError('auth-missing', `There is no credential for ${name}.`, {
    hint: `Run \`crab auth login ${rows[0]?.name ?? 'PROVIDER'}\`.`,
  });
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

/** Throws `usage`. `from` is where the text was found, for errors. */
export function parseBaseUrl(text: string, from: string, row: ProviderRow): URL {
  const url = row.local ? parseHost(text.trim(), row) : parse(text.trim());
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CrabError('usage', `${from} is not an http or https URL.`, {
      hint: `Set it to an address such as ${row.baseUrl}.`,
    });
  }
  if (url.username !== '' || url.password !== '') {
    const keys = row.auth.kind === 'key' ? row.auth.variables.map(({ name }) => name) : [];
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
 * The address of a server on this machine, as its own variable has it: a scheme, a port and a path may be missing, and
 * where it listens on every address, this machine is asked (ollama's `OLLAMA_HOST`).
 */
function parseHost(text: string, row: ProviderRow): URL | undefined {
  const usual = new URL(row.baseUrl);
  const whole = /^[a-z]+:\/\//i.test(text);
  const url = parse(whole ? text : `http://${text.startsWith(':') ? `${usual.hostname}${text}` : text}`);
  if (url === undefined) return undefined;
  if (!whole && !/:\d+(?:\/|$)/.test(text)) url.port = usual.port;
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = usual.hostname;
  if (url.pathname === '/') url.pathname = usual.pathname;
  return url;
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
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
