// What a person decides in a conversation and never has to decide again: a rule for this folder, a project's trust.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Terminal, terminal } from './terminal.ts';

const run = (command: string): Reply => ({ calls: [{ name: 'bash', input: { command } }] });
const ASKED = /n and why:$/;
const TRUST = /l \(ask me later\):$/;

async function leave(at: Terminal): Promise<void> {
  await at.key('C-d');
  await at.waitFor(/\$$/);
}

test('p allows a call in this folder for ever, also in the next session', async () => {
  const script = {
    scripts: [{ when: 'go', replies: [run('touch "a b"; touch c'), { text: 'All done.' }] }],
  };
  await using at = await terminal({ replies: script });
  await at.shell('"$crab"');
  await at.waitFor(/\n›$/);
  await at.send('go');
  assert.match(await at.waitFor(ASKED), /a and p allow Bash\(touch "a b"; touch c\)\n/);
  await at.send('p');
  await at.waitFor(/All done\.\n›$/);
  await leave(at);
  const kept = readFileSync(join(at.workspace.home, '.crab', 'projects.toml'), 'utf8');
  assert.ok(kept.includes('allow = "Bash(touch \\"a b\\"; touch c)"\n'), kept);
  await at.shell('clear; "$crab" -p go; echo "status $?"');
  assert.match(await at.waitFor(/status \d/), /All done\.\nstatus 0/);
  assert.ok(existsSync(at.workspace.file('a b')));
});

test('what may destroy is never remembered', async () => {
  await using at = await terminal({
    replies: [run('rm -rf made'), run('rm -rf made'), { text: 'All done.' }],
  });
  await at.shell('"$crab"');
  await at.waitFor(/\n›$/);
  await at.send('go');
  const screen = await at.waitFor(ASKED);
  assert.doesNotMatch(screen, /a and p allow|always here/);
  await at.send('a');
  await at.waitFor(/Type y or n; after n you may say why\.\n[\s\S]*n and why:$/);
  await at.send('y');
  await at.waitFor(/why: y\n[\s\S]*rm -rf made\n[\s\S]*n and why:$/);
  await at.send('n');
  await at.waitFor(/All done\.\n›$/);
});

test('what was approved is suggested as rules, the most frequent first, dangers never', async () => {
  const commands = [
    'touch run a',
    'touch run b',
    'touch run c',
    'mkdir -p out',
    'mkdir -p out',
    'rm -rf out',
  ];
  const replies = [...commands.map(run), { text: 'All done.' }];
  await using at = await terminal({ replies, rows: 60 });
  await at.shell('"$crab" --max-turns 9');
  await at.waitFor(/\n›$/);
  await at.send('go');
  for (let answered = 0; answered < commands.length; answered++) {
    await at.waitFor(new RegExp(`^(?:[\\s\\S]*?why: y\\n){${answered}}(?![\\s\\S]*why: y\\n)[\\s\\S]*why:$`));
    await at.send('y');
  }
  await at.waitFor(/All done\.\n›$/);
  await leave(at);
  await at.shell('clear; "$crab" permissions suggest; echo "status $?"');
  const screen = await at.waitFor(/\nstatus \d/);
  assert.match(
    screen,
    / 3 {2}Bash\(touch run \*\)\n +Bash\(touch run a\)\n +Bash\(touch run b\)\n +Bash\(touch run c\)\n +2 {2}Bash\(mkdir -p out\)\n/,
  );
  assert.doesNotMatch(screen.split('suggest;')[1] ?? '', /Bash\(rm/);
});

test('a project with wishes is asked about once, before anything of it is obeyed', async () => {
  const files = { '.crab/config.toml': '[permissions]\nallow = ["Bash(mkdir made)"]\n' };
  const script = { scripts: [{ when: 'go', replies: [run('mkdir made'), { text: 'All done.' }] }] };
  await using at = await terminal({ files, replies: script });
  await at.shell('"$crab"');
  assert.match(await at.waitFor(TRUST), /ask to:\n {2}allow Bash\(mkdir made\) \(/);
  await at.send('maybe');
  await at.waitFor(/Type y, n or l\.\n[\s\S]*later\):$/);
  await at.send('y');
  await at.waitFor(/\n›$/);
  await at.send('go');
  await at.waitFor(/All done\.\n›$/);
  assert.ok(existsSync(at.workspace.file('made')));
  await leave(at);
  await at.shell('clear; "$crab"');
  const screen = await at.waitFor(/clear;[\s\S]*\n›$/);
  assert.doesNotMatch(screen.split('clear;')[1] ?? '', /Trust this project/);
});

test('a project that was refused trust is not asked about again, and allows nothing', async () => {
  const files = { '.crab/config.toml': '[permissions]\nallow = ["Bash(mkdir made)"]\n' };
  await using at = await terminal({ files, replies: [run('mkdir made'), { text: 'All done.' }] });
  await at.shell('"$crab"');
  await at.waitFor(TRUST);
  await at.send('n');
  assert.match(await at.waitFor(/\n›$/), /ignored 1 allow rule/);
  await at.send('go');
  await at.waitFor(ASKED);
  await at.send('n');
  await at.waitFor(/All done\.\n›$/);
  await leave(at);
  await at.shell('clear; "$crab"');
  const screen = await at.waitFor(/clear;[\s\S]*\n›$/);
  assert.doesNotMatch(screen.split('clear;')[1] ?? '', /Trust this project/);
});
