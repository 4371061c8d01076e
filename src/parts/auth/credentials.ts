// The chain that finds a way in, first hit first: a key of this command, the environment, a helper command, the
// keychain, the file of stored keys and tokens. Each link says where it looked; none shows what it found (law 10).

import type { Account, Credential, Credentials } from '../../core/credential.ts';
import { environmentKey } from './environment-key.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialsOptions {
  readonly env: Environment;
}

export function createCredentials({ env }: CredentialsOptions): Credentials {
  const known = new WeakMap<Account['scheme'], Credential>();
  const find = (account: Account): Credential | undefined => {
    const found = known.get(account.scheme) ?? environmentKey(account, env);
    if (found !== undefined) known.set(account.scheme, found);
    return found;
  };
  return {
    has: ({ scheme }) => scheme.kind === 'key' && scheme.variables.some(({ name }) => env[name]?.trim()),
    find: async (account) => find(account),
  };
}
