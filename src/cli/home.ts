// Where Crab keeps what it must remember: `$CRAB_HOME`, else `.crab` in the person's home folder.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { CrabError } from '../core/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function crabHome(env: Environment): string {
  const given = env.CRAB_HOME;
  if (given !== undefined && given !== '') return isAbsolute(given) ? given : resolve(workingFolder(), given);
  return join(homeFolder(env), '.crab');
}

export function homeFolder(env: Environment): string {
  return env.HOME !== undefined && env.HOME !== '' ? env.HOME : homedir();
}

/** Throws `CrabError cwd-missing`. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new CrabError('cwd-missing', 'The working directory does not exist.', { cause });
  }
}
