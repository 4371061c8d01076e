// A file that a flag names, as text. What cannot be read is the command line's fault, and said in its words.

import { promises as fs } from 'node:fs';
import { resolve } from 'node:path';
import { CrabError } from '../core/errors.ts';
import { fileFailure } from '../parts/files/file-failure.ts';

/** Throws `CrabError usage`. */
export async function fileText(flag: string, path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await fs.readFile(absolute, 'utf8');
  } catch (cause) {
    const failure = await fileFailure(cause, 'read', absolute);
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new CrabError('usage', `${flag}: ${reason}`, { cause });
  }
}
