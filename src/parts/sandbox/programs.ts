// Which programs of this machine a backend is made of. They are looked for in the system's folders and never by the
// person's PATH: a folder of a project may be in it, and what confines must not come from what is confined.

import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';

export const SYSTEM_FOLDERS = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/usr/sbin',
  '/run/current-system/sw/bin',
  '/opt/homebrew/bin',
] as const;

export const WINDOWS_FOLDERS = ['C:\\Windows\\System32', 'C:\\Program Files\\WSL'] as const;

export function findProgram(name: string, folders: readonly string[] = SYSTEM_FOLDERS): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function existing(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => existsSync(path));
}
