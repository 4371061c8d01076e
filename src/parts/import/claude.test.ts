import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../core/schema.ts';
import type { Entry } from '../../core/tape.ts';
import { importClaude } from './claude.ts';

const SESSION = 'b2f1c1de-0000-4000-8000-000000000001';

function context() {
  let count = 0;
  return { newId: () => `e${++count}`, now: '2026-01-01T00:00:00.000Z' };
}

function line(type: string, uuid: string, parentUuid: string | null, more: object): JsonObject {
  return {
    parentUuid,
    isSidechain: false,
    cwd: '/work',
    sessionId: SESSION,
    type,
    uuid,
    timestamp: '2026-01-02T03:04:05.000Z',
    ...more,
  };
}

const user = (uuid: string, parent: string | null, content: unknown, more = {}) =>
  line('user', uuid, parent, { message: { role: 'user', content }, ...more });

const answer = (uuid: string, parent: string | null, id: string, block: object, more = {}) =>
  line('assistant', uuid, parent, {
    message: {
      id,
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [block],
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 4,
      },
    },
    ...more,
  });

const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } });
const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });

/** What hangs from what, in words. */
function shape(entries: readonly Entry[]): readonly string[] {
  return entries.map((entry) => {
    const what =
      entry.type !== 'message'
        ? entry.type
        : entry.message.role === 'toolResult'
          ? `result ${entry.message.toolCallId}`
          : `${entry.message.role} ${JSON.stringify(entry.message.content)
              .replace(/[^a-z0-9 ]/gi, '')
              .slice(0, 30)}`;
    return `${entry.id} < ${entry.parentId}: ${what}`;
  });
}

test('blocks of one answer are one message, and results of parallel calls stand in a row', () => {
  const imported = importClaude(
    [
      { type: 'file-history-snapshot', messageId: 'x', snapshot: {} },
      user('u0', null, 'Caveat: made up', { isMeta: true }),
      user('u1', 'u0', 'hello'),
      answer('a1', 'u1', 'm1', { type: 'thinking', thinking: 'hm', signature: 'sig' }),
      answer('a2', 'a1', 'm1', { type: 'text', text: 'Two things.' }),
      answer('a3', 'a2', 'm1', call('t1')),
      user('r1', 'a3', [result('t1', 'one')]),
      answer('a4', 'a3', 'm1', call('t2')),
      user('r2', 'a4', [{ ...result('t2', [{ type: 'text', text: 'two' }]), is_error: true }]),
      answer('s1', 'u1', 'ms', { type: 'text', text: 'a sidechain' }, { isSidechain: true }),
      answer('a5', 'r2', 'm2', { type: 'text', text: 'Done.' }),
      user('u2', 'a5', '<command-name>/cost</command-name>'),
      user('u3', 'u2', 'thanks'),
      { type: 'summary', summary: 'Greeting', leafUuid: 'u3' },
    ],
    context(),
  );
  const { entries, ...about } = imported;
  assert.deepEqual(about, {
    id: SESSION,
    cwd: '/work',
    name: 'Greeting',
    timestamp: '2026-01-02T03:04:05.000Z',
  });
  assert.deepEqual(shape(entries), [
    'e1 < null: user hello',
    'e2 < e1: model_change',
    'e3 < e2: assistant typethinkingthinkinghmthinking',
    'e4 < e3: result t1',
    'e5 < e4: result t2',
    'e6 < e5: assistant typetexttextDone',
    'e7 < e6: user thanks',
  ]);
  const [, , said, , failed] = entries;
  assert.deepEqual(said?.type === 'message' && said.message, {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
      { type: 'text', text: 'Two things.' },
      { type: 'toolCall', id: 't1', name: 'Bash', arguments: { command: 'ls' } },
      { type: 'toolCall', id: 't2', name: 'Bash', arguments: { command: 'ls' } },
    ],
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    usage: {
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 4,
      totalTokens: 10,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: 'toolUse',
    timestamp: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
  assert.deepEqual(failed?.type === 'message' && failed.message, {
    role: 'toolResult',
    toolCallId: 't2',
    toolName: 'Bash',
    content: [{ type: 'text', text: 'two' }],
    isError: true,
    timestamp: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
});

test('a prompt that was said anew begins a branch where it was said', () => {
  const { entries } = importClaude(
    [
      user('u1', null, 'first'),
      answer('a1', 'u1', 'm1', { type: 'text', text: 'One.' }),
      user('u2', 'a1', 'second'),
      answer('a2', 'u2', 'm2', { type: 'text', text: 'Two.' }),
      user('u3', 'a1', 'second anew'),
      user('u4', null, 'first anew'),
    ],
    context(),
  );
  assert.deepEqual(shape(entries), [
    'e1 < null: user first',
    'e2 < e1: model_change',
    'e3 < e2: assistant typetexttextOne',
    'e4 < e3: user second',
    'e5 < e4: assistant typetexttextTwo',
    'e6 < e3: user second anew',
    'e7 < null: user first anew',
  ]);
});

test('a compaction hides what came before, and images and documents come along', () => {
  const source = (media_type: string) => ({ type: 'base64', media_type, data: 'aGk=' });
  const { entries } = importClaude(
    [
      user('u1', null, 'before'),
      line('system', 'b1', null, { subtype: 'compact_boundary', logicalParentUuid: 'u1', content: '' }),
      user('u2', 'b1', [{ type: 'text', text: 'The story so far.' }], { isCompactSummary: true }),
      user('u3', 'u2', [
        { type: 'text', text: 'look' },
        { type: 'image', source: source('image/png') },
        { type: 'document', source: source('application/pdf'), title: 'a.pdf' },
        { type: 'document', source: source('text/html') },
        { type: 'image', source: { type: 'url', url: 'http://x' } },
      ]),
    ],
    context(),
  );
  const [, compaction, shown] = entries;
  assert.deepEqual(compaction, {
    type: 'compaction',
    id: 'e2',
    parentId: 'e1',
    timestamp: '2026-01-02T03:04:05.000Z',
    summary: 'The story so far.',
    firstKeptEntryId: 'e2',
    tokensBefore: 0,
    details: { readFiles: [], modifiedFiles: [], archivedAt: '2026-01-02T03:04:05.000Z' },
  });
  assert.deepEqual(shown?.type === 'message' && shown.message.content, [
    { type: 'text', text: 'look' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    { type: 'document', data: 'aGk=', mimeType: 'application/pdf', name: 'a.pdf' },
  ]);
});
