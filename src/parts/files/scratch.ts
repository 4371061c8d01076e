// Folders for output that is too long to show: outside the workspace, readable by their owner alone, made on first
// use and removed when their conversation closes.

import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';

export interface ScratchFolders {
  path(name: string): string;
  make(name: string): Promise<string>;
  write(name: string, file: string, text: string): Promise<string>;
  remove(name: string): Promise<void>;
}

/** @param parent the system's folder for temporary files */
export function createScratch(parent: string): ScratchFolders {
  const made = new Set<string>();
  const folders: ScratchFolders = {
    path: (name) => join(parent, name),
    async make(name) {
      const path = join(parent, name);
      if (!made.has(name)) {
        await claim(path);
        made.add(name);
      }
      return path;
    },
    async write(name, file, text) {
      const path = join(await folders.make(name), file.replaceAll(/[^\w.-]/g, '_'));
      await fs.writeFile(path, text, { mode: 0o600 });
      return path;
    },
    async remove(name) {
      if (made.delete(name)) await fs.rm(join(parent, name), { recursive: true, force: true });
    },
  };
  return folders;
}

/** Makes the folder, or takes over what a process of ours left that was killed. Anybody else's is not ours to write to. */
async function claim(path: string): Promise<void> {
  try {
    await fs.mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !(await isOurs(path))) throw error;
  }
}

async function isOurs(path: string): Promise<boolean> {
  const stats = await fs.lstat(path);
  // Elsewhere the folder for temporary files is each user's own.
  const isPrivate =
    process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o777) === 0o700);
  return stats.isDirectory() && isPrivate;
}
