// What is known of each provider's credential without showing it: where it comes from, what kind it is, whether it can
// be used. Nothing is renewed and no provider is asked.

import type { Account } from '../../core/credential.ts';
import { asCrabError } from '../../core/errors.ts';
import { type CredentialHost, createCredentials, type Environment } from './credentials.ts';
import { authFolder, readIndex } from './index-file.ts';
import { PLACE_NAMES } from './stored-credential.ts';

/** Field names as `crab auth status --json` prints them. */
export interface CredentialStatus {
  readonly provider: string;
  /** In words: `OPENAI_API_KEY`, `the keychain`; null when there is none. */
  readonly source: string | null;
  readonly kind: 'key' | 'login' | 'cloud' | null;
  readonly stored: 'environment' | 'helper' | 'keychain' | 'file' | 'plain' | 'settings' | 'cloud' | null;
  /** ISO 8601; null for what does not run out, or does not say when. */
  readonly expires: string | null;
  readonly usable: boolean;
  /** Why it is not usable. */
  readonly problem: string | null;
}

const NONE = { source: null, kind: null, stored: null, expires: null, usable: false, problem: null } as const;

export async function credentialStatus(
  account: Account,
  env: Environment,
  host: CredentialHost,
): Promise<CredentialStatus> {
  const { provider, scheme } = account;
  if (scheme.kind === 'none') return { provider, ...NONE, usable: true };
  const credentials = createCredentials({ env, host: { ...host, warn: () => {} } });
  if (!credentials.has(account)) return { provider, ...NONE };
  if (scheme.kind !== 'key') {
    return {
      ...NONE,
      provider,
      source: 'the cloud’s own files and variables',
      kind: 'cloud',
      stored: 'cloud',
      usable: true,
    };
  }
  try {
    const found = await credentials.find(account);
    if (found === undefined) return { provider, ...NONE };
    const { source } = found;
    return { provider, ...NONE, source, kind: 'key', usable: true, ...placeOf(source, account, host) };
  } catch (thrown) {
    const { message } = asCrabError(thrown);
    return { provider, ...NONE, kind: 'key', ...storedPlace(account, host), usable: false, problem: message };
  }
}

type Placed = Pick<CredentialStatus, 'stored'> & Partial<CredentialStatus>;

function placeOf(source: string, account: Account, host: CredentialHost): Placed {
  if (source === 'apiKeyHelper') return { stored: 'helper' };
  if (source === 'the settings') return { stored: 'settings' };
  return Object.values(PLACE_NAMES).includes(source) ? storedPlace(account, host) : { stored: 'environment' };
}

function storedPlace(
  { provider, scheme }: Account,
  { home, clock }: CredentialHost,
): Partial<CredentialStatus> & Placed {
  const info = indexOf(home).get(provider);
  if (info === undefined) return { stored: null };
  const { kind, place, expires } = info;
  const renewable = scheme.kind === 'key' && scheme.oauth !== undefined;
  const isOver = expires !== undefined && expires <= clock.now() && !renewable;
  return {
    source: PLACE_NAMES[place],
    kind: kind === 'oauth' ? 'login' : 'key',
    stored: place,
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    ...(isOver && { usable: false, problem: 'The login has run out.' }),
  };
}

function indexOf(home: string): ReturnType<typeof readIndex> {
  try {
    return readIndex(authFolder(home));
  } catch {
    return new Map();
  }
}
