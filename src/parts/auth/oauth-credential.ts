// A login as a credential: its access token goes on requests, and is renewed before it runs out. A refresh token is
// good for one use, so there is one renewal at a time in all processes, each looks into the store before it asks, and
// the new tokens are durable before the first of them is used.

import type { AuthScheme, Credential, OAuthClient } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { StoredEntry } from './entry.ts';
import type { Store } from './store.ts';
import { renewTokens, type Send, TokenError } from './token-endpoint.ts';

export type Tokens = Extract<StoredEntry, { type: 'oauth' }>;

export interface OAuthCredentialOptions {
  readonly provider: string;
  readonly scheme: Extract<AuthScheme, { kind: 'key' }>;
  /** As in `Credential.source`. */
  readonly source: string;
  readonly tokens: Tokens;
  readonly store: Store;
  readonly clock: Clock;
  readonly send: Send;
  /** Told of every secret before it is used. */
  learn(secrets: readonly string[]): void;
}

/** Milliseconds before its end at which a token is renewed: a request may take that long. */
const SKEW_MS = 5 * 60_000;

/** Milliseconds after a renewal that failed, or that did not help, before another is tried. */
const PAUSE_MS = 30_000;

export function createOAuthCredential(options: OAuthCredentialOptions): Credential {
  const { provider, scheme, source, store, clock, send, learn } = options;
  let tokens = options.tokens;
  let headers = headersOf(scheme, tokens);
  let renewing: Promise<void> | undefined;
  let quietUntil = Number.NEGATIVE_INFINITY;
  let renewedAt = Number.NEGATIVE_INFINITY;

  const isFresh = ({ expires }: Tokens) => expires === undefined || clock.now() < expires - SKEW_MS;
  const isUsable = ({ expires }: Tokens) => expires === undefined || clock.now() < expires;

  function adopt(next: Tokens): void {
    learn(secretsOf(next));
    tokens = next;
    headers = headersOf(scheme, next);
  }

  async function renewOnce(refused: string | undefined): Promise<void> {
    await store.locked(async () => {
      const stored = await store.read(provider);
      if (stored === undefined || stored.type !== 'oauth') throw loggedOut(provider);
      // Another process, or another login, was here first.
      if (stored.access !== (refused ?? tokens.access) && isFresh(stored)) return adopt(stored);
      const client = clientOf(provider, scheme.oauth, stored);
      learn(secretsOf(stored));
      const call = { provider, send, now: clock.now, signal: new AbortController().signal };
      const next = await renewTokens(client, stored, call).catch((thrown) => {
        throw ended(provider, thrown);
      });
      learn(secretsOf(next));
      await store.write(provider, next);
      adopt(next);
      renewedAt = clock.monotonic();
    });
  }

  function renew(refused?: string): Promise<void> {
    renewing ??= renewOnce(refused).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function renewedHeaders(): Promise<Readonly<Record<string, string>>> {
    try {
      await renew();
    } catch (thrown) {
      // It is not too late yet: the next request will try again.
      if (!isUsable(tokens)) throw thrown;
      quietUntil = clock.monotonic() + PAUSE_MS;
    }
    return headers;
  }

  learn(secretsOf(tokens));
  return {
    source,
    headers() {
      if (isFresh(tokens)) return headers;
      return isUsable(tokens) && clock.monotonic() < quietUntil ? headers : renewedHeaders();
    },
    secrets: () => secretsOf(tokens),
    async refused(status) {
      const refused = tokens.access;
      // 403 means that the account may not, which another token does not change.
      if (status !== 401) return false;
      if (tokens.refresh === undefined || clock.monotonic() - renewedAt < PAUSE_MS) return false;
      await renew(refused);
      return tokens.access !== refused;
    },
  };
}

function secretsOf({ access, refresh }: Tokens): readonly string[] {
  return refresh === undefined ? [access] : [access, refresh];
}

function clientOf(provider: string, client: OAuthClient | undefined, { refresh }: Tokens): OAuthClient {
  if (client !== undefined && refresh !== undefined) return client;
  const why = client === undefined ? 'it is not known where to renew it' : 'it came without a refresh token';
  throw new CrabError('auth-refused', `The login of ${provider} has run out, and ${why}.`, hintOf(provider));
}

function headersOf(
  { tokenHeaders, tokenClaims = {} }: OAuthCredentialOptions['scheme'],
  { access }: Tokens,
): Readonly<Record<string, string>> {
  const claimed: Record<string, string> = {};
  for (const [name, path] of Object.entries(tokenClaims)) {
    const value = claimOf(access, path);
    if (value !== undefined) claimed[name] = value;
  }
  return { authorization: `Bearer ${access}`, ...tokenHeaders, ...claimed };
}

/** A text in the second part of a JSON Web Token. It is not verified: it goes back to whoever signed it. */
function claimOf(token: string, path: readonly string[]): string | undefined {
  try {
    let value: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    for (const name of path) value = Object(value)[name];
    return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function loggedOut(provider: string): CrabError {
  return new CrabError('auth-refused', `There is no login of ${provider} any more.`, hintOf(provider));
}

/** A refresh token that is not accepted is the end of a login; anything else may pass. */
function ended(provider: string, thrown: unknown): unknown {
  if (!(thrown instanceof TokenError) || thrown.code !== 'auth-refused') return thrown;
  const said = thrown.message.replace(/\.$/, '');
  return new CrabError('auth-refused', `The login of ${provider} has ended: ${said}.`, {
    ...hintOf(provider),
    cause: thrown,
    status: thrown.status,
  });
}

function hintOf(provider: string): { readonly hint: string } {
  return { hint: `Log in again with \`crab auth login ${provider}\`.` };
}
