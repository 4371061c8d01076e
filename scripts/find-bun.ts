// Where Bun's binary is. Its install script moves it out of the platform's package to where `.bin/bun` points; where
// install scripts do not run, a text file stands there and the binary is still in its package.

import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Throws when there is none for this machine. */
export function findBun(): string {
  const windows = process.platform === 'win32';
  const platform = `@oven/bun-${windows ? 'windows' : process.platform}-${process.arch}`;
  const candidates = [
    [platform, windows ? 'bun.exe' : 'bun'],
    ['bun', 'bun.exe'],
  ] as const;
  for (const [name, file] of candidates) {
    const folder = folderOf(name);
    if (folder !== undefined && isBinary(join(folder, 'bin', file))) return join(folder, 'bin', file);
  }
  throw new Error(`no Bun for ${process.platform}-${process.arch} in node_modules; run npm ci`);
}

function folderOf(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function isBinary(path: string): boolean {
  return existsSync(path) && statSync(path).size > 1024 * 1024;
}
