// The token of a daemon: whoever can read the file of it is the daemon's own user. It stays the same from start to start,
// so that clients may keep it; taking the file away makes a new one.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { CrabError, messageOf } from '../../core/errors.ts';
import { replaceFile } from '../../disk/replace-file.ts';
import { checkOwner } from './run-folder.ts';

const BYTES = 32;
const FORM = /^[0-9a-f]{64}$/;

/** Throws `CrabError` (`daemon-failed`, `storage-failed`). */
export function tokenIn(path: string, uid: number | undefined): string {
  const info = checkOwner(path, uid, 'file');
  try {
    if (info !== undefined) {
      const token = readFileSync(path, 'utf8').trim();
      if ((info.mode & 0o077) !== 0) chmodSync(path, 0o600);
      if (FORM.test(token)) return token;
    }
    const token = randomBytes(BYTES).toString('hex');
    replaceFile(path, `${token}\n`);
    return token;
  } catch (cause) {
    throw new CrabError('storage-failed', `${path} cannot be read or made: ${messageOf(cause)}.`, { cause });
  }
}

/** Takes as long for a token that is nearly right as for any other. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
