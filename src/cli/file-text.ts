// A file that a flag names, as text: a pipe as well, and no more of it than a prompt may hold. What cannot be read is
// the command line's fault, and said in its words.

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { CrabError } from '../core/errors.ts';
import { MAX_PROMPT_BYTES } from '../core/limits.ts';
import { fileFailure } from '../parts/files/file-failure.ts';

/** Throws `CrabError usage`. */
export async function fileText(flag: string, path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of createReadStream(absolute)) {
      size += (chunk as Buffer).length;
      if (size > MAX_PROMPT_BYTES)
        throw new CrabError('usage', `${flag}: ${absolute} holds more than ${MAX_PROMPT_BYTES} bytes.`);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    if (cause instanceof CrabError) throw cause;
    const failure = await fileFailure(cause, 'read', absolute);
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new CrabError('usage', `${flag}: ${reason}`, { cause });
  }
}
