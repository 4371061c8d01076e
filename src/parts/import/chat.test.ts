import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../core/schema.ts';
import { importChat } from './chat.ts';
import { detect } from './detect.ts';

function context() {
  let count = 0;
  return { newId: () => `e${++count}`, now: '2026-01-01T00:00:00.000Z' };
}

function said(lines: readonly JsonObject[]) {
  return importChat(lines, context()).entries.map((entry) => {
    if (entry.type === 'message') return [entry.message.role, entry.message.content];
    if (entry.type === 'custom') return [entry.customType, entry.data];
    return entry.type === 'compaction' ? [entry.type, entry.summary, entry.details?.title] : [entry.type];
  });
}

const CALL = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };

test('messages, marks of compaction and who spoke come along; framing does not', () => {
  const lines: readonly JsonObject[] = [
    { agent: 'crab', created_by: 'user', created_at: '2026-01-02T00:00:00Z', title: 'Pricing' },
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'hi' },
    { role: 'user', content: 'framing', auto_injected: true },
    { role: 'assistant', content: '', reasoning_content: 'hm', tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
    { role: 'assistant', content: 'Done.', agent: 'guest' },
    { compact: 'We talked about prices.', title: 'Prices.', archived_at: '2026-01-03T00:00:00Z' },
    { role: 'user', content: [{ type: 'text', text: 'on' }] },
  ];
  assert.deepEqual(said(lines), [
    ['user', 'hi'],
    [
      'assistant',
      [
        { type: 'thinking', thinking: 'hm' },
        { type: 'toolCall', id: 'c1', name: 'bash', arguments: { command: 'ls' } },
      ],
    ],
    ['toolResult', [{ type: 'text', text: 'a.txt' }]],
    ['assistant', [{ type: 'text', text: 'Done.' }]],
    ['compaction', 'We talked about prices.', 'Prices.'],
    ['user', [{ type: 'text', text: 'on' }]],
  ]);
  const { entries, ...about } = importChat(lines, context());
  assert.deepEqual(about, { name: 'Pricing', timestamp: '2026-01-02T00:00:00Z' });
  const guest = entries[3];
  assert.ok(guest?.type === 'message' && guest.message.role === 'assistant');
  assert.equal(guest.message.agent, 'guest');
  assert.deepEqual(
    [guest.timestamp, entries[4]?.timestamp],
    ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'],
  );
});

test('a log whose lines have an envelope, with anchors between', () => {
  assert.deepEqual(
    said([
      { id: 1, kind: 'message', payload: { role: 'user', content: 'hi' }, date: '2026-01-02T00:00:00Z' },
      { id: 2, kind: 'anchor', payload: { name: 'handoff', state: { summary: 'so far' } } },
      { id: 3, kind: 'event', payload: { name: 'loop' } },
      { anchor: 'second' },
      { type: 'message', message: { role: 'assistant', content: 'yes' } },
    ]),
    [
      ['user', 'hi'],
      ['crab.anchor', { name: 'handoff', summary: 'so far' }],
      ['crab.anchor', { name: 'second', summary: '' }],
      ['assistant', [{ type: 'text', text: 'yes' }]],
    ],
  );
});

test('what a file is shows in its lines', () => {
  const message = { role: 'user', content: 'hi' };
  assert.equal(detect([{ type: 'session', version: 3, id: 'x' }]), 'tape');
  assert.equal(detect([{ type: 'summary', summary: 's', leafUuid: 'u' }]), 'claude');
  assert.equal(detect([{ type: 'file-history-snapshot' }, { sessionId: 's', uuid: 'u', message }]), 'claude');
  assert.equal(detect([{ type: 'session_meta', payload: { id: 'x' } }]), 'codex');
  assert.equal(detect([{ id: 'x', timestamp: '', instructions: null }]), 'codex');
  assert.equal(detect([{ agent: 'a', title: '' }, message]), 'chat');
  assert.equal(detect([{ kind: 'message', payload: message }]), 'chat');
  assert.equal(detect([{ name: 'package' }]), undefined);
  assert.equal(detect([]), undefined);
});
