import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import type { JsonObject } from '../../core/schema.ts';
import { createFileTools } from './file-tools.ts';

const tools = createFileTools({ ripgrep: null });
const [read, write] = [toolNamed(tools, 'read'), toolNamed(tools, 'write')];

function refused(folder: TestFolder, input: JsonObject, message: RegExp) {
  return assert.rejects(write.run(input, folder.context), { name: 'ToolFailure', message });
}

test('write makes a file and its folders, and shows what it wrote', async () => {
  await using folder = await createTestFolder();
  assert.deepEqual(await write.run({ path: 'a/b.txt', content: 'one\ntwo\n' }, folder.context), {
    content: [{ type: 'text', text: 'Created a/b.txt (2 lines).' }],
    isError: false,
    display: {
      kind: 'diff',
      path: 'a/b.txt',
      diff: '--- a/b.txt\n+++ a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n',
      added: 2,
      removed: 0,
    },
  });
  assert.equal(await readFile(folder.at('a/b.txt'), 'utf8'), 'one\ntwo\n');
});

test('write takes a text of two hundred thousand lines, of which it shows the first', async () => {
  await using folder = await createTestFolder();
  const { display } = await write.run({ path: 'a', content: 'x\n'.repeat(200_000) }, folder.context);
  assert.ok(display?.kind === 'diff');
  assert.deepEqual([display.added, display.removed], [200_000, 0]);
  assert.match(display.diff, /^--- a\n\+\+\+ a\n@@ -0,0 \+1,200000 @@\n(?:\+x\n){997}… 199003 more lines\n$/);
});

describe('a file that is there', () => {
  test('is replaced only after it was read, and only as it was read', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'old\n');
    await refused(folder, { path: 'a', content: 'new\n' }, /a exists and you have not read it/);
    await read.run({ path: 'a' }, folder.context);
    await writeFile(folder.at('a'), 'changed\n');
    await refused(folder, { path: 'a', content: 'new\n' }, /a has changed since you read it.*Read it again/);
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'changed\n');
    await read.run({ path: 'a' }, folder.context);
    assert.equal(
      await runForText(write, { path: 'a', content: 'new\n' }, folder.context),
      'Replaced a (1 line, +1 −1).',
    );
    assert.equal(
      await runForText(write, { path: 'a', content: 'newer\n' }, folder.context),
      'Replaced a (1 line, +1 −1).',
    );
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'newer\n');
  });

  test('counts as changed by its content, not by its times', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'same\n');
    await read.run({ path: 'a' }, folder.context);
    await writeFile(folder.at('a'), 'same\n');
    await write.run({ path: 'a', content: 'new\n' }, folder.context);
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'new\n');
  });

  test('may be replaced unread when it is empty', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), '');
    await write.run({ path: 'a', content: 'new\n' }, folder.context);
    assert.equal(await readFile(folder.at('a'), 'utf8'), 'new\n');
  });

  test('is the same under the name of a link', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'old\n');
    await symlink('a', folder.at('link'));
    await read.run({ path: 'link' }, folder.context);
    await write.run({ path: 'a', content: 'new\n' }, folder.context);
    assert.equal(await readFile(folder.at('link'), 'utf8'), 'new\n');
  });

  const formats: readonly (readonly [
    name: string,
    before: Buffer,
    content: string,
    after: Buffer,
    says: RegExp,
  ])[] = [
    ['CRLF', Buffer.from('a\r\nb\r\n'), 'x\ny\n', Buffer.from('x\r\ny\r\n'), /Kept its CRLF line ends\./],
    ['CRLF given as such', Buffer.from('a\r\n'), 'x\r\ny\r\n', Buffer.from('x\r\ny\r\n'), /\(2 lines/],
    ['LF made CRLF on purpose', Buffer.from('a\n'), 'x\r\n', Buffer.from('x\r\n'), /\(1 line/],
    ['mixed ends', Buffer.from('a\r\nb\n'), 'x\ny\n', Buffer.from('x\ny\n'), /\(2 lines/],
    ['a mark', Buffer.from('\ufeffa\n'), 'x\n', Buffer.from('\ufeffx\n'), /Kept its byte order mark\./],
    [
      'a mark given twice',
      Buffer.from('\ufeffa\n'),
      '\ufeffx\n',
      Buffer.from('\ufeffx\n'),
      /byte order mark/,
    ],
    [
      'UTF-16',
      Buffer.from('\ufeffa\r\n', 'utf16le'),
      'ü\n',
      Buffer.from('\ufeffü\r\n', 'utf16le'),
      /Kept its encoding utf-16le and CRLF/,
    ],
    [
      'Latin-1',
      Buffer.from('\xe9\n', 'latin1'),
      '€ü\n',
      Buffer.from('\x80\xfc\n', 'latin1'),
      /encoding windows-1252/,
    ],
    [
      'Latin-1 that cannot hold it',
      Buffer.from('\xe9\n', 'latin1'),
      '→\n',
      Buffer.from('→\n'),
      /lacks a character.*utf-8 from here on/,
    ],
  ];
  for (const [name, before, content, after, says] of formats)
    test(`keeps its format: ${name}`, async () => {
      await using folder = await createTestFolder();
      await writeFile(folder.at('a'), before);
      await read.run({ path: 'a' }, folder.context);
      assert.match(await runForText(write, { path: 'a', content }, folder.context), says);
      assert.deepEqual(await readFile(folder.at('a')), after);
    });
});

test('write refuses folders and half characters, and writes nothing', async () => {
  await using folder = await createTestFolder();
  await mkdir(folder.at('sub'));
  await refused(folder, { path: 'sub', content: 'x' }, /sub: it is a folder/);
  await refused(folder, { path: 'a', content: 'x\ud800' }, /half of a surrogate pair/);
  assert.deepEqual(await readdir(folder.path), ['sub']);
});

test('write does nothing for a call that was given up', async () => {
  await using folder = await createTestFolder({ signal: AbortSignal.abort(new Error('stop')) });
  await assert.rejects(write.run({ path: 'a', content: 'x' }, folder.context), /stop/);
  await assert.rejects(stat(folder.at('a')), { code: 'ENOENT' });
});

test('write takes the names and values that models use', () => {
  assert.deepEqual(write.prepare?.({ file_path: 'a.json', contents: 'x' }), { path: 'a.json', content: 'x' });
  assert.deepEqual(write.prepare?.({ filePath: 'a', content: { b: 1 } }), {
    path: 'a',
    content: '{\n  "b": 1\n}\n',
  });
  assert.deepEqual(write.prepare?.({ path: 'ours', file_path: 'theirs', content: '' }), {
    path: 'ours',
    content: '',
  });
});
