// Which files of instructions speak for a folder: the person's own first, then from the root of the file system down
// to where we are, so that the nearest has the last word. One name in each folder: what a folder says twice is read once.

import type { InstructionFile } from '../core/agent.ts';
import type { Files } from '../core/host.ts';

/** In each folder the first of these that exists is read. */
const NAMES = ['AGENTS.md', 'CLAUDE.md'];

const MAX_FILE_BYTES = 32 * 1024;

export interface InstructionSearch {
  readonly files: Pick<Files, 'read' | 'info'>;
  readonly cwd: string;
  /** Crab's home, whose own file speaks everywhere. */
  readonly home: string | undefined;
}

/** Unreadable files are passed over and named in `skipped`. */
export async function findInstructions(
  search: InstructionSearch,
): Promise<{ readonly files: readonly InstructionFile[]; readonly skipped: readonly string[] }> {
  const folders = [...(search.home === undefined ? [] : [search.home]), ...foldersDownTo(search.cwd)];
  const skipped: string[] = [];
  const found = await Promise.all(folders.map((folder) => inFolder(search.files, folder, skipped)));
  return { files: found.filter((file) => file !== undefined), skipped };
}

async function inFolder(
  files: InstructionSearch['files'],
  folder: string,
  skipped: string[],
): Promise<InstructionFile | undefined> {
  for (const name of NAMES) {
    const path = `${folder === '/' ? '' : folder}/${name}`;
    try {
      const info = await files.info(path);
      if (info === undefined) continue;
      if (info.kind !== 'file') {
        skipped.push(`${path} is no file`);
        continue;
      }
      const bytes = await files.read(path, { offset: 0, length: Math.min(info.size, MAX_FILE_BYTES) });
      const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
      const cut = info.size > MAX_FILE_BYTES ? `\n[cut at ${MAX_FILE_BYTES} bytes of ${info.size}]` : '';
      if (text.trim() !== '') return { path, text: text + cut };
    } catch (error) {
      skipped.push(error instanceof Error ? error.message : String(error));
    }
  }
  return undefined;
}

/** `/a/b` gives `/`, `/a`, `/a/b`. */
function foldersDownTo(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return ['/', ...parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)];
}
