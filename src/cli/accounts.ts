// Who can be logged in to: every provider that there is a row for, and those of the person's settings.

import type { Account, AuthScheme, OAuthClient } from '../core/credential.ts';
import { CrabError } from '../core/errors.ts';
import type { OAuthSettings, ProviderSettings, Settings } from '../core/settings.ts';
import { suggestions } from '../engine/route.ts';
import { PROVIDERS } from '../parts/llm/providers.ts';

export function allAccounts({ providers }: Settings): readonly Account[] {
  const rows = new Map<string, AuthScheme>(PROVIDERS.map(({ name, auth }) => [name, auth]));
  for (const [name, settings] of Object.entries(providers))
    rows.set(name, withSettings(rows.get(name), settings));
  return [...rows].map(([provider, scheme]) => ({ provider, scheme }));
}

/** Throws `usage`. */
export function accountOf(name: string, accounts: readonly Account[]): Account {
  const found = accounts.find(({ provider }) => provider === name);
  if (found !== undefined) return found;
  const names = accounts.map(({ provider }) => provider);
  const near = suggestions(name, names);
  // What was typed may be the key itself, so it is not repeated.
  throw new CrabError('usage', 'There is no provider of that name.', {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${names.join(', ')}.`,
  });
}

function withSettings(scheme: AuthScheme | undefined, settings: ProviderSettings): AuthScheme {
  if (scheme !== undefined && scheme.kind !== 'key') return scheme;
  const { apiKeyEnv, apiKey, apiKeyHelper, oauth } = settings;
  return {
    kind: 'key',
    style: 'bearer',
    ...scheme,
    variables:
      apiKeyEnv === undefined
        ? (scheme?.variables ?? [])
        : [{ name: apiKeyEnv, style: scheme?.style ?? 'bearer' }],
    ...(apiKey !== undefined && { literal: apiKey }),
    ...(apiKeyHelper !== undefined && { helper: apiKeyHelper }),
    ...(oauth !== undefined && { oauth: clientOf(oauth) }),
  };
}

function clientOf({ scopes = [], ...client }: OAuthSettings): OAuthClient {
  return { ...client, scopes };
}
