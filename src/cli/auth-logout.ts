// Forgets stored credentials, and says what is left that would still be used.

import type { Account } from '../core/credential.ts';
import type { CredentialHost } from '../parts/auth/credentials.ts';
import { openStore } from '../parts/auth/open-store.ts';
import { credentialStatus } from '../parts/auth/status.ts';
import { accountOf } from './accounts.ts';
import type { Environment } from './home.ts';

export interface LogOut {
  readonly env: Environment;
  readonly host: CredentialHost;
  readonly accounts: readonly Account[];
}

/** What to tell the person. Throws `CrabError`. */
export async function logOut(
  providers: readonly string[] | 'all',
  { env, host, accounts }: LogOut,
): Promise<string> {
  const store = openStore(host);
  // One whose row is gone can still be stored.
  const removed = await store.locked(() => store.remove(providers));
  const missed = providers === 'all' ? [] : providers.filter((name) => !removed.includes(name));
  const asked = new Set([...removed, ...missed.map((name) => accountOf(name, accounts).provider)]);
  const lines = [
    ...removed.map((name) => `What was stored for ${name} is removed.\n`),
    ...missed.map((name) => `Nothing was stored for ${name}.\n`),
  ];
  if (providers === 'all' && removed.length === 0) lines.push('Nothing was stored.\n');
  for (const account of accounts) {
    if (!asked.has(account.provider)) continue;
    const { source, stored } = await credentialStatus(account, env, host);
    if (stored !== null) lines.push(`${account.provider} still has a credential: ${source ?? stored}.\n`);
  }
  return lines.join('');
}
