// The grammar of bash and what runs it, packed for whoever installs Crab: 1.5 MB become 270 KB.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const PACKAGES = ['web-tree-sitter', 'tree-sitter-bash'] as const;

/** Returns the files, and the folders of the packages that they come from. */
export function writeGrammar(target: string): {
  readonly files: readonly string[];
  readonly folders: readonly string[];
} {
  mkdirSync(target, { recursive: true });
  const made = PACKAGES.map((name) => {
    const folder = fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));
    const file = join(target, `${name}.wasm.gz`);
    writeFileSync(file, gzipSync(readFileSync(join(folder, `${name}.wasm`)), { level: 9 }));
    return { file, folder };
  });
  return { files: made.map(({ file }) => file), folders: made.map(({ folder }) => folder) };
}
