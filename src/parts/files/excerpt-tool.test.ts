import assert from 'node:assert/strict';
import { open, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTestFolder, runForText, toolNamed } from '../../../test/support/tool-folder.ts';
import { createFileTools } from './file-tools.ts';
import { createSnippet } from './snippet.ts';

const excerpt = toolNamed(createFileTools({ ripgrep: null }), 'excerpt');

async function excerptOf(content: string | Uint8Array, input = {}): Promise<string> {
  await using folder = await createTestFolder();
  await writeFile(folder.at('a'), content);
  return await runForText(excerpt, { path: 'a', ...input }, folder.context);
}

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

test('shows both ends with exact counts of what is between', async () => {
  assert.equal(
    await excerptOf(lines(100), { head: 2, tail: 1 }),
    `1\tline 1\n2\tline 2\n[… 97 lines (769 bytes) left out, of 100 lines …]\n100\tline 100`,
  );
  assert.equal(
    await excerptOf('ä\r\nb\r\nc', { head: 1, tail: 0 }),
    '1\tä\n[… 2 lines (4 bytes) left out, of 3 lines …]',
  );
});

test('shows all of a short file', async () => {
  assert.equal(await excerptOf('a\nb'), '1\ta\n2\tb\n[All 2 lines.]');
  assert.equal(await excerptOf(''), '[The file is empty.]');
});

test('shows no more than a result may have, of long lines their beginning', async () => {
  const text = await excerptOf(`${'x'.repeat(3000)}\n`.repeat(500), { head: 300, tail: 300 });
  assert.ok(Buffer.byteLength(text) <= 50 * 1024);
  const [head = '', tail = ''] = text.split(/\n\[… \d+ lines \(\d+ bytes\) left out, of 500 lines …\]\n/);
  assert.equal(head.split('\n').length, 12);
  assert.equal(tail.split('\n').length, 12);
  assert.match(head, /^1\tx{2000}… \[1000 more characters\]\n/);
  assert.match(tail, /\n500\tx{2000}… \[1000 more characters\]$/);
});

test('comes to the same however the text is cut into pieces', () => {
  const text = `${lines(30)}${'y'.repeat(5000)}\nlast`;
  const whole = (size: number) => {
    const snippet = createSnippet({ head: 3, tail: 5, bytes: 20_000 });
    for (let at = 0; at < text.length; at += size) snippet.feed(text.slice(at, at + size));
    return snippet.finish();
  };
  for (const size of [1, 7, 1000]) assert.equal(whole(size), whole(text.length));
});

test('refuses what is no text', async () => {
  await using folder = await createTestFolder();
  const handle = await open(folder.at('disk'), 'w');
  await handle.truncate(2 ** 40);
  await handle.close();
  await assert.rejects(excerpt.run({ path: 'disk' }, folder.context), {
    message: /it is a binary file, not text/,
  });
});
