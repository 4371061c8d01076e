// A folder to work in and a home beside it, both temporary. With git it is a real repository whose commits
// have the same ids on every machine.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface Workspace extends AsyncDisposable {
  /** Absolute, without links. */
  readonly path: string;
  /** An empty home of its own, outside `path`. */
  readonly home: string;
  file(name: string): string;
  read(name: string): Promise<string>;
  /** Makes missing folders. */
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** Runs git here and returns what it printed, without the last line end. */
  git(...args: readonly string[]): Promise<string>;
}

export interface WorkspaceOptions {
  /** A repository whose first commit holds the files. Default: true. */
  readonly git?: boolean;
}

/** `files` are contents by their path below the workspace. */
export async function tempWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  { git: withGit = true }: WorkspaceOptions = {},
): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crab-test-')));
  const path = join(root, 'work');
  const home = join(root, 'home');
  await Promise.all([mkdir(path), mkdir(home)]);
  const file = (name: string) => resolve(path, name);
  const write = async (name: string, content: string | Uint8Array) => {
    await mkdir(dirname(file(name)), { recursive: true });
    await writeFile(file(name), content);
  };
  const git = (...args: readonly string[]) => runGit(path, args);
  for (const [name, content] of Object.entries(files)) await write(name, content);
  if (withGit) {
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message=first');
  }
  return {
    path,
    home,
    file,
    write,
    git,
    read: (name) => readFile(file(name), 'utf8'),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ann Author',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_AUTHOR_DATE: '2025-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Ann Author',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
  GIT_COMMITTER_DATE: '2025-01-01T00:00:00Z',
};

async function runGit(cwd: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], ...GIT_ENVIRONMENT };
  const { stdout } = await promisify(execFile)('git', args, { cwd, env });
  return stdout.replace(/\n$/, '');
}
