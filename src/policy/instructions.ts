// Which files of instructions speak for a folder: the person's own first, then from the root of the file system down
// to where we are, so that the nearest has the last word. What a folder says under two names for the same thing is read
// once. The person's own prompt files stand in Crab's home; those of a project would let it change who Crab is.

import type { InstructionFile } from '../core/agent.ts';
import { messageOf } from '../core/errors.ts';
import type { Files } from '../core/host.ts';

/** Of each line, the first that a folder has is read. */
const NAMES = [['Crab.md'], ['AGENTS.md', 'CLAUDE.md']] as const;

const SYSTEM_NAME = 'SYSTEM.md';
const APPEND_NAME = 'APPEND_SYSTEM.md';

const MAX_FILE_BYTES = 32 * 1024;

export interface InstructionSearch {
  readonly files: Pick<Files, 'read' | 'info'>;
  readonly cwd: string;
  /** Crab's home, whose own file speaks everywhere. */
  readonly home: string | undefined;
}

export interface Found {
  /** Takes the place of the built-in prompt. */
  readonly system?: string;
  readonly append: readonly string[];
  readonly files: readonly InstructionFile[];
  /** What could not be read, and why. */
  readonly skipped: readonly string[];
}

export async function findInstructions({ files, cwd, home }: InstructionSearch): Promise<Found> {
  const folders = [...(home === undefined ? [] : [home]), ...foldersDownTo(cwd)];
  const skipped: string[] = [];
  const read = (path: string) => readInstructions(files, path, skipped);
  const firstOf = async (folder: string, names: readonly string[]) => {
    for (const name of names) {
      const file = await read(`${folder === '/' ? '' : folder}/${name}`);
      if (file !== undefined) return file;
    }
    return undefined;
  };
  const wanted = folders.flatMap((folder) => NAMES.map((names) => firstOf(folder, names)));
  const [system, append, ...found] = await Promise.all([
    home === undefined ? undefined : read(`${home}/${SYSTEM_NAME}`),
    home === undefined ? undefined : read(`${home}/${APPEND_NAME}`),
    ...wanted,
  ]);
  return {
    ...(system !== undefined && { system: system.text }),
    append: append === undefined ? [] : [append.text],
    files: found.filter((file) => file !== undefined),
    skipped,
  };
}

/** Undefined for a file that is missing, empty or unreadable; the last is told in `skipped`. */
async function readInstructions(
  files: InstructionSearch['files'],
  path: string,
  skipped: string[],
): Promise<InstructionFile | undefined> {
  try {
    const info = await files.info(path);
    if (info === undefined) return undefined;
    if (info.kind !== 'file') {
      skipped.push(`${path} is no file`);
      return undefined;
    }
    const bytes = await files.read(path, { offset: 0, length: Math.min(info.size, MAX_FILE_BYTES) });
    const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
    const cut = info.size > MAX_FILE_BYTES ? `\n[cut at ${MAX_FILE_BYTES} bytes of ${info.size}]` : '';
    return text.trim() === '' ? undefined : { path, text: text + cut };
  } catch (error) {
    skipped.push(messageOf(error));
    return undefined;
  }
}

/** `/a/b` gives `/`, `/a`, `/a/b`. */
function foldersDownTo(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return ['/', ...parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)];
}
