import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Message, messageText } from '../core/message.ts';
import { seeded } from '../core/seeded.ts';
import type { EntryBody, Tape } from '../core/tape.ts';
import { NO_USAGE } from '../core/usage.ts';
import { createMemoryTapes } from '../parts/tape/tapes.ts';
import {
  anchorEntry,
  grantEntry,
  modeEntry,
  promptEntry,
  readHistory,
  restrictionEntry,
  shellEntry,
  stateEntry,
  uncompactEntry,
} from './history.ts';

const clock = { now: () => 5, monotonic: () => 0, sleep: () => Promise.resolve() };

async function tapeOf(...bodies: readonly EntryBody[]): Promise<Tape> {
  const tapes = createMemoryTapes({ clock, random: seeded(1) });
  const tape = await tapes.create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  tape.append(bodies);
  return tape;
}

const says = (content: string): EntryBody => ({
  type: 'message',
  message: { role: 'user', content, timestamp: 1 },
});

const alien = (message: object): EntryBody => ({ type: 'message', message: message as Message });

function seen(tape: Tape): readonly string[] {
  return readHistory(tape).view.messages().map(messageText);
}

test('summaries of branches, messages of extensions and shell lines reach the model', async () => {
  const tape = await tapeOf(
    { type: 'branch_summary', fromId: 'root', summary: 'Tried A.' },
    { type: 'custom_message', customType: 'x', content: [{ type: 'text', text: 'from x' }], display: false },
    shellEntry({ command: 'ls', cwd: '/w', exitCode: 0, output: 'a.txt\n' }),
  );
  assert.deepEqual(seen(tape), [
    [
      '<branch_summary>\nThe conversation was on another branch and came back here. What happened there:\nTried A.\n</branch_summary>',
      'from x',
      '<command cwd="/w" exit_code="0">\n$ ls\na.txt\n</command>',
    ].join(''),
  ]);
});

test('messages that only pi has are what pi makes of them, and unknown ones nothing', async () => {
  const tape = await tapeOf(
    alien({ role: 'bashExecution', command: 'ls', output: 'x', exitCode: 1, timestamp: 2 }),
    alien({ role: 'bashExecution', command: 'secret', output: '', excludeFromContext: true }),
    alien({ role: 'custom', content: 'hook says', timestamp: 3 }),
    alien({ role: 'holiday' }),
  );
  assert.deepEqual(seen(tape), ['<command exit_code="1">\n$ ls\nx\n</command>hook says']);
});

test('behind an anchor the model starts afresh, and what is no talk is kept', async () => {
  const tape = await tapeOf(
    stateEntry({ a: 1, b: 1 }),
    grantEntry('Bash(ls)'),
    restrictionEntry({ decision: 'deny', rule: 'Bash(rm *)' }),
    promptEntry({ cwd: '/w', text: 'system' }),
    { type: 'model_change', provider: 'p', modelId: 'm' },
    { type: 'thinking_level_change', thinkingLevel: 'high' },
    { type: 'active_tools_change', tools: ['read'] },
    modeEntry('acceptEdits'),
    says('before'),
    modeEntry('plan'),
    anchorEntry({ name: 'first', summary: 'old' }),
    says('between'),
    anchorEntry({ name: 'se"cond', summary: 'done so far' }),
    stateEntry({ b: 2 }),
    says('after'),
  );
  const { view, state, sources, ...facts } = readHistory(tape);
  assert.deepEqual(view.messages().map(messageText), [
    '<handoff name="se&quot;cond">\ndone so far\n</handoff>after',
  ]);
  assert.deepEqual(
    [...state],
    [
      ['a', 1],
      ['b', 2],
    ],
  );
  assert.deepEqual(facts, {
    compacted: undefined,
    grants: ['Bash(ls)'],
    restrictions: [{ decision: 'deny', rule: 'Bash(rm *)' }],
    model: 'p/m',
    effort: 'high',
    mode: 'plan',
    prompt: { cwd: '/w', text: 'system' },
    tools: ['read'],
  });
});

test('going back takes back neither what was forbidden nor the mode that was chosen last', async () => {
  const tape = await tapeOf(
    says('one'),
    restrictionEntry({ decision: 'deny', rule: 'Bash(rm *)' }),
    grantEntry('Bash(ls)'),
    modeEntry('plan'),
    { type: 'leaf', targetId: null },
    says('two'),
  );
  const { grants, restrictions, mode } = readHistory(tape);
  assert.deepEqual(
    { grants, restrictions, mode },
    { grants: [], restrictions: [{ decision: 'deny', rule: 'Bash(rm *)' }], mode: 'plan' },
  );
});

/** The types of the entries that reading the history of a tape reads. */
function readTypes(tape: Tape): readonly string[] {
  const read: string[] = [];
  const branch = tape.branch.bind(tape);
  tape.branch = (part) => {
    const entries = [...branch(part)];
    for (const { type } of entries) read.push(type);
    return entries;
  };
  readHistory(tape);
  tape.branch = branch;
  return read;
}

test('messages before the last anchor are not read', async () => {
  const tape = await tapeOf(says('one'), says('two'), anchorEntry({ name: 'a', summary: '' }), says('three'));
  assert.deepEqual(seen(tape), ['three']);
  assert.deepEqual(readTypes(tape), ['custom', 'message']);
});

test('of what was compacted only what was kept is read, until it is taken back', async () => {
  const tape = await tapeOf(says('one'), says('two'), says('three'));
  const kept = tape.leafId ?? '';
  const files = { readFiles: ['a'], modifiedFiles: [] };
  const compaction = {
    type: 'compaction',
    summary: 'So far.',
    firstKeptEntryId: kept,
    tokensBefore: 9,
  } as const;
  const carried = { decisions: ['We chose b.'], rules: [], unfinished: [] };
  const { entries } = tape.append([{ ...compaction, details: { ...files, carried } }, says('four')]);
  const [{ id: entryId } = { id: '' }] = entries;
  const { view, sources, compacted } = readHistory(tape);
  assert.match(view.messages().map(messageText).join('|'), /So far\.[^|]*threefour$/);
  assert.deepEqual(
    sources.map(({ message }) => messageText(message)),
    ['three', 'four'],
  );
  assert.deepEqual(compacted, { entryId, summary: 'So far.', files, carried });
  assert.deepEqual(readTypes(tape), ['message', 'compaction', 'message']);
  tape.append([uncompactEntry(entryId)]);
  assert.deepEqual(seen(tape), ['onetwothreefour']);
  assert.equal(readHistory(tape).compacted, undefined);
});

test('where the first prompt is lost, the model is told so, and a person still speaks first', async () => {
  const [usage, about] = [
    NO_USAGE,
    { api: 'a', provider: 'p', model: 'm', stopReason: 'stop', timestamp: 1 } as const,
  ];
  const content = [{ type: 'text', text: 'Yes.' }] as const;
  const tape = await tapeOf(
    { type: 'message', message: { role: 'assistant', content, usage, ...about } },
    says('on'),
  );
  const messages = readHistory(tape).view.messages();
  assert.deepEqual(
    messages.map((message) => [message.role, messageText(message)]),
    [
      ['user', '(The beginning of this conversation could not be read.)'],
      ['assistant', 'Yes.'],
      ['user', 'on'],
    ],
  );
});
