// The process's own output as the sinks that channels speak to. A write resolves when the kernel has taken it, so that
// a slow reader holds the writer up, and nothing is lost when the process leaves.

import { CrabError } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';

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
