// Seals and opens entries with AES-256-GCM (NIST SP 800-38D). The provider and what is told in the open are
// authenticated with it, so that an entry that was moved or changed does not open.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { CrabError } from '../../core/errors.ts';
import { type Place, type SealedEntry, type StoredEntry, storedEntry } from './entry.ts';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key and where it is kept. */
export interface SealingKey {
  readonly place: Place;
  readonly id: string;
  readonly bytes: Buffer;
}

export function seal(provider: string, entry: StoredEntry, key: SealingKey): SealedEntry {
  const expires = entry.type === 'oauth' ? entry.expires : undefined;
  const open = { kind: entry.type, place: key.place, id: key.id, ...(expires !== undefined && { expires }) };
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(bound(provider, open));
  const text = Buffer.concat([cipher.update(JSON.stringify(entry)), cipher.final()]);
  return {
    type: 'sealed',
    ...open,
    data: Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64'),
  };
}

/** Throws `auth-failed`. */
export function unseal(provider: string, sealed: SealedEntry, key: SealingKey): StoredEntry {
  const data = Buffer.from(sealed.data, 'base64');
  try {
    const nonce = data.subarray(0, NONCE_BYTES);
    const cipher = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(bound(provider, sealed)).setAuthTag(data.subarray(-TAG_BYTES));
    const text = Buffer.concat([cipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]);
    const entry = storedEntry(JSON.parse(text.toString()));
    if (entry !== undefined) return entry;
  } catch {
    // What went wrong inside a cipher helps nobody, and may show what it holds.
  }
  throw new CrabError('auth-failed', `What is stored for ${provider} does not open with its key.`, {
    hint: `Log in again with \`crab auth login ${provider}\`.`,
  });
}

function bound(provider: string, { kind, place, id, expires }: Omit<SealedEntry, 'type' | 'data'>): Buffer {
  return Buffer.from(JSON.stringify([provider, kind, place, id, expires ?? null]));
}
