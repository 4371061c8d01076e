// Files that only the person may read. The lock around a write sees to it that there is one writer.

import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { replaceFile } from '../../disk/replace-file.ts';

/** Bytes: many times what the tokens of all providers need. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Undefined when there is no such file. Throws `auth-failed`. */
export function readPrivate(path: string): string | undefined {
  try {
    const info = statSync(path);
    if (!info.isFile()) throw new Error('it is no regular file');
    if (info.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT' || errnoOf(cause) === 'ENOTDIR') return undefined;
    throw new CrabError('auth-failed', `${path} could not be read: ${messageOf(cause)}.`, { cause });
  }
}

/** Mode 0700, whatever it was before. Throws `auth-failed`. */
export function privateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((statSync(path).mode & 0o77) !== 0) chmodSync(path, 0o700);
  } catch (cause) {
    throw new CrabError('auth-failed', `${path} could not be made: ${messageOf(cause)}.`, { cause });
  }
}

/** Durable when it returns. Mode 0600. Throws `auth-failed`; then the old content is still there. */
export function writePrivate(path: string, text: string): void {
  try {
    replaceFile(path, text, `${path}.new`);
  } catch (cause) {
    throw new CrabError('auth-failed', `${path} could not be written: ${messageOf(cause)}.`, { cause });
  }
}
