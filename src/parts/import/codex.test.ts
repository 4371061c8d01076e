import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../core/schema.ts';
import { importCodex } from './codex.ts';

function context() {
  let count = 0;
  return { newId: () => `e${++count}`, now: '2026-01-01T00:00:00.000Z' };
}

const timestamp = '2026-01-02T03:04:05.000Z';
const line = (type: string, payload: object): JsonObject => ({ timestamp, type, payload });
const item = (payload: object) => line('response_item', payload);
const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

const ITEMS = [
  message('developer', 'rules'),
  message('user', '<environment_context>\n<cwd>/work</cwd></environment_context>'),
  message('user', 'list the files'),
  { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look first.' }], encrypted_content: 'x' },
  message('assistant', 'I look.'),
  { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' },
  { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'c2' },
  { type: 'function_call_output', call_id: 'c1', output: '{"output":"a.txt","metadata":{"exit_code":0}}' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: 'no such file' },
  message('assistant', 'Done.'),
];

const SAID = [
  ['user', [{ type: 'text', text: 'list the files' }]],
  [
    'assistant',
    [
      { type: 'thinking', thinking: 'Look first.' },
      { type: 'text', text: 'I look.' },
      { type: 'toolCall', id: 'c1', name: 'shell', arguments: { command: ['ls'] } },
      { type: 'toolCall', id: 'c2', name: 'apply_patch', arguments: { input: '*** Begin Patch' } },
    ],
  ],
  ['toolResult', [{ type: 'text', text: 'a.txt' }]],
  ['toolResult', [{ type: 'text', text: 'no such file' }]],
  ['assistant', [{ type: 'text', text: 'Done.' }]],
];

function said({ entries }: ReturnType<typeof importCodex>) {
  return entries.flatMap((entry) =>
    entry.type === 'message' ? [[entry.message.role, entry.message.content]] : [],
  );
}

test('items become messages, and what Codex put before a prompt was never said', () => {
  const info = { last_token_usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 } };
  const imported = importCodex(
    [
      line('session_meta', { id: 'uuid', timestamp, cwd: '/work', model_provider: 'openai' }),
      line('turn_context', { cwd: '/work', model: 'gpt-5.1-codex' }),
      ...ITEMS.map(item),
      line('event_msg', { type: 'agent_message', message: 'Done.' }),
      line('event_msg', { type: 'token_count', info }),
    ],
    context(),
  );
  const { entries, ...about } = imported;
  assert.deepEqual(about, { id: 'uuid', cwd: '/work', timestamp });
  assert.deepEqual(said(imported), SAID);
  assert.deepEqual(
    entries.map(({ parentId }) => parentId),
    [null, 'e1', 'e2', 'e3', 'e4', 'e5'],
  );
  const last = entries.at(-1);
  assert.ok(last?.type === 'message' && last.message.role === 'assistant');
  const { model, provider, usage, stopReason } = last.message;
  assert.deepEqual(
    { model, provider, stopReason, input: usage.input, cacheRead: usage.cacheRead, output: usage.output },
    { model: 'gpt-5.1-codex', provider: 'openai', stopReason: 'stop', input: 6, cacheRead: 4, output: 3 },
  );
});

test('items of older versions stand without an envelope', () => {
  const imported = importCodex(
    [{ id: 'old', timestamp, instructions: null }, { record_type: 'state' }, ...ITEMS],
    context(),
  );
  assert.deepEqual(said(imported), SAID);
  assert.equal(imported.id, 'old');
});

test('a compaction hides what came before', () => {
  const { entries } = importCodex(
    [
      item(message('user', 'before')),
      line('compacted', { message: 'So far.' }),
      item(message('user', 'after')),
    ],
    context(),
  );
  assert.deepEqual(
    entries.map((entry) =>
      entry.type === 'compaction' ? [entry.summary, entry.firstKeptEntryId] : entry.type,
    ),
    ['message', ['So far.', 'e2'], 'message'],
  );
});
