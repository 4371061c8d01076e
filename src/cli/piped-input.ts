// Standard input as text, all of it: for the one prompt of a print run.

import { CrabError, messageOf } from '../core/errors.ts';
import { MAX_PROMPT_BYTES } from '../core/limits.ts';

/** How long standard input beside a prompt may keep us waiting for its first byte. */
const FIRST_BYTE_MS = 3000;

export interface PipedInput {
  /** Valid UTF-8, at most the size of a prompt. */
  readonly text: string;
  /** Nothing came for so long that we went on without. */
  readonly gaveUp: boolean;
}

/**
 * All of standard input as text. Throws `input-too-large` as soon as it is, so that an endless one ends, and
 * `input-not-text`. With `impatient`, gives up when no first byte comes in time: programs often start others with an
 * open pipe that nobody writes to.
 */
export async function readAll(stream: NodeJS.ReadStream, impatient: boolean): Promise<PipedInput> {
  const chunks: Buffer[] = [];
  let size = 0;
  let gaveUp = false;
  const timer = impatient
    ? setTimeout(() => {
        gaveUp = true;
        stream.destroy();
      }, FIRST_BYTE_MS)
    : undefined;
  try {
    for await (const chunk of stream) {
      clearTimeout(timer);
      const bytes: Buffer = chunk;
      size += bytes.length;
      if (size > MAX_PROMPT_BYTES)
        throw new CrabError('input-too-large', `Standard input holds more than ${MAX_PROMPT_BYTES} bytes.`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (!gaveUp) throw inputFailure(error);
  } finally {
    clearTimeout(timer);
  }
  return { text: decode(Buffer.concat(chunks)), gaveUp };
}

function decode(bytes: Buffer): string {
  if (bytes.includes(0))
    throw new CrabError('input-not-text', 'Standard input is binary: it holds NUL bytes.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CrabError('input-not-text', 'Standard input is not valid UTF-8.', { cause });
  }
}

function inputFailure(error: unknown): CrabError {
  if (error instanceof CrabError) return error;
  const message = messageOf(error);
  return new CrabError('input-malformed', `Standard input could not be read: ${message}.`, { cause: error });
}
