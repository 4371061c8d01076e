// What subcommands with flags of their own share: how these are read, and how one that is wrong is told.

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CrabError, EXIT, messageOf } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';

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

export interface CommandChoice<Command> {
  /** The subcommand, as in `crab NAME`. */
  readonly name: string;
  readonly commands: Readonly<Record<string, Command>>;
  readonly help: string;
  /** What to do where the command is none of them. */
  readonly hint?: string;
}

interface Chosen<Command> {
  readonly command: string;
  readonly run: Command;
  readonly words: readonly string[];
}

/**
 * Which command of `crab NAME` was asked for; the exit status where the help was shown in its place. Throws `CrabError
 * usage`.
 */
export async function chosenCommand<Command>(
  { name, commands, help, hint }: CommandChoice<Command>,
  { values, positionals }: { readonly values: { help?: boolean }; readonly positionals: readonly string[] },
  stdout: Sink,
): Promise<Chosen<Command> | number> {
  const [command, ...words] = positionals;
  if (command === undefined || values.help === true) {
    await stdout.write(help);
    return values.help === true ? EXIT.success : EXIT.usage;
  }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (run === undefined) throw subcommandUsage(name, `There is no \`crab ${name} ${command}\`.`, hint);
  return { command, run, words };
}

export function subcommandUsage(
  name: string,
  message: string,
  hint = `Run \`crab ${name} --help\`.`,
): CrabError {
  return new CrabError('usage', message, { hint });
}

/** The whole number of a flag of `crab NAME`, undefined where it was not given. Throws `CrabError usage`. */
export function wholeFlag(
  name: string,
  flag: string,
  text: string | undefined,
  [least, most]: readonly [least: number, most: number],
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw subcommandUsage(name, `--${flag} ${text} is no whole number from ${least} to ${most}.`);
}
