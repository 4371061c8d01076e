import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import { ToolFailure } from '../../core/errors.ts';
import { createFileTools } from './file-tools.ts';
import { createLocalFiles } from './local-files.ts';

const tool = toolNamed(createFileTools({ ripgrep: null }), 'apply_patch');

const patch = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

async function folderWith(files: Readonly<Record<string, string>>, options = {}): Promise<TestFolder> {
  const folder = await createTestFolder(options);
  for (const [name, text] of Object.entries(files)) await writeFile(folder.at(name), text);
  return folder;
}

async function contents(folder: TestFolder): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  );
  const read = names.map(async ({ parentPath, name }) => {
    const path = `${parentPath}/${name}`;
    return [path.slice(folder.path.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries((await Promise.all(read)).sort());
}

/** What a file holds after an update. */
async function updated(text: string, ...lines: readonly string[]): Promise<string | undefined> {
  await using folder = await folderWith({ a: text });
  await runForText(tool, { patch: patch('*** Update File: a', ...lines) }, folder.context);
  return (await contents(folder))['a'];
}

async function refused(files: Readonly<Record<string, string>>, text: string, message: RegExp) {
  await using folder = await folderWith(files);
  await assert.rejects(
    async () => {
      await tool.plan({ patch: text }, folder.path);
      await tool.run({ patch: text }, folder.context);
    },
    { name: 'ToolFailure', message },
  );
  assert.deepEqual(await contents(folder), files);
}

test('adds, updates, moves and deletes in one call, and says what it did', async () => {
  await using folder = await folderWith({ a: 'one\ntwo\n', b: 'b\n', c: 'c\n' });
  const text = patch(
    '*** Add File: sub/new',
    '+first',
    '+second',
    '*** Update File: a',
    '@@',
    ' one',
    '-two',
    '+2',
    '*** Update File: b',
    '*** Move to: moved',
    '@@',
    '-b',
    '+B',
    '*** Delete File: c',
  );
  const { access } = await tool.plan({ patch: text }, folder.path);
  assert.deepEqual(access, {
    kind: 'write',
    paths: ['sub/new', 'a', 'b', 'moved', 'c'].map((name) => folder.at(name)),
  });
  assert.equal(
    await runForText(tool, { patch: text }, folder.context),
    'Applied the patch:\nA sub/new (+2 −0)\nM a (+1 −1)\nA moved (+1 −0)\nD b (+0 −1)\nD c (+0 −1)',
  );
  assert.deepEqual(await contents(folder), { a: 'one\n2\n', moved: 'B\n', 'sub/new': 'first\nsecond\n' });
});

describe('a hunk is found', () => {
  test('behind its headings', async () => {
    const text = 'class A\n  def f\n    x\nclass B\n  def f\n    x\n';
    assert.equal(
      await updated(text, '@@ class B', '@@   def f', '-    x', '+    y'),
      'class A\n  def f\n    x\nclass B\n  def f\n    y\n',
    );
  });

  test('behind the hunk before it, at the end, and without a first @@', async () => {
    assert.equal(await updated('x\nx\nx\n', '-x', '+1', '@@', '-x', '+2'), '1\n2\nx\n');
    assert.equal(await updated('x\nx\n', '@@', '-x', '+end', '*** End of File'), 'x\nend\n');
  });

  test('although blanks, quotes and dashes differ, and the lines that stay keep theirs', async () => {
    assert.equal(
      await updated('\tkeep  \n\tsay(“a – b”)\nend\n', '@@', ' keep', '-say("a - b")', '+say("c")', ' end'),
      '\tkeep  \nsay("c")\nend\n',
    );
  });

  test('with line numbers of a unified diff, which are passed over', async () => {
    assert.equal(await updated('a\nb\n', '@@ -10,2 +10,2 @@', ' a', '-b', '+c'), 'a\nc\n');
  });

  test('where lines are only added: behind the heading, or at the end', async () => {
    assert.equal(await updated('a\nb\n', '@@ a', '+new'), 'a\nnew\nb\n');
    assert.equal(await updated('a\nb\n', '@@', '+new'), 'a\nb\nnew\n');
    assert.equal(await updated('a\nb', '@@', '+new'), 'a\nb\nnew');
  });
});

test('line ends, the mark and a missing last line end stay', async () => {
  assert.equal(await updated('\ufeffa\r\nb\r\n', '@@', ' a', '-b', '+c', '+d'), '\ufeffa\r\nc\r\nd\r\n');
  assert.equal(await updated('a\nb', '@@', ' a', '-b', '+c'), 'a\nc');
  assert.equal(await updated('a\nb', '@@', ' a', '-b'), 'a');
});

describe('nothing is written', () => {
  const files = { a: 'one\ntwo\n', b: 'b\n' };

  test('when one of several hunks does not fit', async () => {
    const text = patch('*** Update File: b', '@@', '-b', '+B', '*** Update File: a', '@@', '-twwo', '+1');
    await refused(files, text, /^its lines were not found in a\. The nearest place is line 2:\n2\ttwo/);
    const two = patch('*** Update File: a', '@@', '-two', '+2', '@@', '-one', '+1');
    await refused(files, two, /^Hunk 2 of 2: its lines were not found in a behind the hunks before it/);
    await refused(
      files,
      patch('*** Update File: a', '@@ class', '-two', '+2'),
      /the line "class" was not found/,
    );
  });

  test('over a file that is there, to one that is not, or twice to one', async () => {
    await refused(files, patch('*** Add File: b', '+x'), /^b exists: change it with/);
    await refused(files, patch('*** Update File: a', '*** Move to: b', '@@', '-one', '+1'), /^b exists/);
    await refused(files, patch('*** Delete File: none'), /Cannot read .*none: it does not exist/);
    await refused(files, patch('*** Delete File: a', '*** Delete File: ./a'), /^a is in the patch twice/);
  });

  test('of what is no patch', async () => {
    await refused(files, '--- a\n+++ b', /A patch begins with the line \*\*\* Begin Patch/);
    await refused(files, patch(), /names no file/);
    await refused(files, patch('*** Update File: a'), /a has no hunk/);
    await refused(files, patch('*** Update File: a', '@@', ' one'), /line 5: the hunk changes nothing/);
    await refused(files, patch('*** Update File: a', '@@', '*one'), /line 4: .* and not with "\*"/);
    await refused(files, patch('*** Add File: n', 'x'), /each line of a new file begins with \+/);
    await refused(files, patch('*** Rename File: n'), /expected \*\*\* Add File:/);
  });

  test('for good when a later write fails', async () => {
    const local = createLocalFiles();
    const failing = {
      ...local,
      remove: async () => {
        throw new ToolFailure('The disk says no.');
      },
    };
    await using folder = await folderWith(files, { files: failing });
    await mkdir(folder.at('sub'));
    const text = patch('*** Update File: a', '@@', '-one', '+1', '*** Delete File: b');
    await assert.rejects(tool.run({ patch: text }, folder.context), {
      message: 'The disk says no. Nothing was changed.',
    });
    assert.deepEqual(await contents(folder), files);
  });
});
