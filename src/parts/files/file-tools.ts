// The six tools over files. They reach files and programs through their context alone, so that the same tools work
// on another machine; what they share, the queue of changes among it, belongs to one call of this function.

import type { Tool, ToolContext } from '../../core/tool.ts';
import { createEditTool } from './edit-tool.ts';
import { createFindTool } from './find-tool.ts';
import { createGrepTool } from './grep-tool.ts';
import { createLsTool } from './ls-tool.ts';
import { createMutationQueue } from './mutation-queue.ts';
import { createReadRecord } from './read-record.ts';
import { createReadTool } from './read-tool.ts';
import { createDiffer } from './text-diff.ts';
import { createWriteTool } from './write-tool.ts';

export interface FileToolOptions {
  /** The ripgrep program to use; null for none. Default: the one on the PATH, or the optional package's. */
  readonly ripgrep?: string | null | undefined;
}

/** The tools `read`, `write`, `edit`, `grep`, `find` and `ls`. */
export function createFileTools(options: FileToolOptions = {}): readonly Tool[] {
  const record = createReadRecord();
  const mutation = { record, queue: createMutationQueue(), diff: createDiffer() };
  let found: Promise<string | undefined> | undefined;
  const ripgrep = async (context: ToolContext): Promise<string | undefined> => {
    found ??= import('./ripgrep.ts').then(({ findRipgrep }) =>
      findRipgrep(options.ripgrep, context.exec, context.identity.cwd, context.signal),
    );
    try {
      return await found;
    } catch (error) {
      // The search was given up, which says nothing about the program.
      found = undefined;
      throw error;
    }
  };
  return [
    createReadTool(record),
    createWriteTool(mutation),
    createEditTool(mutation),
    createGrepTool(ripgrep),
    createFindTool(ripgrep),
    createLsTool(),
  ];
}
