// Who can be logged in to: every provider that there is a row for, those of the person's settings, and the Crabs elsewhere.

import type { Account } from '../core/credential.ts';
import { CrabError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { suggestions } from '../engine/route.ts';
import { withOwnProviders } from '../parts/llm/own-providers.ts';
import { PROVIDERS } from '../parts/llm/providers.ts';
import { remoteAccount } from './remote-token.ts';

/** Throws `settings-invalid`. */
export function allAccounts(settings: Settings): readonly Account[] {
  const providers = withOwnProviders(PROVIDERS, settings).map(({ name, auth }) => ({
    provider: name,
    scheme: auth,
  }));
  const remotes = Object.entries(settings.remotes ?? {}).map(([name, { tokenEnv }]): Account => {
    const style = 'bearer';
    const variables = tokenEnv === undefined ? [] : [{ name: tokenEnv, style } as const];
    return { provider: remoteAccount(name), scheme: { kind: 'key', variables, style } };
  });
  return [...providers, ...remotes];
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
