// Lines that the person types for the shell (`,git status`, `!ls`): the same shell and the same limits as
// the tool, but a shorter time, because somebody sits and waits.

import type { Exec } from '../../core/host.ts';
import type { ShellSettings } from '../../core/settings.ts';
import { createCommandLine } from './command-line.ts';
import { failed, KEEP, resultText, showOutput } from './result.ts';

const TIMEOUT_MS = 30_000;

export interface UserShellLine {
  readonly command: string;
  readonly cwd: string;
  /** Valid UTF-8 without terminal controls, as it arrives. */
  readonly onOutput?: (text: string) => void;
  /** Where the whole output goes when it is too long for `text`. */
  readonly spillTo?: string;
}

export interface UserShellResult {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Whether a model should hear of it: it timed out, or its exit code is not 0. */
  readonly failed: boolean;
  /** The output and how it ended, within the limits of a tool result. */
  readonly text: string;
}

/** Rejects as `Exec` does: with `ToolFailure`, or with the signal's reason. */
export type UserShell = (line: UserShellLine, exec: Exec, signal: AbortSignal) => Promise<UserShellResult>;

export function createUserShell(options: ShellSettings = {}): UserShell {
  const commandLine = createCommandLine(options);
  return async ({ command, cwd, onOutput, spillTo }, exec, signal) => {
    const argv = await commandLine(command, { exec, cwd }, signal);
    const request = { argv, cwd, timeoutMs: TIMEOUT_MS, onOutput, keep: KEEP, spillTo };
    const result = await exec(request, signal);
    const limits = { timeoutMs: TIMEOUT_MS, maxTimeoutMs: TIMEOUT_MS, saved: result.stdout.spilledTo };
    return {
      exitCode: result.exitCode,
      timedOut: result.timedOut,
      failed: failed(result),
      text: resultText(result, showOutput(result), limits),
    };
  };
}
