// The last word about a failure that no channel could report: what happened, why, and what to do.

import { CrabError, EXIT } from '../core/errors.ts';
import { maskShapes } from '../core/secret-shapes.ts';

/** Says it on standard error and returns the exit status. */
export function complain(thrown: unknown): number {
  if (!(thrown instanceof CrabError)) {
    process.stderr.write(maskShapes(`crab: ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`));
    return EXIT.failure;
  }
  // Whoever closed the pipe knows that it is closed.
  if (thrown.code !== 'output-closed')
    process.stderr.write(maskShapes(`crab: ${thrown.message} [${thrown.code}]\n${thrown.hint}\n`));
  return thrown.exitCode;
}
