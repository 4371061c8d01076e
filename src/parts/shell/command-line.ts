// From a command to the argument vector of a shell. Nothing of the person's start-up files is read: what
// a command does must depend on the command.

import { ToolFailure } from '../../core/errors.ts';
import type { Exec } from '../../core/host.ts';
import type { ShellSettings } from '../../core/settings.ts';

const MAX_COMMAND_BYTES = 256 * 1024;

/** Characters of one argument: Linux takes 128 KiB, and a character has up to three bytes in UTF-8. */
const ARGUMENT_LENGTH = 32 * 1024;

/** Shells that understand what is put before a command. */
const POSIX = /(?:^|\/)(?:ba|da|a|z|k|mk)?sh$/;
const BASH = /(?:^|\/)bash$/;

/** Returns the argument vector for a command. Throws `ToolFailure` for a command that cannot be run. */
export type CommandLine = (
  command: string,
  place: { readonly exec: Exec; readonly cwd: string },
  signal: AbortSignal,
) => Promise<readonly string[]>;

export function createCommandLine(options: ShellSettings = {}): CommandLine {
  let shell = options.program;
  return async (command, { exec, cwd }, signal) => {
    checkCommand(command);
    shell ??= await findShell(exec, cwd, signal);
    return argv(shell, options.prefix === undefined ? command : `${options.prefix}\n${command}`);
  };
}

function checkCommand(command: string): void {
  if (command.trim() === '') throw new ToolFailure('The command is empty.');
  if (command.includes('\0')) throw new ToolFailure('The command contains a NUL character.');
  const bytes = new TextEncoder().encode(command).length;
  if (bytes > MAX_COMMAND_BYTES) {
    throw new ToolFailure(
      `The command has ${bytes} bytes; at most ${MAX_COMMAND_BYTES} are run. Write the data to a file first.`,
    );
  }
}

async function findShell(exec: Exec, cwd: string, signal: AbortSignal): Promise<string> {
  const found = await exec({ argv: ['/bin/sh', '-c', 'command -v bash'], cwd, timeoutMs: 10_000 }, signal);
  return found.exitCode === 0 ? found.stdout.text.trim() : '/bin/sh';
}

function argv(shell: string, command: string): readonly string[] {
  const start = BASH.test(shell) ? [shell, '--noprofile', '--norc', '-c'] : [shell, '-c'];
  if (!POSIX.test(shell)) return [...start, command];
  // One pipe for both streams keeps their lines in the order in which they were written.
  if (command.length <= ARGUMENT_LENGTH) return [...start, `exec 2>&1; ${command}`];
  return [...start, 'exec 2>&1; eval "set --; $(printf %s "$@")"', shell, ...pieces(command)];
}

function pieces(command: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < command.length; ) {
    let end = at + ARGUMENT_LENGTH;
    const last = command.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff) end--;
    parts.push(command.slice(at, end));
    at = end;
  }
  return parts;
}
