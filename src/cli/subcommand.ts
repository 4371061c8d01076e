// What subcommands with flags of their own share: how these are read, and how one that is wrong is told.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CrabError, messageOf } from '../core/errors.ts';

/** Flags and words of `crab NAME`. Throws `CrabError usage`. */
export function subcommandArguments<const Options extends ParseArgsOptionsConfig>(
  name: string,
  argv: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options });
  } catch (cause) {
    throw subcommandUsage(name, messageOf(cause));
  }
}

export function subcommandUsage(
  name: string,
  message: string,
  hint = `Run \`crab ${name} --help\`.`,
): CrabError {
  return new CrabError('usage', message, { hint });
}
