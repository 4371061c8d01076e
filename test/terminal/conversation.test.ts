// A person at a terminal: what they see from the greeting to the farewell, in the sizes that terminals have.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Terminal, terminal } from './terminal.ts';

const START = '"$crab"; echo "status $?"';
const IDLE = /\n›$/;
const LEFT = /\nstatus (?<code>\d+)\n\$$/;

async function started(at: Terminal, line = START): Promise<void> {
  await at.shell(line);
  await at.waitFor(IDLE);
}

test('a greeting says where one is, an answer streams, and Ctrl-D leaves with the way back', async () => {
  const pieces = ['Words that come ', 'one after another, ', 'slowly.'];
  const text = pieces.join('');
  await using at = await terminal({ replies: [{ text: pieces, delayMs: 1 }] });
  await started(at);
  const greeting = await at.screen();
  assert.match(greeting, /crab {2}anthropic\/\S+ {2}\/.*\/work\nsession [0-9A-Z]{26}, mode default;/);
  const goOn = at.provider.hold('another');
  await at.send('hello');
  const part = await at.waitFor('another');
  assert.ok(!part.includes('slowly.'), part);
  goOn();
  const whole = await at.waitFor(IDLE);
  assert.ok(whole.endsWith(`› hello\n${text}\n›`), whole);
  await at.key('C-d');
  const end = await at.waitFor(LEFT);
  const session = /session (?<id>[0-9A-Z]{26})/.exec(greeting)?.groups?.['id'];
  assert.ok(end.endsWith(`${text}\nGo on with: crab --resume ${session}\nstatus 0\n$`), end);
});

test('leaving without a word leaves nothing behind', async () => {
  await using at = await terminal();
  await started(at);
  await at.send('/quit');
  assert.match(await at.waitFor(LEFT), /› \/quit\nstatus 0\n\$$/);
});

test('commands are answered without the model, in both spellings', async () => {
  await using at = await terminal();
  await started(at);
  await at.send(',help');
  await at.waitFor(/,status +Show the session[\s\S]*\n›$/);
  await at.send('/status');
  const screen = await at.waitFor(/folder +\/.*\/work\nmodel +anthropic\/.*\nmode +default\n[\s\S]*\n›$/);
  assert.match(screen, /,quit/);
  await at.send('/qiut');
  await at.waitFor(/There is no command \/qiut\.[\s\S]*Did you mean \/quit[\s\S]*\n›$/);
  await at.send(',echo from the shell');
  await at.waitFor(/\$ echo from the shell\nfrom the shell\n[\s\S]*›$/);
  assert.deepEqual(at.provider.requests, []);
});

test('a guest answers under his name, and who was there before without one', async () => {
  await using at = await terminal({ replies: [{ text: 'I would plan.' }, { text: 'So do I.' }] });
  await started(at);
  await at.send('@plan what now?');
  await at.waitFor(/› @plan what now\?\n@ plan\nI would plan\.\n›$/);
  await at.send('and you?');
  await at.waitFor(/› and you\?\nSo do I\.\n›$/);
});

test('a line that ends with a backslash goes on in the next', async () => {
  await using at = await terminal();
  await started(at);
  await at.send('first\\');
  await at.waitFor(/\n…$/);
  await at.send('second');
  await at.waitFor(/Here I am\.\n›$/);
  assert.match(JSON.stringify(at.provider.requests[0]?.body), /"first\\nsecond"/);
});

test('a call is shown with what it did: its line, its diff and its outcome', async () => {
  const edits = [{ old_string: 'old', new_string: 'new' }];
  await using at = await terminal({
    replies: [
      { calls: [{ name: 'read', input: { path: 'a.txt' } }] },
      { calls: [{ name: 'edit', input: { path: 'a.txt', edits } }] },
      { text: 'Edited.' },
    ],
    files: { 'a.txt': 'an old line\n' },
  });
  await started(at, '"$crab" --permission-mode acceptEdits; echo "status $?"');
  await at.send('edit it');
  const screen = await at.waitFor(/Edited\.\n›$/);
  assert.match(screen, /● read a\.txt\n/);
  assert.match(screen, /● edit a\.txt/);
  assert.match(screen, /-.*an old line\n.*\+.*an new line\n/);
  assert.equal(readFileSync(at.workspace.file('a.txt'), 'utf8'), 'an new line\n');
});

test('--resume without an id lists the sessions of the folder, and a number goes on with one', async () => {
  await using at = await terminal({ replies: [{ text: 'One.' }, { text: 'Two.' }] });
  await at.shell('"$crab" -p --name older first && "$crab" -p --name newer second');
  await at.waitFor(/One\.\nOne\.\n\$$/);
  await at.shell('"$crab" --resume; echo "status $?"');
  const list = await at.waitFor(/Which one\?$/);
  assert.match(list, /\n {2}1 {2}.*newer\n {2}2 {2}.*older\nWhich one\?$/);
  await at.send('7');
  await at.waitFor('Type a number from 1 to 2');
  await at.send('2');
  assert.match(await at.waitFor(IDLE), /session [0-9A-Z]{26} \(older\), 2 messages/);
  await at.send('and now?');
  await at.waitFor(/Two\.\n›$/);
  await at.key('C-d');
  await at.waitFor(LEFT);
  await at.shell('"$crab" -r');
  await at.waitFor(/Which one\?$/);
  await at.key('Enter');
  await at.waitFor(/Which one\?\n\$$/);
  await at.shell('clear; "$crab" -r; echo "status $?"');
  await at.waitFor(/Which one\?$/);
  await at.key('C-c');
  await at.waitFor(/Interrupted\. \[interrupted\]\n.*\nstatus 130\n\$$/);
  await at.shell('clear; "$crab" session list');
  assert.doesNotMatch(await at.waitFor(/older\n.*newer\n\$$/), / of \d+ sessions/);
});

for (const [columns, rows] of [
  [80, 24],
  [20, 5],
] as const)
  test(`${columns} by ${rows} is enough to ask, to be asked and to see all of it`, async () => {
    const command = 'printf "%s" some words that are longer than the screen is wide > result.txt';
    await using at = await terminal({
      replies: [{ calls: [{ name: 'bash', input: { command } }] }, { text: 'Written.' }],
      columns,
      rows,
    });
    await started(at);
    await at.send('a prompt that is wider than twenty columns');
    const asked = await at.waitFor(/n and why:$/);
    assert.ok(asked.includes(`\n  ${command}\n`), asked);
    await at.send('y');
    await at.waitFor(/Written\.\n›$/);
    assert.equal(readFileSync(at.workspace.file('result.txt'), 'utf8').startsWith('some'), true);
    await at.key('C-d');
    await at.waitFor(LEFT);
  });
