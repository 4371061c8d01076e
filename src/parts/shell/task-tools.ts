// The tools for what runs behind the conversation: `task_output`, `task_stop`, `task_input`. A model is sent them from the
// moment that there is a job. This is their face; what they do is loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import { quoted } from './quote.ts';
import type { Readings } from './readings.ts';

const calls = () => import('./task-calls.ts');

const FREE = { access: { kind: 'none' }, parallel: true, repeatable: true } as const;

const ID = { type: 'string', description: 'The id of the job, such as c1' } as const;

export function createTaskTools(readings: Readings): readonly Tool[] {
  return [taskOutput(readings), taskStop(), taskInput(readings)];
}

function taskOutput(readings: Readings): Tool {
  return {
    name: 'task_output',
    aliases: ['TaskOutput', 'BashOutput', 'bash_output', 'AgentOutput'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Reads what a background job printed since the last reading, and how it stands. Without an id it lists the jobs.',
    keywords: ['log', 'process', 'server'],
    input: {
      type: 'object',
      properties: {
        task_id: ID,
        block: { type: 'boolean', description: 'Wait until the job ends, at most timeout' },
        timeout: { type: 'integer', description: 'Milliseconds, default 30000, at most 600000' },
        filter: { type: 'string', description: 'Only lines that match this regular expression' },
        offset: { type: 'integer', description: 'Read from this byte on instead', minimum: 0 },
      },
      additionalProperties: false,
    },
    prepare: withId,
    // What is new is read once: two readings of the same job side by side would share it out.
    plan: async () => ({ ...FREE, parallel: false }),
    show: async ({ task_id }) => ({ kind: 'markdown', text: `Output of ${task_id ?? 'the jobs'}` }),
    run: async (input, context) => (await calls()).readJob(input, { readings, context }),
  };
}

function taskStop(): Tool {
  return {
    name: 'task_stop',
    aliases: ['TaskStop', 'KillShell', 'KillBash', 'kill_shell', 'kill_bash'],
    source: 'builtin',
    isDeferred: true,
    description: 'Ends a background job and everything that it started.',
    keywords: ['kill', 'cancel', 'terminate', 'server', 'process'],
    input: {
      type: 'object',
      properties: { task_id: ID },
      required: ['task_id'],
      additionalProperties: false,
    },
    prepare: withId,
    plan: async () => FREE,
    show: async ({ task_id }) => ({ kind: 'markdown', text: `Stop ${task_id}` }),
    run: async (input, context) => (await calls()).stopJob(String(input['task_id']), context),
  };
}

function taskInput(readings: Readings): Tool {
  return {
    name: 'task_input',
    aliases: ['write_stdin', 'WriteStdin', 'send_input'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Types into a job that was started with pty, and returns what it answers. End a line with \\n; \\u0003 is Ctrl-C.',
    keywords: ['answer', 'interactive', 'prompt', 'terminal', 'stdin', 'keyboard', 'send'],
    input: {
      type: 'object',
      properties: { task_id: ID, input: { type: 'string' } },
      required: ['task_id', 'input'],
      additionalProperties: false,
    },
    prepare: (given) => {
      const { chars, text = chars, input = text, ...rest } = withId(given);
      return { ...rest, ...(input !== undefined && { input }) };
    },
    // What is typed is carried out by a program that nobody here understands, so it is no command that a rule for
    // commands could let through.
    plan: async ({ input }, cwd) => ({
      access: { kind: 'command', command: `task_input ${quoted(String(input))}`, cwd },
      parallel: false,
      repeatable: false,
    }),
    show: async ({ task_id, input }) => ({
      kind: 'command',
      command: `${task_id} < ${quoted(String(input))}`,
    }),
    run: async (input, context) => (await calls()).typeInto(input, { readings, context }),
  };
}

/** The names that other agents' tools give the same id. */
function withId(input: JsonObject): JsonObject {
  const { bash_id, shell_id, job_id, session_id, id, ...rest } = input;
  const { task_id = bash_id ?? shell_id ?? job_id ?? session_id ?? id, ...others } = rest;
  return { ...others, ...(task_id != null && { task_id: String(task_id) }) };
}
