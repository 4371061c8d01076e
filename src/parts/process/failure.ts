// Why a program could not be started, in words that a model or a person can act on. The system's own code
// is ambiguous: a missing folder and a missing program are both ENOENT, so the folder is looked at first.

import { statSync } from 'node:fs';
import { ToolFailure } from '../../core/errors.ts';
import type { ProcessRequest } from '../../core/host.ts';

/** Refuses what the system would cut short or misread. */
export function checkRequest({ argv, cwd, env }: ProcessRequest): void {
  if (argv[0] === undefined || argv[0] === '') throw new ToolFailure('There is no program to run.');
  if (argv.some(hasNul))
    throw new ToolFailure('A program’s name and its arguments cannot contain a NUL character.');
  if (hasNul(cwd)) throw new ToolFailure('The working directory contains a NUL character.');
  for (const [name, value] of Object.entries(env ?? {})) {
    if (hasNul(name) || (value !== undefined && hasNul(value))) {
      throw new ToolFailure(`The environment variable ${JSON.stringify(name)} contains a NUL character.`);
    }
  }
}

function hasNul(text: string): boolean {
  return text.includes('\0');
}

export function startFailure(error: NodeJS.ErrnoException, { argv, cwd }: ProcessRequest): ToolFailure {
  const reason = folderFault(cwd) ?? programFault(error.code, argv) ?? error.message;
  return new ToolFailure(reason, { cause: error });
}

/** For what would start a program in the wrong folder, or not say why it does not. */
export function checkFolder({ cwd }: ProcessRequest): void {
  const fault = folderFault(cwd);
  if (fault !== undefined) throw new ToolFailure(fault);
}

function folderFault(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return `The working directory ${cwd} is not a folder.`;
    // Asks for what entering it takes, and unlike access(2) with the rights that programs are started with.
    statSync(`${cwd}/.`);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `The working directory ${cwd} does not exist.`;
    if (code === 'ENOTDIR') return `The working directory ${cwd} lies under something that is not a folder.`;
    if (code === 'EACCES') return `The working directory ${cwd} cannot be entered: permission denied.`;
    return `The working directory ${cwd} cannot be used: ${message}.`;
  }
}

function programFault(code: string | undefined, argv: readonly string[]): string | undefined {
  const program = argv[0] ?? '';
  switch (code) {
    case 'ENOENT':
      return missing(program);
    case 'EACCES':
      return `${program} cannot be run: it is a folder, or not executable.`;
    case 'ENOEXEC':
      return `${program} is not a program that this system can run.`;
    case 'E2BIG': {
      const bytes = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0);
      return `The command is too long for this system (${bytes} bytes): put the data in a file.`;
    }
    case 'EAGAIN':
      return `${program} could not be started: too many processes are running.`;
    case 'ENOMEM':
      return `${program} could not be started: the system is out of memory.`;
    case 'EMFILE':
    case 'ENFILE':
      return `${program} could not be started: too many files are open.`;
    default:
      return undefined;
  }
}

function missing(program: string): string {
  if (!program.includes('/')) return `The program ${program} was not found in PATH.`;
  try {
    statSync(program);
    return `${program} exists, but the interpreter that its first line names does not.`;
  } catch {
    return `The program ${program} does not exist.`;
  }
}
