// The tools of a run, each call of which is watched for what it changes in files. It hangs on what a call declares that it
// may touch and on nothing else, so that every tool of every source is covered; the record goes to the tape with the result.

import type { Job } from '../core/job.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import type { Conversation } from './conversation.ts';

export function watchedTools(
  tools: ReadonlyMap<string, Tool>,
  conversation: Conversation,
): ReadonlyMap<string, Tool> {
  return new Map([...tools].map(([name, tool]) => [name, watchedTool(tool, conversation)]));
}

function watchedTool(tool: Tool, conversation: Conversation): Tool {
  const { name } = tool;
  return {
    ...tool,
    run: async (given, context) => {
      const { access } = await tool.plan(given, context.identity.cwd);
      // Looking at all files would take longer than a command that is known to change none.
      if (access.kind === 'command') {
        const { mode } = context.identity;
        if (await conversation.permissions.onlyReads({ tool: name, input: given, access, mode }))
          return tool.run(given, context);
      }
      const watch = await conversation.watch(access, watchOptions(context, conversation));
      if (watch === undefined) return tool.run(given, context);
      const before = new Set(runningJobs(conversation).map(({ id }) => id));
      try {
        return await tool.run(given, { ...context, files: watch.files });
      } finally {
        const begun = runningJobs(conversation).filter(({ id }) => !before.has(id));
        if (begun.length > 0) conversation.watchOn(watch, begun);
        else conversation.noteFiles(await watch.end());
      }
    },
  };
}

function runningJobs({ jobs }: Conversation): readonly Job[] {
  return jobs.list().filter(({ state }) => state === 'running');
}

function watchOptions({ callId, identity, files, signal }: ToolContext, conversation: Conversation) {
  return {
    call: callId,
    cwd: identity.cwd,
    files,
    // Whatever the tool is: what a model may not read is not kept either.
    withheld: () => conversation.permissions.withheld('read', conversation.identity.mode),
    signal,
  };
}
