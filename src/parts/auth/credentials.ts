// The chain that finds a way in, first hit first: a key of this command, the environment, a helper command, the
// keychain, the file of stored keys and tokens. Each link says where it looked; none shows what it found (law 10).

import type { Account, Credential, Credentials } from '../../core/credential.ts';
import { hasAws, hasGoogle } from './cloud-evidence.ts';
import { environmentKey } from './environment-key.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialsOptions {
  readonly env: Environment;
}

export function createCredentials({ env }: CredentialsOptions): Credentials {
  const known = new WeakMap<Account['scheme'], Credential>();
  const look = async (account: Account): Promise<Credential | undefined> => {
    const { scheme } = account;
    switch (scheme.kind) {
      case 'key':
        return environmentKey(account, env);
      case 'aws':
        return (await import('./aws.ts')).findAws(scheme, { env });
      case 'google':
        return (await import('./google.ts')).findGoogle(scheme, { env });
      case 'none':
        return undefined;
    }
  };
  return {
    has({ scheme }) {
      switch (scheme.kind) {
        case 'key':
          return scheme.variables.some(({ name }) => env[name]?.trim());
        case 'aws':
          return hasAws(scheme, env);
        case 'google':
          return hasGoogle(env);
        case 'none':
          return false;
      }
    },
    async find(account) {
      const found = known.get(account.scheme) ?? (await look(account));
      if (found !== undefined) known.set(account.scheme, found);
      return found;
    },
  };
}
