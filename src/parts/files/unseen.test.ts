import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { createTestFolder, runForText, toolNamed } from '../../../test/support/tool-folder.ts';
import { createFileTools } from './file-tools.ts';
import { markUnseen, unmark } from './unseen.ts';

const tools = createFileTools({ ripgrep: null });

const HOSTILE = [
  ['a colour', '\x1b[31mred\x1b[0m', '<U+001B>[31mred<U+001B>[0m'],
  ['a title of the window', '\x1b]0;x\x07', '<U+001B>]0;x<U+0007>'],
  ['an 8-bit sequence', '\x9b2J', '<U+009B>2J'],
  ['text from right to left', 'a\u202egnp.exe', 'a<U+202E>gnp.exe'],
  ['an isolate', '\u2066a\u2069', '<U+2066>a<U+2069>'],
  ['an invisible space', 'pass\u200bword', 'pass<U+200B>word'],
  ['tags', 'a\u{e0041}\u{e007f}', 'a<U+E0041><U+E007F>'],
  ['a lone carriage return', 'good\rbad', 'good<U+000D>bad'],
] as const;

describe('what cannot be seen is shown by its number', () => {
  for (const [name, text, marked] of HOSTILE)
    test(name, () => {
      assert.equal(markUnseen(text), marked);
      assert.equal(unmark(marked), text);
    });

  test('and what people write stays: tabs, letters of every script, joined emoji', () => {
    for (const text of ['a\tb\n', 'שלום עולם', 'नमस्ते', '👩‍👧 ❤️', 'a\u00a0b']) {
      assert.equal(markUnseen(text), text);
      assert.equal(unmark(text), undefined);
    }
    assert.equal(unmark('<U+0041> <U+FFFFFF>'), undefined);
  });
});

describe('in the tools', () => {
  const text = `one \x1b[2J\u202e two\n`;

  test('read shows marks and says so, and edit takes them', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), text);
    assert.equal(
      await runForText(toolNamed(tools, 'read'), { path: 'a' }, folder.context),
      '1\tone <U+001B>[2J<U+202E> two\n[Characters that cannot be seen are shown as <U+XXXX>; edit takes them in this form.]',
    );
    const change = { old_string: '<U+001B>[2J<U+202E> two', new_string: '<U+001B>[0m two' };
    assert.equal(
      await runForText(toolNamed(tools, 'edit'), { path: 'a', ...change }, folder.context),
      'Edited a, line 1 (+1 −1).\n1\tone <U+001B>[0m two',
    );
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'one \x1b[0m two\n');
  });

  test('a file that holds the marks as letters is matched as it is', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), '<U+202E>\n\u202e\n');
    const change = { old_string: '<U+202E>', new_string: 'x' };
    await runForText(toolNamed(tools, 'edit'), { path: 'a', ...change }, folder.context);
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'x\n\u202e\n');
  });

  test('names and matching lines are one line each, without what moves the cursor', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a\nb\x1b[2J\u202e.txt'), text);
    const shown = 'a\\nb<U+001B>[2J<U+202E>.txt';
    const run = (name: string, input: object) =>
      runForText(toolNamed(tools, name), { ...input }, folder.context);
    assert.equal(await run('ls', {}), shown);
    assert.equal(await run('find', { pattern: '*.txt' }), shown);
    assert.equal(await run('grep', { pattern: 'two' }), `${shown}:1: one <U+001B>[2J<U+202E> two`);
  });
});
