// What is stored of a provider, in the shape of pi's `auth.json`, and what of it shows without opening a seal.

import type { JsonObject } from '../../core/schema.ts';

/** A key, or tokens of an OAuth login. Fields that we do not know are kept as they are. */
export type StoredEntry =
  | { readonly type: 'api_key'; readonly key: string }
  | {
      readonly type: 'oauth';
      readonly access: string;
      /** Absent where the login cannot be renewed. */
      readonly refresh?: string;
      /** Milliseconds since the epoch; absent where nobody told us. */
      readonly expires?: number;
    };

/** Where the key is kept that opens an entry. */
export type Place = 'keychain' | 'file';

export interface SealedEntry {
  readonly type: 'sealed';
  readonly kind: StoredEntry['type'];
  readonly place: Place;
  /** Which key opens it. */
  readonly id: string;
  /** Base64: twelve bytes of nonce, then the ciphertext, then sixteen bytes of tag (AES-256-GCM). */
  readonly data: string;
  readonly expires?: number;
}

/** What is known of an entry without its secret. */
export interface EntryInfo {
  readonly kind: StoredEntry['type'];
  /** `plain`: it stands in the file as it is. */
  readonly place: Place | 'plain';
  readonly expires?: number;
}

/** Undefined for what is no entry. */
export function storedEntry(value: unknown): StoredEntry | undefined {
  const entry = Object(value) as JsonObject;
  if (entry['type'] === 'api_key' && isText(entry['key'])) return entry as unknown as StoredEntry;
  if (entry['type'] === 'oauth' && isText(entry['access'])) return entry as unknown as StoredEntry;
  return undefined;
}

export function sealedEntry(value: unknown): SealedEntry | undefined {
  const { type, kind, place, id, data } = Object(value) as JsonObject;
  const isSealed =
    type === 'sealed' &&
    (kind === 'api_key' || kind === 'oauth') &&
    (place === 'keychain' || place === 'file') &&
    isText(id) &&
    isText(data);
  return isSealed ? (value as SealedEntry) : undefined;
}

export function entryInfo(value: unknown): EntryInfo | undefined {
  const sealed = sealedEntry(value);
  if (sealed !== undefined) {
    const { kind, place, expires } = sealed;
    return { kind, place, ...(expires !== undefined && { expires }) };
  }
  const entry = storedEntry(value);
  if (entry === undefined) return undefined;
  const expires = entry.type === 'oauth' ? entry.expires : undefined;
  return { kind: entry.type, place: 'plain', ...(expires !== undefined && { expires }) };
}

/** An entry of the older `tokens.json`: an access token by the name of its provider, in the words of RFC 6749. */
export function legacyEntry(value: unknown): StoredEntry | undefined {
  const known = storedEntry(value);
  if (known !== undefined) return known;
  const fields = Object(value) as JsonObject;
  const access = fields['access_token'] ?? fields['accessToken'] ?? fields['access'];
  if (!isText(access)) return undefined;
  const refresh = fields['refresh_token'] ?? fields['refreshToken'] ?? fields['refresh'];
  const expires = fields['expires_at'] ?? fields['expiresAt'] ?? fields['expires'];
  return {
    type: 'oauth',
    access,
    ...(isText(refresh) && { refresh }),
    ...(typeof expires === 'number' && { expires: inMilliseconds(expires) }),
  };
}

/** Some write seconds: as milliseconds they would be in the year 1970. */
function inMilliseconds(time: number): number {
  return time < 1e11 ? time * 1000 : time;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
