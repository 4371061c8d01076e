import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { toolContext } from '../../../test/support/tool-context.ts';
import { createTestFolder, runForText } from '../../../test/support/tool-folder.ts';
import type { Notification } from '../../core/event.ts';
import type { Answer } from '../../core/question.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { QuestionBody, ToolContext } from '../../core/tool.ts';
import { askUserTool } from './ask-user.ts';
import { briefTool, sendUserFileTool } from './notify-tools.ts';
import { setTitleTool } from './set-title.ts';

const prepared = (tool: typeof askUserTool, input: JsonObject) => tool.prepare?.(input) ?? input;

test('a question takes the spellings of others, and its answers stand with it', async () => {
  const asked: QuestionBody[] = [];
  const ask = async (question: QuestionBody): Promise<Answer> => {
    asked.push(question);
    return { kind: 'choice', answers: ['a, c', 'my own words'] };
  };
  const input = prepared(askUserTool, {
    questions: [
      {
        text: 'Which?',
        header: ' Parts ',
        options: ['a', { label: 'c', description: 'third' }],
        multi_select: true,
      },
      'Why?',
    ],
  });
  const text = await runForText(askUserTool, input, toolContext('/work', { ask }));
  assert.equal(text, 'Which?\n→ a, c\n\nWhy?\n→ my own words');
  assert.deepEqual(asked, [
    {
      kind: 'choice',
      questions: [
        {
          header: 'Parts',
          text: 'Which?',
          options: [{ label: 'a' }, { label: 'c', description: 'third' }],
          multiple: true,
        },
        { text: 'Why?', options: [] },
      ],
    },
  ]);
});

test('one question alone is a list of one', () => {
  assert.deepEqual(prepared(askUserTool, { question: 'Why?', options: ['a'] }), {
    questions: [{ question: 'Why?', options: [{ label: 'a' }] }],
  });
});

test('nobody there is a failure that says what to do, and a run that is stopped is stopped', async () => {
  const input = { questions: [{ question: 'Why?' }] };
  const nobody = { name: 'ToolFailure', message: /^Nobody is here to answer\. Decide yourself/ };
  const absent = toolContext('/work', { ask: async () => ({ kind: 'choice', answers: [] }) });
  await assert.rejects(askUserTool.run(input, absent), nobody);
  const refusing: Partial<ToolContext> = {
    ask: async () => Promise.reject(new Error('Nobody can be asked here.')),
  };
  await assert.rejects(askUserTool.run(input, toolContext('/work', refusing)), nobody);
  const stopped = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(
    askUserTool.run(input, toolContext('/work', { ...refusing, signal: stopped })),
    /^Error: stopped$/,
  );
});

test('files are sent when each is there, whole and not too large, or none is', async () => {
  await using at = await createTestFolder();
  const sent: Omit<Notification, 'type' | 'id'>[] = [];
  const context: ToolContext = { ...at.context, notify: (notification) => void sent.push(notification) };
  await writeFile(at.at('a.md'), 'x');
  await mkdir(at.at('folder'));
  for (const [files, message] of [
    [['a.md', 'gone'], /There is no file .*gone\./],
    [['a.md', 'folder'], /folder is no regular file but a directory\./],
  ] as const)
    await assert.rejects(sendUserFileTool.run({ files }, context), { name: 'ToolFailure', message });
  assert.deepEqual(sent, []);
  await sendUserFileTool.run({ files: ['a.md', './a.md'] }, context);
  await briefTool.run({ message: ' Look. ', attachments: ['a.md'], urgent: true }, context);
  assert.deepEqual(sent, [
    { text: '', files: [at.at('a.md')], urgent: false },
    { text: 'Look.', files: [at.at('a.md')], urgent: true },
  ]);
  await assert.rejects(briefTool.run({ message: '  ' }, context), /The message is empty\./);
  await assert.rejects(briefTool.run({ message: 'x'.repeat(4001) }, context), /has 4001 characters/);
});

test('what is sent is declared as read, so that rules about files hold', async () => {
  const plan = await sendUserFileTool.plan({ files: ['a', '/b'] }, '/work');
  assert.deepEqual(plan.access, { kind: 'read', paths: ['/work/a', '/b'] });
  assert.deepEqual((await briefTool.plan({ message: 'x' }, '/work')).access, { kind: 'none' });
});

test('a title is one line of at most 60 characters', async () => {
  const names: string[] = [];
  const context = toolContext('/work');
  const control = { ...context.control, setName: async (name: string) => void names.push(name) };
  await setTitleTool.run({ title: ' Mend\n the\u0007parser ' }, { ...context, control });
  assert.deepEqual(names, ['Mend the parser']);
  await assert.rejects(setTitleTool.run({ title: ' ' }, { ...context, control }), /The title is empty\./);
});
