// Typing beside output, and pasting: what a person typed is never torn, and never sent by somebody else's line end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Terminal, terminal } from './terminal.ts';

const IDLE = /\n›$/;

async function started(at: Terminal): Promise<void> {
  await at.shell('"$crab"');
  await at.waitFor(IDLE);
}

function lastPrompt(at: Terminal): unknown {
  const body = at.provider.requests.at(-1)?.body as
    | { readonly messages: readonly { readonly content: readonly { readonly text?: string }[] }[] }
    | undefined;
  return body?.messages.at(-1)?.content[0]?.text;
}

test('a paste of several lines is one prompt, edited and sent by the person alone', async () => {
  await using at = await terminal();
  await started(at);
  await at.paste('one\n\ttwo\n\nfour');
  await at.waitFor(/four$/);
  assert.deepEqual(at.provider.requests, []);
  await at.send('!');
  await at.waitFor(/Here I am\.\n›$/);
  assert.equal(lastPrompt(at), 'one\n\ttwo\n\nfour!');
});

test('a paste that ends with a line end waits for Enter, and the next line is a prompt of its own', async () => {
  await using at = await terminal();
  await started(at);
  await at.paste('one\ntwo\n');
  await at.waitFor(/two\n…$/);
  await at.key('Enter');
  await at.waitFor(/Here I am\.\n›$/);
  assert.equal(lastPrompt(at), 'one\ntwo\n');
  await at.send('three');
  await at.waitFor(/Done\.\n›$/);
  assert.equal(lastPrompt(at), 'three');
});

test('a paste of one line is text in the line, between what was typed around it', async () => {
  await using at = await terminal();
  await started(at);
  await at.type('a ');
  await at.paste('b\\');
  await at.send(' c');
  await at.waitFor(/Here I am\.\n›$/);
  assert.equal(lastPrompt(at), 'a b\\ c');
});

test('a long paste into the middle of a line stands whole, and is what is sent', async () => {
  await using at = await terminal({ columns: 30 });
  await started(at);
  await at.type('begin end');
  await at.key('Left', 'Left', 'Left');
  const middle = `${'of many words '.repeat(8)}and the `;
  await at.paste(middle);
  await at.waitFor(`› begin ${middle}end`);
  await at.key('BSpace', 'BSpace', 'BSpace', 'BSpace');
  await at.waitFor(new RegExp(`\\n› begin ${middle.slice(0, -4)}end$`));
  await at.key('Enter');
  await at.waitFor(/Here I am\.\n›$/);
  assert.equal(lastPrompt(at), `begin ${middle.slice(0, -4)}end`);
});

test('a paste is no answer to a question, even if a line of it is yes', async () => {
  await using at = await terminal({
    replies: [{ calls: [{ name: 'bash', input: { command: 'touch made' } }] }, { text: 'All done.' }],
  });
  await started(at);
  await at.send('go');
  await at.waitFor(/n and why:$/);
  await at.paste('so\ny\n');
  await at.key('Enter');
  await at.waitFor(/queued \(1\)/);
  await assert.rejects(at.workspace.read('made'), /ENOENT/);
});

test('a half-typed line stands whole below output that comes meanwhile, and can be edited', async () => {
  const lines = Array.from({ length: 12 }, (_, n) => `line ${n} of the answer\n`);
  await using at = await terminal({ replies: [{ text: [...lines, 'The end.'], delayMs: 1 }] });
  await started(at);
  const [second, third] = [at.provider.hold('line 2 of'), at.provider.hold('line 9 of')];
  await at.send('go');
  await at.waitFor('line 2 of');
  await at.type('half a lime');
  await at.key('Left', 'BSpace');
  await at.type('n');
  await at.waitFor(/line 2 of the answer\nhalf a line$/);
  second();
  await at.waitFor(/line 8 of the answer\nhalf a line$/);
  third();
  const screen = await at.waitFor(/The end\.\n› half a line$/);
  assert.ok(screen.includes(`› go\n${lines.join('')}The end.\n› half a line`), screen);
  await at.key('Enter');
  await at.waitFor(/Done\.\n›$/);
  assert.equal(lastPrompt(at), 'half a line');
});

test('a half-typed line of several rows stands whole too, and follows the size of the screen', async () => {
  const lines = Array.from({ length: 12 }, (_, n) => `line ${n}\n`);
  await using at = await terminal({ replies: [{ text: lines, delayMs: 1 }], columns: 20, rows: 8 });
  await started(at);
  const goOn = at.provider.hold('line 5');
  await at.send('go');
  await at.waitFor('line 5');
  const typed = 'a text of more than one and of more than two rows';
  await at.type(typed);
  await at.waitFor(typed);
  goOn();
  const screen = await at.waitFor(new RegExp(`line 11\\n› ${typed}$`));
  assert.ok(screen.includes(lines.join('')), screen);
  await at.key('Enter');
  await at.waitFor(/Done\.\n›$/);
  assert.equal(lastPrompt(at), typed);
});

test('the history of typed lines is at hand', async () => {
  await using at = await terminal();
  await started(at);
  await at.send('the first prompt');
  await at.waitFor(/Here I am\.\n›$/);
  await at.key('Up');
  await at.waitFor(/› the first prompt$/);
});
