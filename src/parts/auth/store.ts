// The stored credentials: one file, every entry sealed. The key that opens them is in the system's keychain, or in a
// file beside it where there is none; entries that somebody wrote by hand, in the open, are read as well and sealed
// when they are next written. Whoever changes something holds the lock and reads the file again first.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import {
  legacyEntry,
  type Place,
  type SealedEntry,
  type StoredEntry,
  sealedEntry,
  storedEntry,
} from './entry.ts';
import { type AuthFile, authPath, legacyPath, readAuthFile } from './index-file.ts';
import { type Keychain, KeychainError } from './keychain.ts';
import { privateFolder, readPrivate, writePrivate } from './private-file.ts';
import { KEY_BYTES, type SealingKey, seal, unseal } from './seal.ts';

export interface Store {
  /** Undefined when nothing is stored. Throws `auth-failed` for what does not open. */
  read(provider: string): Promise<StoredEntry | undefined>;
  /** Durable when it resolves; where the key to it is. Where no place is named it stays where it was. Under the lock. */
  write(provider: string, entry: StoredEntry, place?: Place): Promise<Place>;
  /** The names of those that were there. Under the lock. */
  remove(providers: readonly string[] | 'all'): Promise<readonly string[]>;
  /** One at a time, in all processes. */
  locked<T>(work: () => Promise<T>): Promise<T>;
}

export interface StoreOptions {
  readonly folder: string;
  readonly keychain: Keychain;
  readonly lock: LockStore;
}

/**
 * Waits until no other process holds the file, and resolves with how to let go of it. A refresh token is good for one use:
 * two processes that used it at once would log the person out. Rejects with `CrabError session-held`.
 */
export type LockStore = (path: string) => Promise<() => void>;

export function createStore({ folder, keychain, lock }: StoreOptions): Store {
  const path = authPath(folder);
  const keys = new Map<string, SealingKey>();

  async function keyOf({ place, id }: Pick<SealedEntry, 'place' | 'id'>): Promise<SealingKey> {
    const known = keys.get(place + id);
    if (known !== undefined) return known;
    const text = place === 'keychain' ? await keychain.read(id) : keyInFile(folder, id);
    const bytes = Buffer.from(text ?? '', 'base64');
    if (bytes.length !== KEY_BYTES) throw lostKey(place === 'keychain' ? keychain.name : keyPath(folder));
    return remember({ place, id, bytes });
  }

  function remember(key: SealingKey): SealingKey {
    keys.set(key.place + key.id, key);
    return key;
  }

  /** The key that the other entries of this place have, or a new one. */
  async function keyFor(place: Place, file: AuthFile): Promise<SealingKey> {
    const other = Object.values(file)
      .map(sealedEntry)
      .find((entry) => entry?.place === place);
    const known = other === undefined ? undefined : await keyOf(other).catch(lostIsNone);
    if (known !== undefined) return known;
    const key: SealingKey = { place, id: randomBytes(6).toString('hex'), bytes: randomBytes(KEY_BYTES) };
    const text = key.bytes.toString('base64');
    if (place === 'file') writePrivate(keyPath(folder), `${key.id} ${text}\n`);
    else await proven(keychain, key.id, text);
    return remember(key);
  }

  return {
    async read(provider) {
      const value = readAuthFile(path)[provider];
      const sealed = sealedEntry(value);
      if (sealed !== undefined) return unseal(provider, sealed, await keyOf(sealed));
      return storedEntry(value) ?? legacyEntry(readAuthFile(legacyPath(folder))[provider]);
    },
    async write(provider, entry, place) {
      const file = readAuthFile(path);
      // What is renewed stays where it is: a keychain that asks its person would hold up a token that is not yet stored.
      const wanted = place ?? sealedEntry(file[provider])?.place ?? 'file';
      const key = await keyFor(wanted, file);
      writePrivate(path, textOf({ ...file, [provider]: seal(provider, entry, key) }));
      return key.place;
    },
    async remove(providers) {
      const removed = new Set<string>();
      for (const each of [path, legacyPath(folder)]) {
        const file = readAuthFile(each);
        const gone = Object.keys(file).filter((name) => providers === 'all' || providers.includes(name));
        for (const name of gone) removed.add(name);
        if (gone.length === 0) continue;
        const rest = Object.entries(file).filter(([name]) => !removed.has(name));
        writePrivate(each, textOf(Object.fromEntries(rest)));
        await forgetKeys(
          gone.map((name) => file[name]),
          rest.map(([, value]) => value),
          folder,
          keychain,
        );
      }
      return [...removed];
    },
    async locked(work) {
      privateFolder(folder);
      const release = await lock(path).catch(inUse);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

function inUse(cause: unknown): never {
  if (!(cause instanceof CrabError) || cause.code !== 'session-held') throw cause;
  const { message, hint } = cause;
  throw new CrabError('auth-failed', `The stored credentials are in use: ${message}`, {
    hint: hint ?? 'Try again.',
    retryable: true,
    cause,
  });
}

function textOf(file: AuthFile): string {
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** What a lost key sealed is lost as well; a keychain that does not answer now may answer later. */
function lostIsNone(thrown: unknown): undefined {
  if (thrown instanceof KeychainError) throw thrown;
}

/** A keychain works when it gives back what it was given. */
async function proven(keychain: Keychain, id: string, text: string): Promise<void> {
  await keychain.write(id, text);
  if ((await keychain.read(id)) === text) return;
  throw new KeychainError('auth-failed', 'Keychain write failed: what was written is not there.', {
    hint: 'Log in with `--store file`.',
  });
}

/** Keys that open nothing any more. */
async function forgetKeys(
  gone: readonly unknown[],
  left: readonly unknown[],
  folder: string,
  keychain: Keychain,
): Promise<void> {
  const used = new Set(left.map((value) => sealedEntry(value)?.id));
  const unused = new Map(
    gone.flatMap((value) => sealedEntry(value) ?? []).map(({ id, place }) => [id, place]),
  );
  for (const [id, place] of unused) {
    if (used.has(id)) continue;
    if (place === 'file') rmSync(keyPath(folder), { force: true });
    // The entries are gone; a key that opens nothing does no harm where it cannot be removed.
    else await keychain.remove(id).catch(() => {});
  }
}

function keyPath(folder: string): string {
  return join(folder, 'key');
}

function keyInFile(folder: string, id: string): string | undefined {
  const [kept, text] = readPrivate(keyPath(folder))?.trim().split(' ') ?? [];
  return kept === id ? text : undefined;
}

function lostKey(where: string): CrabError {
  return new CrabError('auth-failed', `The key of the stored credentials is not in ${where}.`, {
    hint: 'Log in again with `crab auth login`.',
  });
}
