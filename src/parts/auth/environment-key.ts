// Keys from environment variables. What is wrong with one is said without showing it.

import type { Account, Credential } from '../../core/credential.ts';
import { keyCredential } from './key-credential.ts';

export function environmentKey(
  { scheme }: Account,
  env: Readonly<Record<string, string | undefined>>,
): Credential | undefined {
  if (scheme.kind !== 'key') return undefined;
  for (const { name, style } of scheme.variables) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '') return keyCredential({ source: name, style, value });
  }
  return undefined;
}
