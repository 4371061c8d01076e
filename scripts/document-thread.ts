// The thread that reads documents, for whoever installs Crab: a program that Crab starts by its name. It is built apart from
// the rest, since what both share would otherwise become one more file that every start loads.

import { fileURLToPath } from 'node:url';
import { build, type RolldownOutput } from 'rolldown';

/** Names stay whole: they make stack traces readable, and shorter ones start no faster. */
export const MINIFY = { compress: true, mangle: false, codegen: true } as const;

/** Returns the folders of the packages that became part of it. */
export async function writeDocumentThread(target: string): Promise<readonly string[]> {
  const { output } = await build({
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    input: { 'document-thread': 'src/parts/documents/document-thread.ts' },
    platform: 'node',
    output: {
      dir: target,
      format: 'cjs',
      chunkFileNames: 'document-[name].js',
      dynamicImportInCjs: false,
      minify: MINIFY,
    },
  });
  return packagesOf(output);
}

export function packagesOf(output: RolldownOutput['output']): readonly string[] {
  const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)].sort();
}
