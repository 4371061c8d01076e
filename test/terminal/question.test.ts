// The permission question: the whole command in sight, and only the exact words count.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Terminal, terminal } from './terminal.ts';

const touch = (name: string): Reply => ({
  calls: [{ name: 'bash', input: { command: `touch ${name}` } }],
});
const ASKED = /n and why:$/;
const exists = (at: Terminal, name: string) => existsSync(at.workspace.file(name));

async function asked(replies: readonly Reply[]): Promise<Terminal> {
  const at = await terminal({ replies });
  await at.shell('"$crab"');
  await at.waitFor(/\n›$/);
  await at.send('go');
  await at.waitFor(ASKED);
  return at;
}

test('the question shows the whole command and the reason, and nothing has run by then', async () => {
  const command = `touch ${'long-name-'.repeat(30)}; touch last`;
  await using at = await asked([{ calls: [{ name: 'bash', input: { command } }] }, { text: 'Done so.' }]);
  const screen = await at.screen();
  assert.ok(screen.includes(`? bash wants to run [mutating: outside]:\n  ${command}\n`), screen);
  assert.match(screen, /\n {2}because \S/);
  assert.equal(exists(at, 'last'), false);
});

test('y allows this one call, and the next is asked about again', async () => {
  await using at = await asked([touch('a'), touch('b'), { text: 'All done.' }]);
  await at.send('y');
  await at.waitFor(/why: y\n[\s\S]*touch b\n[\s\S]*n and why:$/);
  assert.deepEqual([exists(at, 'a'), exists(at, 'b')], [true, false]);
  await at.send('n');
  await at.waitFor(/All done\.\n›$/);
  assert.equal(exists(at, 'b'), false);
});

test('n refuses, and what stands behind it reaches the model', async () => {
  await using at = await asked([touch('a'), { text: 'Another way:\n{{result}}' }]);
  await at.send('n use mkdir instead');
  assert.match(await at.waitFor(/Another way:[\s\S]*\n›$/), /use mkdir instead[\s\S]*›$/);
  assert.equal(exists(at, 'a'), false);
});

test('a allows such calls for this session', async () => {
  await using at = await asked([touch('a'), touch('a'), { text: 'All done.' }, touch('a')]);
  await at.send('a');
  await at.waitFor(/All done\.\n›$/);
  await at.send('once more');
  await at.waitFor(/once more\n[\s\S]*Done\.\n›$/);
  assert.equal((await at.screen()).split('wants to run').length, 2);
});

test('nothing but the words counts: an empty line and the beginning of a prompt ask again', async () => {
  await using at = await asked([touch('a'), { text: 'All done.' }]);
  for (const line of ['', 'yes please', 'ok']) {
    await at.send(line);
    await at.waitFor(
      new RegExp(
        `why:${line && ` ${line}`}\\nType y, n, a or p; after n you may say why\\.\\n[\\s\\S]*n and why:$`,
      ),
    );
  }
  assert.equal(exists(at, 'a'), false);
  await at.send('YES');
  await at.waitFor(/All done\.\n›$/);
  assert.equal(exists(at, 'a'), true);
});

test('what was being typed when the question came is no answer to it', async () => {
  const slow: Reply = { ...touch('a'), text: ['I will make a file, ', 'and ask first.'], delayMs: 1 };
  await using at = await terminal({ replies: [slow, { text: 'All done.' }] });
  await at.shell('"$crab"');
  await at.waitFor(/\n›$/);
  const goOn = at.provider.hold('I will');
  await at.send('go');
  await at.waitFor('I will');
  await at.type('y and then');
  await at.waitFor('y and then');
  goOn();
  await at.waitFor(/n and why: y and then$/);
  await at.key('Enter');
  await at.waitFor(/Type y, n, a or p/);
  assert.equal(exists(at, 'a'), false);
});
