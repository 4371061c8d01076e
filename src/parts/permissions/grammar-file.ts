// Where the compiled grammar lies: inside of the standalone binary, packed beside the bundle where Crab is
// installed, in its package where Crab runs from its source. They are files of Crab's own, so no path of a person
// or a project is read here.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

declare const CRAB_VERSION: string | undefined;

export type GrammarFile = 'web-tree-sitter' | 'tree-sitter-bash';

/** The bytes of a WebAssembly module. */
export async function readGrammarFile(name: GrammarFile): Promise<Uint8Array> {
  const packed = `${name}.wasm.gz`;
  const embedded = embeddedFiles().find((file) => file.name === packed);
  if (embedded !== undefined) return gunzipSync(await embedded.arrayBuffer());
  if (typeof CRAB_VERSION === 'string')
    return gunzipSync(readFileSync(new URL(`./${packed}`, import.meta.url)));
  return readFileSync(new URL(`../../../node_modules/${name}/${name}.wasm`, import.meta.url));
}

interface EmbeddedFile {
  readonly name: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Bun's list of what its binary holds: with bytecode, `import.meta.url` is a path of the machine that built it. */
function embeddedFiles(): readonly EmbeddedFile[] {
  const { Bun } = globalThis as { readonly Bun?: { readonly embeddedFiles?: readonly EmbeddedFile[] } };
  return Bun?.embeddedFiles ?? [];
}
