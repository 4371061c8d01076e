// `--api-key-file FILE`: a key for this command alone. There is no flag for the key itself, since every user of the
// machine can read the arguments of a process.

import { promises as fs } from 'node:fs';
import { CrabError, messageOf } from '../../core/errors.ts';

const MAX_BYTES = 64 * 1024;

/** The text of the file, which may be a pipe as of `<(printenv KEY)`. Throws `usage`. */
export async function readKeyFile(path: string): Promise<string> {
  let file: fs.FileHandle;
  try {
    file = await fs.open(path, 'r');
  } catch (cause) {
    throw new CrabError('usage', `--api-key-file: ${messageOf(cause)}.`, { cause });
  }
  try {
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let size = 0;
    for (let read = 1; read > 0 && size < bytes.length; size += read)
      read = (await file.read(bytes, size, bytes.length - size)).bytesRead;
    if (size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
    const text = bytes.toString('utf8', 0, size).trim();
    if (text === '') throw new Error(`${path} is empty`);
    return text;
  } catch (cause) {
    throw new CrabError('usage', `--api-key-file: ${messageOf(cause)}.`, { cause });
  } finally {
    await file.close();
  }
}
