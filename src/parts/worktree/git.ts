// What the worktree tools ask git for. No hook of the repository runs: entering a worktree must not start its programs.

import { ToolFailure } from '../../core/errors.ts';
import type { ExecResult } from '../../core/host.ts';
import type { ToolContext } from '../../core/tool.ts';

/** `scratch`: a folder that commands may write, where there is one. */
export type GitContext = Pick<ToolContext, 'exec' | 'signal'> & Partial<Pick<ToolContext, 'scratch'>>;

const TIMEOUT_MS = 60_000;

/** The output without its last line end. Throws `ToolFailure` with git's own words. */
export async function git(context: GitContext, cwd: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(context, cwd, args);
  if (exitCode === 0) return stdout.text.replace(/\n$/, '');
  const why = (stderr.text.trim() || stdout.text.trim()).replace(/^fatal: /, '');
  throw new ToolFailure(`git ${whatOf(args)} failed: ${why || `exit code ${exitCode}`}`);
}

async function runGit(
  { exec, signal }: GitContext,
  cwd: string,
  args: readonly string[],
): Promise<ExecResult> {
  const result = await exec(
    {
      argv: ['git', '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', ...args],
      cwd,
      env: { GIT_TERMINAL_PROMPT: '0' },
      timeoutMs: TIMEOUT_MS,
      separate: true,
      // A worktree lies in Crab's home, where nothing confined can make one.
      unconfined: true,
    },
    signal,
  );
  if (!result.timedOut) return result;
  throw new ToolFailure(`git ${whatOf(args)} took longer than ${TIMEOUT_MS / 1000} seconds.`);
}

function whatOf(args: readonly string[]): string {
  return args
    .filter((arg) => !arg.startsWith('-'))
    .slice(0, 2)
    .join(' ');
}

/** Undefined where there is no repository. */
export async function topFolder(context: GitContext, cwd: string): Promise<string | undefined> {
  return parsed(context, cwd, ['--show-toplevel']);
}

/** Undefined where nothing is committed yet. */
export async function currentCommit(context: GitContext, cwd: string): Promise<string | undefined> {
  return parsed(context, cwd, ['--verify', '--quiet', 'HEAD^{commit}']);
}

async function parsed(
  context: GitContext,
  cwd: string,
  args: readonly string[],
): Promise<string | undefined> {
  const { exitCode, stdout } = await runGit(context, cwd, ['rev-parse', ...args]);
  return exitCode === 0 ? stdout.text.replace(/\n$/, '') : undefined;
}
