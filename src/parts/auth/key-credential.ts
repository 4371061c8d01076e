// A key as a credential: one header, made once.

import type { Credential, KeyStyle } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';

/** Throws `auth-refused` for what no key looks like. */
export function keyCredential(key: {
  readonly source: string;
  readonly style: KeyStyle;
  readonly value: string;
}): Credential {
  const secret = checked(key.source, key.value);
  const headers = key.style === 'bearer' ? { authorization: `Bearer ${secret}` } : { [key.style]: secret };
  const secrets = [secret];
  return {
    source: key.source,
    headers: () => headers,
    secrets: () => secrets,
    refused: async () => false,
  };
}

function checked(source: string, value: string): string {
  const secret = value.trim();
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  const what = /\s/.test(secret) ? 'a space or a line break' : 'a character that no key has';
  throw new CrabError('auth-refused', `The value of ${source} has ${what} in it.`, {
    hint: `Set ${source} to the key alone.`,
  });
}
