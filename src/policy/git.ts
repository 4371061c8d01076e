// The branch and commit of a folder, read from its `.git` without starting git: the format is stable (gitrepository-
// layout(5)), and a process would cost more than everything else before the first request.

import type { Files } from '../core/host.ts';

export interface GitHead {
  /** Absent when a commit is checked out directly. */
  readonly branch?: string;
  /** Absent before the first commit, or where refs are packed in a way that is not a plain file. */
  readonly commit?: string;
}

type Reader = Pick<Files, 'info' | 'read'>;

const MAX_HEAD_BYTES = 4096;
const MAX_PACKED_BYTES = 4 * 1024 * 1024;

/** Undefined where no folder from here up is a repository. */
export async function readGitHead(files: Reader, cwd: string): Promise<GitHead | undefined> {
  const gitFolder = await findGitFolder(files, cwd);
  if (gitFolder === undefined) return undefined;
  const head = await readText(files, `${gitFolder}/HEAD`, MAX_HEAD_BYTES);
  if (head === undefined) return undefined;
  const reference = /^ref: (refs\/\S+)/.exec(head)?.[1];
  if (reference === undefined) return isCommit(head) ? { commit: head.trim() } : {};
  const branch = reference.replace(/^refs\/heads\//, '');
  const commit = await resolveReference(files, gitFolder, reference);
  return commit === undefined ? { branch } : { branch, commit };
}

async function findGitFolder(files: Reader, cwd: string): Promise<string | undefined> {
  for (let folder = cwd; ; folder = folder.slice(0, folder.lastIndexOf('/'))) {
    const path = `${folder}/.git`;
    const info = await files.info(path).catch(() => undefined);
    if (info?.kind === 'directory') return path;
    if (info?.kind === 'file') return linkedFolder(files, folder, path);
    if (folder === '') return undefined;
  }
}

/** A linked worktree or a submodule: `.git` is a file that says where its folder is. */
async function linkedFolder(files: Reader, folder: string, path: string): Promise<string | undefined> {
  const text = await readText(files, path, MAX_HEAD_BYTES);
  const target = /^gitdir: (.+)$/m.exec(text ?? '')?.[1]?.trim();
  if (target === undefined) return undefined;
  return target.startsWith('/') ? target : `${folder}/${target}`;
}

async function resolveReference(
  files: Reader,
  gitFolder: string,
  reference: string,
): Promise<string | undefined> {
  const common = await readText(files, `${gitFolder}/commondir`, MAX_HEAD_BYTES);
  const shared = common === undefined ? undefined : common.trim();
  const folders = [gitFolder];
  if (shared !== undefined) folders.push(shared.startsWith('/') ? shared : `${gitFolder}/${shared}`);
  for (const folder of folders) {
    const text = await readText(files, `${folder}/${reference}`, MAX_HEAD_BYTES);
    if (text !== undefined && isCommit(text)) return text.trim();
  }
  for (const folder of folders) {
    const packed = await readText(files, `${folder}/packed-refs`, MAX_PACKED_BYTES);
    const line = packed?.split('\n').find((each) => each.endsWith(` ${reference}`));
    if (line !== undefined) return line.slice(0, line.indexOf(' '));
  }
  return undefined;
}

function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}\s*$/.test(text);
}

async function readText(files: Reader, path: string, most: number): Promise<string | undefined> {
  try {
    const info = await files.info(path);
    if (info?.kind !== 'file' || info.size > most) return undefined;
    return new TextDecoder().decode(await files.read(path));
  } catch {
    return undefined;
  }
}
