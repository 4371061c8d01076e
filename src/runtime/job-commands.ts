// `jobs`: what runs behind the conversation, and its end.

import type { Effect } from '../core/command.ts';
import { messageOf, ToolFailure } from '../core/errors.ts';
import type { Command, Extension } from '../core/extension.ts';
import { listing, standing } from '../parts/shell/standing.ts';

const jobs: Command = {
  name: 'jobs',
  aliases: ['tasks'],
  description: 'List what runs in the background, or stop one of it',
  usage: '[stop ID]',
  side: 'runtime',
  run: async (args, context): Promise<Effect> => {
    if (args === '') return { kind: 'text', text: listing(context.jobs.list(), context.now()) };
    const [, id] = /^stop\s+(\S+)$/.exec(args) ?? [];
    if (id === undefined) return { kind: 'error', message: 'The form is ,jobs [stop ID].' };
    try {
      const job = await context.jobs.stop(id);
      return { kind: 'text', text: `${standing(job, context.now())}: ${job.title}` };
    } catch (error) {
      if (error instanceof ToolFailure) return { kind: 'error', message: messageOf(error) };
      throw error;
    }
  },
};

export const jobCommands: Extension = { name: 'jobs', commands: async () => [jobs] };
