// The tools `cron_create`, `cron_list` and `cron_delete`: prompts that come by the clock. This is their face; what they do is
// loaded with the first call, and the schedule with it.

import type { Tool } from '../../core/tool.ts';
import type { CronStore } from './cron-store.ts';

export interface Crons {
  /** `crons.toml`; absolute. */
  readonly path: string;
  open(): Promise<CronStore>;
}

const calls = () => import('./cron-calls.ts');

export function createCronTools(crons: Crons): readonly Tool[] {
  return [createTool(crons), listTool(crons), deleteTool(crons)];
}

function createTool(crons: Crons): Tool {
  return {
    name: 'cron_create',
    aliases: ['CronCreate'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Schedules a prompt by a cron expression in local time: "0 9 * * 1-5" is at 9:00 on weekdays. ' +
      'It is kept on disk, and each time it is a conversation of its own.',
    keywords: [
      'recurring',
      'repeat',
      'every',
      'daily',
      'hourly',
      'weekly',
      'morning',
      'night',
      'periodically',
      'automatically',
      'job',
    ],
    input: {
      type: 'object',
      properties: {
        schedule: {
          type: 'string',
          description: 'minute hour day month weekday; with six fields seconds first',
        },
        prompt: { type: 'string', description: 'What is to be done; it must say everything' },
        skill: { type: 'string', description: 'In place of a prompt' },
        once: { type: 'boolean', description: 'Fire once' },
        quiet_start: { type: 'string', description: 'HH:MM; with quiet_end: leave out ticks in between' },
        quiet_end: { type: 'string' },
        timezone: { type: 'string', description: 'IANA name, default: the local one' },
      },
      required: ['schedule'],
      additionalProperties: false,
    },
    // `durable` is what other agents ask for, and what every entry is.
    prepare: ({ cron, recurring, durable: _durable, tz, ...input }) => ({
      ...input,
      ...(input['timezone'] === undefined && tz !== undefined && { timezone: tz }),
      ...(input['schedule'] === undefined && cron !== undefined && { schedule: cron }),
      ...(input['once'] === undefined && recurring === false && { once: true }),
    }),
    plan: async () => ({
      access: { kind: 'write', paths: [crons.path] },
      parallel: false,
      repeatable: false,
    }),
    run: async (input, context) => (await calls()).createCron(crons, input, context),
    show: async ({ schedule, prompt, skill }) => ({
      kind: 'markdown',
      text: `${schedule}: ${prompt ?? `/${skill}`}`,
    }),
  };
}

function listTool(crons: Crons): Tool {
  return {
    name: 'cron_list',
    aliases: ['CronList'],
    source: 'builtin',
    isDeferred: true,
    description: 'Lists the scheduled prompts with their ids and next times.',
    keywords: ['jobs', 'cron'],
    input: { type: 'object', properties: {} },
    plan: async () => ({ access: { kind: 'none' }, parallel: true, repeatable: true }),
    run: async (_input, { clock }) => (await calls()).listCrons(crons, new Date(clock.now())),
    show: async () => ({ kind: 'markdown', text: 'the schedule' }),
  };
}

function deleteTool(crons: Crons): Tool {
  return {
    name: 'cron_delete',
    aliases: ['CronDelete'],
    source: 'builtin',
    isDeferred: true,
    description: 'Takes a scheduled prompt out, by its id.',
    keywords: ['cancel', 'remove', 'job', 'stop'],
    input: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    plan: async () => ({
      access: { kind: 'write', paths: [crons.path] },
      parallel: false,
      repeatable: true,
    }),
    run: async ({ id }) => (await calls()).deleteCron(crons, Number(id)),
    show: async ({ id }) => ({ kind: 'markdown', text: `entry ${id}` }),
  };
}
