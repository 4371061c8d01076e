// Where a provider is and with what one is let in, from the environment. A key is never part of a message:
// what is wrong with one is said without showing it (law 10).

import { CrabError } from '../../core/errors.ts';
import type { ProviderRow } from './providers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Access {
  readonly baseUrl: URL;
  /** Whether the address is somebody's own choice. */
  readonly moved: boolean;
  /** Undefined for a server that needs none. */
  readonly secret: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether a request to this provider could be made at all. */
export function hasAccess(row: ProviderRow, env: Environment): boolean {
  return row.credentials.some(({ key }) => isSet(env[key])) || (row.keyless && isSet(env[row.baseUrlKey]));
}

/** Throws `auth-missing`, `auth-refused` and `usage`. */
export function accessTo(row: ProviderRow, env: Environment): Access {
  const own = env[row.baseUrlKey];
  const baseUrl = isSet(own) ? parseBaseUrl(own, row) : new URL(row.baseUrl);
  const moved = isSet(own);
  for (const { key, style } of row.credentials) {
    const value = env[key];
    if (!isSet(value)) continue;
    const secret = checkedKey(key, value);
    const headers: Record<string, string> =
      style === 'bearer' ? { authorization: `Bearer ${secret}` } : { [style]: secret };
    return { baseUrl, moved, secret, headers };
  }
  if (row.keyless && moved) return { baseUrl, moved, secret: undefined, headers: {} };
  throw missing([row], env);
}

/** Names the variables that would have helped. */
export function missing(rows: readonly ProviderRow[], env: Environment): CrabError {
  const keys = rows.flatMap((row) => row.credentials.map(({ key }) => key));
  const also = rows
    .filter(({ keyless }) => keyless)
    .map(({ baseUrlKey }) => `${baseUrlKey} for a local server`);
  const hint = `Set ${[...keys, ...also].join(' or ')}.`;
  const empty = keys.filter((key) => env[key] !== undefined);
  if (empty.length > 0) {
    const verb = empty.length === 1 ? 'is' : 'are';
    return new CrabError('auth-missing', `${empty.join(' and ')} ${verb} set, but empty.`, { hint });
  }
  const who = rows.map(({ name }) => name).join(' or ');
  const text = `There is no key for ${who}: none of ${keys.join(', ')} is set.`;
  return new CrabError('auth-missing', text, { hint });
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

function checkedKey(key: string, value: string): string {
  const secret = value.trim();
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  const what = /\s/.test(secret) ? 'a space or a line break' : 'a character that no key has';
  throw new CrabError('auth-refused', `The value of ${key} has ${what} in it.`, {
    hint: `Set ${key} to the key alone.`,
  });
}

function parseBaseUrl(text: string, row: ProviderRow): URL {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CrabError('usage', `${row.baseUrlKey} is not an http or https URL.`, {
      hint: `Set it to an address such as ${row.baseUrl}.`,
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new CrabError('usage', `${row.baseUrlKey} must not hold a user name or a password.`, {
      hint: `Set ${row.credentials.map(({ key }) => key).join(' or ')} instead.`,
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

/** The address of an endpoint below a base URL; a query of the base is kept. */
export function below(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}
