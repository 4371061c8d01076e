import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolContext } from '../../../test/support/tool-context.ts';
import { textOf } from '../../../test/support/tool-folder.ts';
import type { KnownTool } from '../../core/tool.ts';
import { rankTools } from './rank-tools.ts';
import { toolSearchTool } from './tool-search.ts';

const known = (name: string, description: string, more: Partial<KnownTool> = {}): KnownTool => ({
  name,
  aliases: [],
  keywords: [],
  description,
  input: { type: 'object', properties: {} },
  isOffered: false,
  ...more,
});

const TOOLS: readonly KnownTool[] = [
  known('bash', 'Runs a command.', { isOffered: true }),
  known('task_create', 'Adds a task to the shared list.', { aliases: ['TaskCreate'] }),
  known('task_list', 'Lists all tasks.'),
  known('cron_create', 'Schedules a prompt by a cron expression.'),
  known('enter_worktree', 'Makes a git worktree and goes on working there.'),
];

async function search(query: string, more = {}): Promise<{ text: string; offered: readonly string[] }> {
  const offered: string[] = [];
  const tools = { list: () => TOOLS, offer: (names: readonly string[]) => void offered.push(...names) };
  const output = await toolSearchTool.run({ query, ...more }, toolContext('/work', { tools }));
  return { text: textOf(output), offered };
}

test('words of the name count more than words of the description', () => {
  const names = (query: string) => rankTools(query, TOOLS).map(({ name }) => name);
  assert.deepEqual(names('list'), ['task_list', 'task_create']);
  assert.deepEqual(names('scheduling prompts'), ['cron_create']);
  assert.deepEqual(names('TaskCreate').slice(0, 1), ['task_create']);
  assert.deepEqual(names('+create task'), ['task_create', 'cron_create']);
  assert.deepEqual(names('the of and'), []);
});

test('what is found is offered and described, and what is offered already is not looked for', async () => {
  const { text, offered } = await search('create a task', { max_results: 1 });
  assert.deepEqual(offered, ['task_create']);
  assert.equal(
    text,
    'You can call these from here on:\n\ntask_create: Adds a task to the shared list.\n{"type":"object","properties":{}}',
  );
  assert.deepEqual((await search('run a command')).offered, []);
});

test('names are selected as they are, by other names, too', async () => {
  assert.deepEqual((await search('select:TaskCreate, bash')).offered, ['task_create', 'bash']);
  await assert.rejects(
    search('select:nothing'),
    /There is no tool nothing\. The tools are: bash, task_create/,
  );
  await assert.rejects(search('select:'), /no name was given/);
});

test('where nothing matches, the model is told what there is', async () => {
  const { text, offered } = await search('quantum');
  assert.deepEqual(offered, []);
  assert.equal(
    text,
    'No other tool matches. Not shown to you yet: task_create, task_list, cron_create, enter_worktree.',
  );
});
