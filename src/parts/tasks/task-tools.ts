// The tools `task_create`, `task_get`, `task_list` and `task_update`: work that is divided into tasks that wait for each
// other. This is their face; what they do is loaded with the first call.

import type { JsonObject, JsonSchema } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import { TASK_STATUSES } from './task-statuses.ts';

const calls = () => import('./task-calls.ts');

const ID: JsonSchema = { type: 'string' };
const IDS: JsonSchema = { type: 'array', items: ID };
const LINKS: Readonly<Record<string, JsonSchema>> = {
  addBlocks: { ...IDS, description: 'Tasks that wait for this one' },
  addBlockedBy: { ...IDS, description: 'Tasks that this one waits for' },
};

export function createTaskTools(): readonly Tool[] {
  return [createTool, getTool, listTool, updateTool];
}

const createTool: Tool = {
  name: 'task_create',
  aliases: ['TaskCreate'],
  source: 'builtin',
  isDeferred: true,
  description:
    'Adds a task to the shared list, as pending. For work in which tasks wait for each other or have owners; ' +
    'for your own steps todo_write is simpler.',
  keywords: ['dependencies', 'dependency', 'todo'],
  input: {
    type: 'object',
    properties: {
      subject: { type: 'string', description: 'A short title, as an order' },
      description: { type: 'string', description: 'What is to be done, and when it is done' },
      activeForm: { type: 'string', description: 'Shown while it is in progress: "Running the tests"' },
      metadata: { type: 'object' },
      ...LINKS,
    },
    required: ['subject', 'description'],
    additionalProperties: false,
  },
  prepare: renamed,
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: false }),
  run: async (input, context) => (await calls()).create(input, context),
  show: async (input) => ({ kind: 'markdown', text: String(input['subject']) }),
};

const getTool: Tool = {
  name: 'task_get',
  aliases: ['TaskGet'],
  source: 'builtin',
  isDeferred: true,
  description: 'Returns one task with everything that is known of it.',
  input: { type: 'object', properties: { taskId: ID }, required: ['taskId'] },
  prepare: renamed,
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  run: async (input, context) => (await calls()).get(input, context),
  show: async (input) => ({ kind: 'markdown', text: `task ${input['taskId']}` }),
};

const listTool: Tool = {
  name: 'task_list',
  aliases: ['TaskList'],
  source: 'builtin',
  isDeferred: true,
  description: 'Lists all tasks: status, owner, what each waits for, and which can be taken up.',
  input: { type: 'object', properties: {} },
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  run: async (_input, context) => (await calls()).list(context),
  open: async (state) => (await calls()).open(state),
  show: async () => ({ kind: 'markdown', text: 'all tasks' }),
};

const updateTool: Tool = {
  name: 'task_update',
  aliases: ['TaskUpdate'],
  source: 'builtin',
  isDeferred: true,
  description:
    'Changes a task: status, owner, text, or what it waits for. A task cannot start before those it waits for are ' +
    'completed, and a circle is refused. Status deleted takes it away.',
  keywords: ['mark', 'done', 'complete', 'finish', 'assign'],
  input: {
    type: 'object',
    properties: {
      taskId: ID,
      status: { type: 'string', enum: TASK_STATUSES },
      subject: { type: 'string' },
      description: { type: 'string' },
      activeForm: { type: 'string' },
      owner: { type: 'string', description: 'Empty: nobody' },
      metadata: { type: 'object', description: 'Merged by key; null removes one' },
      ...LINKS,
      removeBlockedBy: IDS,
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  prepare: renamed,
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  run: async (input, context) => (await calls()).update(input, context),
  show: async ({ taskId, status }) => ({
    kind: 'markdown',
    text: `task ${taskId}${status === undefined ? '' : `: ${status}`}`,
  }),
};

/** The spellings of other agents: `task_id`, `active_form`, `blocked_by`. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  id: 'taskId',
  task_id: 'taskId',
  active_form: 'activeForm',
  title: 'subject',
  blocks: 'addBlocks',
  add_blocks: 'addBlocks',
  blocked_by: 'addBlockedBy',
  blockedBy: 'addBlockedBy',
  add_blocked_by: 'addBlockedBy',
  depends_on: 'addBlockedBy',
  dependencies: 'addBlockedBy',
  remove_blocked_by: 'removeBlockedBy',
};

function renamed(input: JsonObject): JsonObject {
  const entries = Object.entries(input).map(([name, value]) => [OTHER_NAMES[name] ?? name, value] as const);
  // What is given by its own name counts for more than by another one.
  return { ...Object.fromEntries(entries), ...Object.fromEntries(entries.filter(([name]) => name in input)) };
}
