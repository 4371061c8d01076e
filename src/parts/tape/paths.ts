// Where a session's file lies: `sessions/<agent>/<folder>/<ULID>.jsonl` in Crab's home. Names that come from
// outside become file names in one way only, and two different ones never become the same.

import { basename, join } from 'node:path';

import { CrabError } from '../../core/errors.ts';
import { checksum } from './line.ts';

export const SESSION_SUFFIX = '.jsonl';
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** Most file systems end at 255 bytes; the rest is for suffixes of our own. */
const MAX_NAME = 200;

export function sessionIdOf(path: string): string {
  return basename(path, SESSION_SUFFIX);
}

export function sessionsFolder(home: string): string {
  return join(home, 'sessions');
}

/** No agent's folder begins with a dot. */
export function trashFolder(home: string): string {
  return join(sessionsFolder(home), '.trash');
}

export function agentFolder(home: string, agent: string): string {
  return join(sessionsFolder(home), safeName(agent));
}

/**
 * The folder of one working directory: its readable name and a checksum. Two directories may share one
 * by chance, so whoever looks for a directory's sessions compares the header's `cwd`.
 */
export function projectFolder(home: string, agent: string, cwd: string): string {
  return join(agentFolder(home, agent), projectName(cwd));
}

export function projectName(cwd: string): string {
  const readable = basename(cwd)
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 40);
  return `${readable || 'root'}-${checksum(cwd)}`;
}

/** Capitals are escaped as well, since some file systems take `A` and `a` for one name. */
export function safeName(name: string): string {
  let safe = '';
  for (const byte of Buffer.from(name)) {
    const letter = String.fromCharCode(byte);
    safe += /[a-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0')}`;
  }
  if (safe !== '' && safe.length <= MAX_NAME) return safe;
  throw new CrabError(
    'usage',
    `The name “${name.slice(0, 60)}” is empty or too long to keep sessions under.`,
  );
}
