// The facts of today that a model cannot know: what is told once, at the end of the system prompt.

import { localDay } from '../core/local-time.ts';
import type { GitHead } from './git.ts';

export interface Surroundings {
  readonly cwd: string;
  readonly platform: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly git: GitHead | undefined;
  readonly directories: readonly string[];
}

/** Lines for the system prompt. */
export function describeSurroundings(at: Surroundings): readonly string[] {
  const lines = [`Date: ${localDay(at.now)}`, `Platform: ${at.platform}`, `Working directory: ${at.cwd}`];
  if (at.directories.length > 0) lines.push(`Also open: ${at.directories.join(', ')}`);
  if (at.git !== undefined) {
    const { branch, commit } = at.git;
    const where = branch === undefined ? 'no branch' : `branch ${branch}`;
    lines.push(`Git: ${where}${commit === undefined ? '' : ` at ${commit.slice(0, 10)}`}`);
  }
  return lines;
}
