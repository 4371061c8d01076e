// The tool `delegate`: gives tasks to another agent. All tasks of a call are for one agent, so that a rule about an agent is
// a rule about the call; calls of one message run side by side. Each task is told everything that it needs, since it knows
// nothing of the conversation that it comes from. This is its face; what it does is loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import { agentOf, tasksOf } from './delegated-tasks.ts';

/** Tasks of one call, which all run at once. */
const MAX_TASKS = 8;

export const delegateTool: Tool = {
  name: 'delegate',
  aliases: ['Agent', 'Task', 'agent', 'task'],
  source: 'builtin',
  listsAgents: true,
  description:
    'Gives tasks to another agent, all at once, and returns its last words on each. It knows nothing of this conversation: ' +
    'say in each prompt what is wanted, where to look, and what to report. For tasks that change files side by side give ' +
    'each a cwd of its own. With background the call returns at once with ids for task_output, and you are told when they end.',
  input: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Its name; default worker' },
      tasks: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_TASKS,
        items: {
          type: 'object',
          properties: {
            prompt: { type: 'string' },
            description: { type: 'string', description: 'The task in three to six words' },
            cwd: { type: 'string', description: 'The folder to work in, inside of yours' },
          },
          required: ['prompt'],
          additionalProperties: false,
        },
      },
      background: { type: 'boolean' },
    },
    required: ['tasks'],
    additionalProperties: false,
  },
  prepare: renamed,
  plan: async (input) => ({
    access: { kind: 'spawn', agent: agentOf(input) },
    parallel: true,
    repeatable: false,
  }),
  show: async (input) => ({
    kind: 'subrun',
    agent: agentOf(input),
    task: tasksOf(input)
      .map(({ title }) => title)
      .join('; '),
  }),
  run: async (input, context) => (await import('./delegate-calls.ts')).delegate(input, context),
};

/** One task beside the list, and the words that other agents' tools have for the same. */
function renamed(input: JsonObject): JsonObject {
  const {
    subagent_type,
    agent = subagent_type,
    run_in_background,
    background = run_in_background,
    ...rest
  } = input;
  const { prompt, task = prompt, description, cwd, tasks, ...others } = rest;
  const one = {
    prompt: task,
    ...(description !== undefined && { description }),
    ...(cwd !== undefined && { cwd }),
  };
  const all = tasks ?? (task === undefined ? undefined : [one]);
  return {
    ...others,
    ...(agent !== undefined && { agent }),
    ...(all !== undefined && { tasks: Array.isArray(all) ? all.map(taskOf) : all }),
    ...(background !== undefined && { background }),
  };
}

function taskOf(given: unknown): unknown {
  return typeof given === 'string' ? { prompt: given } : given;
}
