// What the tools about the work itself look like to somebody who types: questions with options, a plan to be approved, and
// a prompt that the conversation sent itself.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Terminal, terminal } from './terminal.ts';

const call = (name: string, input: Readonly<Record<string, unknown>> = {}): Reply => ({
  calls: [{ name, input }],
});

async function started(replies: readonly Reply[], flags = ''): Promise<Terminal> {
  const at = await terminal({ replies });
  await at.shell(`"$crab" ${flags}`);
  await at.waitFor(/\n›$/);
  await at.send('go');
  return at;
}

test('questions show their topics and options, and take numbers and words', async () => {
  const questions = [
    {
      question: 'Which database?',
      header: 'Storage',
      options: [{ label: 'SQLite', description: 'One file' }, { label: 'Postgres' }],
    },
    { question: 'Which parts?', options: ['API', 'UI', 'CLI'], multiSelect: true },
  ];
  await using at = await started([call('ask_user', { questions }), { text: 'They said:\n{{result}}' }]);
  const screen = await at.waitFor(/Answer 1 of 2 \(number or text\):$/);
  assert.ok(screen.includes('? Storage: Which database?\n  1  SQLite One file\n  2  Postgres\n'), screen);
  assert.ok(screen.includes('? Which parts? (several)\n  1  API\n'), screen);
  await at.send('2');
  await at.waitFor(/Answer 2 of 2 \(number or text\):$/);
  await at.send('1, 3, docs');
  const said = await at.waitFor(/They said:[\s\S]*\n›$/);
  assert.match(said, /They said:\nWhich database\?\n→ Postgres\n\nWhich parts\?\n→ API, CLI, docs\n/);
});

test('a plan is sent back with words, then approved, and the work may begin', async () => {
  await using at = await started(
    [
      call('exit_plan_mode', { plan: '1. Make a file' }),
      call('exit_plan_mode', { plan: '1. Make a file\n2. Check it' }),
      call('write', { path: 'made.txt', content: 'x' }),
      { text: 'All done.' },
    ],
    '--permission-mode plan',
  );
  const screen = await at.waitFor(/Answer \(number or text\):$/);
  assert.match(screen, /\? Plan: 1\. Make a file\n[\s\S]*Carry this plan out\?\n {2}1 {2}Approve /);
  await at.send('check it, too');
  await at.waitFor(/2\. Check it\n[\s\S]*Answer \(number or text\):$/);
  assert.equal(existsSync(at.workspace.file('made.txt')), false);
  await at.send('2');
  await at.waitFor(/All done\.\n›$/);
  assert.equal(existsSync(at.workspace.file('made.txt')), true);
});

test('a plan that is approved without more asks about changes as before', async () => {
  await using at = await started([
    call('enter_plan_mode'),
    call('exit_plan_mode', { plan: '1. Make a file' }),
    call('write', { path: 'made.txt', content: 'x' }),
    { text: 'All done.' },
  ]);
  await at.waitFor(/Answer \(number or text\):$/);
  await at.send('1');
  await at.waitFor(/write wants to run \[mutating: writes\]:[\s\S]*n and why:$/);
  await at.send('n');
  await at.waitFor(/All done\.\n›$/);
  assert.equal(existsSync(at.workspace.file('made.txt')), false);
});

test('a wakeup comes as a prompt of its own, and never as a command', async () => {
  await using at = await started([
    call('schedule_wakeup', { delaySeconds: 1, prompt: '!touch made' }),
    { text: 'I will look again.' },
    { text: 'I looked again.' },
  ]);
  await at.waitFor(/I will look again\.[\s\S]*Scheduled wakeup: !touch made\n[\s\S]*I looked again\.\n›$/);
  assert.equal(existsSync(at.workspace.file('made')), false);
});
