// The tools over files. They reach files and programs through their context alone, so that the same tools work
// on another machine; what they share, the queue of changes among it, belongs to one call of this function.

import type { Documents } from '../../core/document.ts';
import type { Tool, ToolContext } from '../../core/tool.ts';
import { createEditTool } from './edit-tool.ts';
import { createExcerptTool } from './excerpt-tool.ts';
import { createFindTool } from './find-tool.ts';
import { createGrepTool, type Ripgrep } from './grep-tool.ts';
import { createLsTool } from './ls-tool.ts';
import { createMutationQueue } from './mutation-queue.ts';
import { createNotebookTool } from './notebook-tool.ts';
import { createPatchTool } from './patch-tool.ts';
import { createReadRecord } from './read-record.ts';
import { createReadTool } from './read-tool.ts';
import { createDiffer } from './text-diff.ts';
import { createWriteTool } from './write-tool.ts';

export interface FileToolOptions {
  /** The ripgrep program to use; null for none. Default: the one on the PATH, or the optional package's. */
  readonly ripgrep?: string | null | undefined;
  /** Without it PDF documents are refused. */
  readonly documents?: Documents;
}

/** The tools of every conversation first, then those that `tool_search` finds. */
export function createFileTools(options: FileToolOptions = {}): readonly Tool[] {
  const record = createReadRecord();
  const mutation = { record, queue: createMutationQueue(), diff: createDiffer() };
  const ripgrep = createRipgrepSearch(options.ripgrep);
  return [
    createReadTool(record, options.documents),
    createWriteTool(mutation),
    createEditTool(mutation),
    createGrepTool(ripgrep),
    createFindTool(ripgrep),
    createLsTool(),
    createNotebookTool(mutation),
    createPatchTool(mutation),
    createExcerptTool(),
  ];
}

/** The first search looks for the program, and the others wait for what it finds. */
function createRipgrepSearch(given: string | null | undefined): Ripgrep {
  let found: Promise<string | undefined> | undefined;
  const look = async ({ exec, identity, signal }: ToolContext) => {
    const { findRipgrep } = await import('./ripgrep.ts');
    return findRipgrep(given, exec, identity.cwd, signal);
  };
  return async (context) => {
    const mine = found === undefined;
    found ??= look(context);
    try {
      return await found;
    } catch (error) {
      // The call that looked was given up, which says nothing about the program.
      found = undefined;
      if (mine || context.signal.aborted) throw error;
      return look(context);
    }
  };
}
