import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestFolder, runForText } from '../../../test/support/tool-folder.ts';
import { createTodoTool } from './todo-tool.ts';

const tool = createTodoTool();
const todo = (content: string, status: string, more = {}) => ({ content, status, ...more });

test('a list takes the place of the one before, and is returned when none is given', async () => {
  await using at = await createTestFolder();
  await tool.run({ todos: [todo('a', 'pending'), todo('b', 'pending')] }, at.context);
  const next = [todo('b', 'in_progress', { activeForm: 'Doing b' }), todo('c', 'completed')];
  const { display } = await tool.run({ todos: next }, at.context);
  assert.deepEqual(display, {
    kind: 'todo',
    items: [
      { text: 'Doing b', state: 'active' },
      { text: 'c', state: 'done' },
    ],
  });
  assert.equal(await runForText(tool, {}, at.context), '1. [in_progress] b\n2. [completed] c');
});

test('a list that cannot be meant changes nothing', async () => {
  await using at = await createTestFolder();
  await tool.run({ todos: [todo('a', 'pending')] }, at.context);
  for (const [todos, message] of [
    [
      [todo('b', 'in_progress'), todo('c', 'in_progress')],
      /2 items are in progress: b; c\. At most one may be\./,
    ],
    [[todo('  ', 'pending')], /Item 1 has no content\./],
    [[todo('x'.repeat(1001), 'pending')], /Item 1 has 1001 characters/],
    [Array.from({ length: 201 }, () => todo('x', 'pending')), /The list has 201 items/],
  ] as const)
    await assert.rejects(tool.run({ todos }, at.context), { name: 'ToolFailure', message });
  assert.equal(await runForText(tool, {}, at.context), '1. [pending] a');
});

test('a kept list that somebody damaged is read as far as it goes', async () => {
  await using at = await createTestFolder();
  at.state.set('todo', [null, { content: 7 }, todo('a', 'sleeping'), todo('b', 'pending')]);
  assert.equal(await runForText(tool, {}, at.context), '1. [pending] b');
  at.state.set('todo', 'nothing');
  assert.equal(await runForText(tool, {}, at.context), 'The list is empty.');
});

test('the words of other lists are understood', () => {
  const given = { items: ['a', { text: 'b', status: 'Done' }, { content: 'c', status: 'sleeping' }, null] };
  assert.deepEqual(tool.prepare?.(given), {
    todos: [todo('a', 'pending'), todo('b', 'completed'), todo('c', 'sleeping'), {}],
  });
  assert.deepEqual(tool.prepare?.({}), {});
});
