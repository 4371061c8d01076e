// What is stored for a provider, as a credential: a key, or the tokens of a login.

import type { AuthScheme, Credential } from '../../core/credential.ts';
import type { Clock } from '../../core/host.ts';
import type { EntryInfo } from './entry.ts';
import { keyCredential } from './key-credential.ts';
import { createOAuthCredential } from './oauth-credential.ts';
import type { Store } from './store.ts';
import type { Send } from './token-endpoint.ts';

export interface StoredCredentialOptions {
  readonly provider: string;
  readonly scheme: Extract<AuthScheme, { kind: 'key' }>;
  readonly info: EntryInfo;
  readonly store: Store;
  readonly clock: Clock;
  readonly send: Send;
  learn(secrets: readonly string[]): void;
}

/** How a place is called where its person reads of it. */
export const PLACE_NAMES: Readonly<Record<EntryInfo['place'], string>> = {
  keychain: 'the keychain',
  file: 'the credentials file',
  plain: 'auth.json',
};

/** Undefined when it was removed meanwhile. Throws `auth-failed`, `auth-refused`. */
export async function storedCredential(options: StoredCredentialOptions): Promise<Credential | undefined> {
  const { provider, scheme, info, store } = options;
  const entry = await store.read(provider);
  if (entry === undefined) return undefined;
  const source = PLACE_NAMES[info.place];
  if (entry.type === 'api_key') return keyCredential({ source, style: scheme.style, value: entry.key });
  return createOAuthCredential({ ...options, source, tokens: entry });
}
