// Whether a folder is there, and what is in it. Commands run on this machine, whatever serves the files of a conversation, so it is asked
// itself, and at once: a command line is read in one go.

import { opendirSync, statSync } from 'node:fs';

/** `path` is absolute. Never throws. */
export function isLocalFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** In a folder of more names than these nobody looks for one. */
const MAX_NAMES = 5000;

/** Whether no name in it begins as an option, or a file of options, does. `path` is absolute. Never throws. */
export function hasPlainNames(path: string): boolean {
  try {
    const folder = opendirSync(path);
    try {
      for (let count = 0; count < MAX_NAMES; count += 1) {
        const entry = folder.readSync();
        if (entry === null) return true;
        if (/^[-+@]/.test(entry.name)) return false;
      }
      return false;
    } finally {
      folder.closeSync();
    }
  } catch {
    return false;
  }
}
