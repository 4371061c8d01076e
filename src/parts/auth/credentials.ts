// The chain that finds a way in, first hit first: a key of this command, the environment, a helper command, what
// `crab auth login` stored, a key in the settings. Each link says where it looked; none shows what it found (law 10).
// A key in the environment costs a look at the environment: every other link is loaded when it is reached.

import type { Account, AuthScheme, Credential, Credentials } from '../../core/credential.ts';
import type { Clock, Exec } from '../../core/host.ts';
import type { Settings } from '../../core/settings.ts';
import { hasAws, hasGoogle } from './cloud-evidence.ts';
import type { EntryInfo } from './entry.ts';
import { environmentKey } from './environment-key.ts';
import { authFolder, readIndex } from './index-file.ts';
import { keyCredential } from './key-credential.ts';
import type { KeyHelper } from './key-helper.ts';
import type { LockStore, Store } from './store.ts';
import type { Send } from './token-endpoint.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CredentialsOptions {
  readonly env: Environment;
  /** What the links behind the environment work with; absent where the environment is all there is. */
  readonly host?: CredentialHost;
}

export interface CredentialHost {
  /** `$CRAB_HOME`. */
  readonly home: string;
  /** Where helper commands run. */
  readonly cwd: string;
  /** Must not change what a program prints. */
  readonly exec: Exec;
  readonly clock: Clock;
  readonly lock: LockStore;
  readonly send: Send;
  readonly settings: Settings;
  readonly platform: NodeJS.Platform;
  /** `--api-key-file`. */
  readonly keyFile?: string;
  /** Told of every secret that is found, before it is used. */
  learn(secrets: readonly string[]): void;
  warn(text: string): void;
}

type KeyScheme = Extract<AuthScheme, { kind: 'key' }>;

export function createCredentials({ env, host }: CredentialsOptions): Credentials {
  const known = new WeakMap<AuthScheme, Credential>();
  const chain = host === undefined ? undefined : createChain(env, host);
  const learn = (credential: Credential | undefined) => {
    if (credential !== undefined) host?.learn(credential.secrets());
    return credential;
  };
  const look = async (account: Account): Promise<Credential | undefined> => {
    const { provider, scheme } = account;
    switch (scheme.kind) {
      case 'key':
        return (
          (await chain?.given(provider, scheme)) ??
          environmentKey(account, env) ??
          (await chain?.find(provider, scheme))
        );
      case 'aws':
        return (await import('./aws.ts')).findAws(scheme, { env });
      case 'google':
        return (await import('./google.ts')).findGoogle(scheme, { env });
      case 'none':
        return undefined;
    }
  };
  return {
    has({ provider, scheme }) {
      switch (scheme.kind) {
        case 'key':
          return inEnvironment(scheme, env) || chain?.has(provider, scheme) === true;
        case 'aws':
          return hasAws(scheme, env);
        case 'google':
          return hasGoogle(env);
        case 'none':
          return false;
      }
    },
    async find(account) {
      const found = known.get(account.scheme) ?? learn(await look(account));
      if (found !== undefined) known.set(account.scheme, found);
      return found;
    },
  };
}

function inEnvironment({ variables }: KeyScheme, env: Environment): boolean {
  return variables.some(({ name }) => env[name]?.trim());
}

interface Chain {
  has(provider: string, scheme: KeyScheme): boolean;
  /** The key that was given with the command. */
  given(provider: string, scheme: KeyScheme): Promise<Credential | undefined>;
  /** The links behind the environment. */
  find(provider: string, scheme: KeyScheme): Promise<Credential | undefined>;
}

function createChain(env: Environment, host: CredentialHost): Chain {
  const { settings, keyFile } = host;
  const folder = authFolder(host.home);
  const helpers = new Map<string, KeyHelper>();
  let index: ReadonlyMap<string, EntryInfo> | undefined;
  let store: Promise<Store> | undefined;
  /** Whose key the file holds: the first provider that asks. Another one would learn a key that is not its own. */
  let owner: string | undefined;

  const commandOf = (provider: string, { helper }: KeyScheme) =>
    helper ?? settings.providers[provider]?.apiKeyHelper ?? settings.apiKeyHelper;
  const literalOf = (provider: string, { literal }: KeyScheme) =>
    literal ?? settings.providers[provider]?.apiKey;
  const ownsFile = (provider: string) => keyFile !== undefined && (owner ?? provider) === provider;

  /** A store that cannot be read holds something: looking for it says what is wrong. */
  function isStored(provider: string): boolean {
    try {
      index ??= readIndex(folder);
      return index.has(provider);
    } catch {
      return true;
    }
  }

  async function helped(provider: string, scheme: KeyScheme): Promise<Credential | undefined> {
    const command = commandOf(provider, scheme);
    if (command === undefined) return undefined;
    const { createKeyHelper, keyHelperCredential, keyHelperTtl } = await import('./key-helper.ts');
    const { exec, clock, platform, cwd } = host;
    const ttlMs = keyHelperTtl(env, settings);
    const helper = helpers.get(command) ?? createKeyHelper({ command, exec, clock, platform, cwd, ttlMs });
    helpers.set(command, helper);
    return keyHelperCredential(helper, scheme.style, host.learn);
  }

  async function stored(provider: string, scheme: KeyScheme): Promise<Credential | undefined> {
    index = undefined;
    const info = readIndex(folder).get(provider);
    if (info === undefined) return undefined;
    store ??= import('./open-store.ts').then(({ openStore }) => openStore(host));
    const { storedCredential } = await import('./stored-credential.ts');
    return storedCredential({ ...host, provider, scheme, info, store: await store });
  }

  function literal(provider: string, scheme: KeyScheme): Credential | undefined {
    const value = literalOf(provider, scheme);
    if (value === undefined) return undefined;
    host.warn(
      `The key of ${provider} stands in the settings in the open; \`crab auth login ${provider}\` keeps it better.`,
    );
    return keyCredential({ source: 'the settings', style: scheme.style, value });
  }

  return {
    has: (provider, scheme) =>
      ownsFile(provider) ||
      commandOf(provider, scheme) !== undefined ||
      literalOf(provider, scheme) !== undefined ||
      isStored(provider),
    async given(provider, { style }) {
      if (keyFile === undefined || !ownsFile(provider)) return undefined;
      owner = provider;
      const { readKeyFile } = await import('./key-file.ts');
      return keyCredential({ source: '--api-key-file', style, value: await readKeyFile(keyFile) });
    },
    find: async (provider, scheme) =>
      (await helped(provider, scheme)) ?? (await stored(provider, scheme)) ?? literal(provider, scheme),
  };
}
