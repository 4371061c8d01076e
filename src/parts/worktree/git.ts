// What the worktree tools ask git for. No hook of the repository runs: entering a worktree must not start its programs.

import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';

/** `scratch`: a folder that commands may write, where there is one. */
export type GitContext = Pick<ToolContext, 'exec' | 'signal'> & Partial<Pick<ToolContext, 'scratch'>>;

const TIMEOUT_MS = 60_000;

/** The output without its last line end. Throws `ToolFailure` with git's own words. */
export async function git(
  { exec, signal }: GitContext,
  cwd: string,
  args: readonly string[],
): Promise<string> {
  const { exitCode, stdout, stderr, timedOut } = await exec(
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
  const what = args
    .filter((arg) => !arg.startsWith('-'))
    .slice(0, 2)
    .join(' ');
  if (timedOut) throw new ToolFailure(`git ${what} took longer than ${TIMEOUT_MS / 1000} seconds.`);
  if (exitCode !== 0) {
    const why = (stderr.text.trim() || stdout.text.trim()).replace(/^fatal: /, '');
    throw new ToolFailure(`git ${what} failed: ${why || `exit code ${exitCode}`}`);
  }
  return stdout.text.replace(/\n$/, '');
}

/** Undefined where there is no repository. */
export async function topFolder(context: GitContext, cwd: string): Promise<string | undefined> {
  return git(context, cwd, ['rev-parse', '--show-toplevel']).catch((error: unknown) => {
    context.signal.throwIfAborted();
    if (error instanceof ToolFailure) return undefined;
    throw error;
  });
}
