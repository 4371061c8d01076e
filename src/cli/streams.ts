// The process's own streams as the sinks and sources that channels speak to. A write resolves when the kernel has
// taken it, so that a slow reader holds the writer up, and nothing is lost when the process leaves.

import { CrabError } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { MAX_PROMPT_BYTES } from '../core/limits.ts';

interface Environment {
  readonly NO_COLOR?: string | undefined;
  readonly FORCE_COLOR?: string | undefined;
  readonly TERM?: string | undefined;
}

export function sinkOf(stream: NodeJS.WriteStream, env: Environment): Sink {
  let failure: CrabError | undefined;
  // Without a listener the first failed write would end the process with a stack trace.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= outputFailure(error);
  });
  const isTerminal = stream.isTTY === true;
  return {
    isTerminal,
    colour: wantsColour(isTerminal, env),
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        stream.write(text, (error) => {
          if (error) reject(outputFailure(error));
          else resolve();
        });
      }),
  };
}

function wantsColour(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM }: Environment): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0') return true;
  return isTerminal && TERM !== 'dumb';
}

function outputFailure(error: NodeJS.ErrnoException): CrabError {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
    return new CrabError('output-closed', 'The reader of the output went away.', { cause: error });
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message;
  return new CrabError('output-failed', `The output could not be written: ${reason}.`, { cause: error });
}

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
  const message = error instanceof Error ? error.message : String(error);
  return new CrabError('input-malformed', `Standard input could not be read: ${message}.`, { cause: error });
}

/** Lines of a stream, without their ends; none longer than a prompt may be. */
export async function* readLines(stream: NodeJS.ReadStream): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk as Buffer, { stream: true });
    let from = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', from)) {
      yield rest.slice(from, end).replace(/\r$/, '');
      from = end + 1;
    }
    rest = rest.slice(from);
    if (rest.length > MAX_PROMPT_BYTES)
      throw new CrabError(
        'input-too-large',
        `A line of standard input has more than ${MAX_PROMPT_BYTES} bytes.`,
      );
  }
  if (rest !== '') yield rest;
}
