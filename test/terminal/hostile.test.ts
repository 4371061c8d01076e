// What models and commands print belongs to others: it may not move the cursor, clear the screen, name the window,
// write to the clipboard, or look like Crab's own question.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { terminal } from './terminal.ts';

const ESCAPE = '\u001b';
const BELL = '\u0007';
const HOSTILE = [
  `${ESCAPE}[2J${ESCAPE}[H`,
  `${ESCAPE}]0;stolen title${BELL}`,
  `${ESCAPE}]2;stolen title${ESCAPE}\\`,
  `${ESCAPE}]52;c;c3RvbGVu${BELL}`,
  `${ESCAPE}Pq#0${ESCAPE}\\`,
  `${ESCAPE}[?1049h`,
  `${ESCAPE}[?25l`,
  `${ESCAPE}[?2004l`,
  `${ESCAPE}[1A${ESCAPE}[2K`,
  `${ESCAPE}c`,
  '\u009b2J',
  '\u009d0;stolen title\u009c',
  'over\rwritten',
  'gone\b\b\b\b',
].join('');
const OCTAL = [...Buffer.from(HOSTILE)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
const PRINT = `printf '${OCTAL}end of it\\n'`;

const FROM: readonly (readonly [who: string, replies: readonly Reply[], line: string])[] = [
  ['the model', [{ text: `${HOSTILE}end of it` }], 'go'],
  ['the model, in pieces', [{ text: `${HOSTILE}end of it`, chunk: 1 }], 'go'],
  ['a command of the person', [], `!${PRINT}`],
  [
    'a command of the model',
    [{ calls: [{ name: 'bash', input: { command: PRINT } }] }, { text: 'end of it' }],
    'go',
  ],
  [
    'the arguments of a call',
    [{ calls: [{ name: 'read', input: { path: HOSTILE } }] }, { text: 'end of it' }],
    'go',
  ],
];

test('the screen, the title, the clipboard and the modes stay ours', async (t) => {
  for (const [who, replies, line] of FROM)
    await t.test(who, async () => {
      await using at = await terminal({ replies, columns: 200 });
      await at.shell('echo a line of before; "$crab" --dangerously-skip-permissions');
      await at.waitFor(/\n›$/);
      const title = await at.fact('pane_title');
      await at.send(line);
      const screen = await at.waitFor(/end of it[\s\S]*\n›$/);
      assert.match(screen, /\na line of before\n/);
      const facts = await Promise.all(['pane_title', 'alternate_on', 'cursor_flag'].map(at.fact));
      assert.deepEqual(facts, [title, '0', '1']);
      // Bracketed paste is still on: two lines are one prompt.
      await at.paste('one\ntwo');
      await at.waitFor(/two$/);
      assert.equal(at.provider.requests.length, line === 'go' ? replies.length : 0);
    });
});

test('a command in a question is shown with every character that cannot be seen', async () => {
  const command = `touch a #${ESCAPE}[8m; touch b\u202e\u200b`;
  await using at = await terminal({ replies: [{ calls: [{ name: 'bash', input: { command } }] }] });
  await at.shell('"$crab"');
  await at.waitFor(/\n›$/);
  await at.send('go');
  const screen = await at.waitFor(/n and why:$/);
  assert.ok(screen.includes('  touch a #␛[8m; touch b<U+202E><U+200B>\n'), screen);
});
