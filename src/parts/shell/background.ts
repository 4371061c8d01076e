// A command as a job of the conversation: it goes on when its call is over. Its output is read as fast as the job's file
// takes it, and no faster, so that a program that talks for ever waits for the disk.

import type { RunningProcess } from '../../core/host.ts';
import type { Job } from '../../core/job.ts';
import type { ToolContext } from '../../core/tool.ts';

export interface BackgroundCommand {
  readonly command: string;
  readonly argv: readonly string[];
  /** In a terminal: it can be typed to. */
  readonly terminal: boolean;
  /** Outside the sandbox, which a person has allowed. */
  readonly unconfined: boolean;
}

/** Names of the tools that a model needs when there is a job. */
export const JOB_TOOLS = ['task_output', 'task_stop', 'task_input', 'monitor'] as const;

const TERMINAL = { columns: 120, rows: 40 } as const;

const TITLE_LENGTH = 200;

/** Resolves when the program runs. Rejects with `ToolFailure` when it cannot be started: then there is no news of it. */
export async function startInBackground(spec: BackgroundCommand, context: ToolContext): Promise<Job> {
  const { jobs, open, identity } = context;
  const { promise: started, resolve, reject } = Promise.withResolvers<RunningProcess>();
  started.catch(() => {});
  const job = await jobs.start({
    kind: 'command',
    title: titleOf(spec.command),
    run: async (output, signal) => {
      const terminal = spec.terminal ? { terminal: TERMINAL } : {};
      const { argv, unconfined } = spec;
      const opening = open({ argv, cwd: identity.cwd, unconfined, ...terminal }, signal);
      opening.then(resolve, reject);
      const child = await opening;
      if (!spec.terminal) child.end();
      return follow(child, output);
    },
    ...(spec.terminal && { input: async (text: string) => (await started).write(text) }),
  });
  try {
    await started;
  } catch (error) {
    jobs.seen(job.id);
    throw error;
  }
  return job;
}

async function follow(child: RunningProcess, output: (text: string) => Promise<void>) {
  const read = async (stream: AsyncIterable<Uint8Array>) => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for await (const bytes of stream) await output(decoder.decode(bytes, { stream: true }));
    await output(decoder.decode());
  };
  const all = Promise.all([read(child.stdout), read(child.stderr)]);
  const end = await child.ended;
  await all;
  return end;
}

function titleOf(command: string): string {
  const line = command.trim().split('\n', 1)[0] ?? '';
  const isWhole = line === command.trim() && line.length <= TITLE_LENGTH;
  return isWhole ? line : `${line.slice(0, TITLE_LENGTH)}…`;
}
