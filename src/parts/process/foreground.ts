// A program that takes over the terminal until it ends, such as an editor.

import { spawn } from 'node:child_process';
import { CrabError } from '../../core/errors.ts';

/** Returns the exit status; 128 and more for a signal. Throws `CrabError tool-failed` when it cannot be started. */
export function runForeground(argv: readonly [string, ...string[]]): Promise<number> {
  const [program, ...args] = argv;
  return new Promise((resolve, reject) => {
    // Ctrl-C is for the program in front: it decides what that means.
    const ignore = () => {};
    process.on('SIGINT', ignore);
    const child = spawn(program, args, { stdio: 'inherit' });
    child.once('error', (cause) => {
      process.off('SIGINT', ignore);
      reject(new CrabError('tool-failed', `${program} could not be started: ${cause.message}.`, { cause }));
    });
    child.once('exit', (code) => {
      process.off('SIGINT', ignore);
      resolve(code ?? 128);
    });
  });
}
