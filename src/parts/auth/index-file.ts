// `auth.json` as it lies on disk: entries by provider, sealed or plain. It is read without opening a seal, so that
// whether there is a credential is known without a process, a question or a key.

import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import { type EntryInfo, entryInfo, legacyEntry } from './entry.ts';
import { readPrivate } from './private-file.ts';

/** Entries as they were parsed, by the name of their provider. */
export type AuthFile = Readonly<Record<string, unknown>>;

/** Where the credentials of a home and their lock are. */
export function authFolder(home: string): string {
  return join(home, 'auth');
}

export function authPath(folder: string): string {
  return join(folder, 'auth.json');
}

export function legacyPath(folder: string): string {
  return join(folder, 'tokens.json');
}

/** Empty when there is no file. Throws `auth-failed` for one that is no JSON object: it must not be written over. */
export function readAuthFile(path: string): AuthFile {
  const text = readPrivate(path);
  if (text === undefined || text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says would quote the file.
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as AuthFile;
  throw new CrabError('auth-failed', `${path} is not a JSON object.`, {
    hint: 'Mend it, or move it away and log in again with `crab auth login`.',
  });
}

/** What is stored, by provider. Throws `auth-failed`. */
export function readIndex(folder: string): ReadonlyMap<string, EntryInfo> {
  const index = new Map<string, EntryInfo>();
  for (const [provider, value] of Object.entries(readAuthFile(legacyPath(folder)))) {
    const info = entryInfo(legacyEntry(value));
    if (info !== undefined) index.set(provider, info);
  }
  for (const [provider, value] of Object.entries(readAuthFile(authPath(folder)))) {
    const info = entryInfo(value);
    if (info !== undefined) index.set(provider, info);
  }
  return index;
}
