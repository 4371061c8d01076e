import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { png } from '../../../test/support/images.ts';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import type { Files } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { createFileTools } from './file-tools.ts';
import { createLocalFiles } from './local-files.ts';

const read = toolNamed(createFileTools({ ripgrep: null }), 'read');

async function reading(content: string | Uint8Array, input: JsonObject = {}): Promise<string> {
  await using folder = await createTestFolder();
  await writeFile(folder.at('a'), content);
  return await runForText(read, { path: 'a', ...input }, folder.context);
}

function refused(folder: TestFolder, input: JsonObject, message: RegExp) {
  return assert.rejects(read.run(input, folder.context), { name: 'ToolFailure', message });
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\tline ${from + at}`).join('\n');

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('read shows', () => {
  test('a text with its line numbers', async () => {
    assert.equal(await reading('one\n\ntwo'), '1\tone\n2\t\n3\ttwo');
    assert.equal(await reading('one\r\ntwo\r\n'), '1\tone\n2\ttwo');
    assert.equal(await reading(''), '[The file is empty.]');
  });

  test('the lines asked for, and where to go on', async () => {
    assert.equal(
      await reading(lines(10), { offset: 3, limit: 2 }),
      `${numbers(3, 4)}\n[Lines 3–4 of 10. Go on with offset 5.]`,
    );
    assert.equal(await reading(lines(10), { offset: 9 }), `${numbers(9, 10)}\n[Lines 9–10 of 10.]`);
    assert.equal(
      await reading(lines(2500)),
      `${numbers(1, 2000)}\n[Lines 1–2000 of 2500. Go on with offset 2001.]`,
    );
  });

  test('no more bytes than a result may have', async () => {
    const text = await reading(`${'x'.repeat(999)}\n`.repeat(200));
    assert.ok(Buffer.byteLength(text) <= 50 * 1024);
    assert.match(text, /\[Lines 1–50 of 200\. Go on with offset 51\.\]$/);
  });

  test('the beginning of a long line', async () => {
    assert.equal(
      await reading(`${'x'.repeat(5000)}\nend\n`),
      `1\t${'x'.repeat(2000)}… [3000 more characters]\n2\tend`,
    );
  });

  test('other encodings as text, and says which', async () => {
    assert.equal(await reading(Buffer.from('\ufeffGrüße\r\n', 'utf16le')), '1\tGrüße\n[Encoding: utf-16le]');
    assert.equal(
      await reading(Buffer.from('Gr\xfc\xdfe \x80\n', 'latin1')),
      '1\tGrüße €\n[Encoding: windows-1252]',
    );
  });

  test('an image as an image', async () => {
    await using folder = await createTestFolder();
    const image = png(2, 2);
    await writeFile(folder.at('a.txt'), image);
    assert.deepEqual(await read.run({ path: 'a.txt' }, folder.context), {
      content: [
        { type: 'text', text: `[image/png, 2 × 2 pixels, ${image.length} bytes]` },
        { type: 'image', data: image.toString('base64'), mimeType: 'image/png' },
      ],
      isError: false,
      display: { kind: 'image', mimeType: 'image/png', path: folder.at('a.txt') },
    });
  });
});

describe('read refuses', () => {
  test('what is no text, and says what it is', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('b.txt'), Buffer.from('PK\x03\x04\0\0', 'latin1'));
    await writeFile(folder.at('c.txt'), Buffer.alloc(3000));
    await refused(folder, { path: 'b.txt' }, /it is a zip archive .* of 6 bytes, not text/);
    await refused(folder, { path: 'c.txt' }, /it is a binary file of 2\.9 KB, not text/);
  });

  test('what is no file, does not exist or is written in the way of a shell', async () => {
    await using folder = await createTestFolder();
    await mkdir(folder.at('sub'));
    execFileSync('mkfifo', [folder.at('pipe')]);
    await refused(folder, { path: 'sub' }, /it is a folder, not a file/);
    await refused(folder, { path: 'pipe' }, /it is a FIFO/);
    await refused(folder, { path: 'suc' }, /does not exist; the nearest name there is .*\/sub/);
    await refused(folder, { path: '~/x' }, /only a shell expands/);
    await refused(folder, { path: '' }, /Give the path of a file/);
  });

  test('a line behind the end, and says how many there are', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'one\ntwo\n');
    await refused(folder, { path: 'a', offset: 3 }, /Line 3 lies beyond the end of .*\/a, which has 2 lines/);
  });
});

describe('a large file', () => {
  /** Counts the bytes that are asked for. */
  function counting(): { files: Files; bytes: () => number } {
    const local = createLocalFiles();
    let bytes = 0;
    const files: Files = {
      ...local,
      read: async (path, range) => {
        const result = await local.read(path, range);
        bytes += result.length;
        return result;
      },
    };
    return { files, bytes: () => bytes };
  }

  test('is read only as far as the lines asked for', async () => {
    const { files, bytes } = counting();
    await using folder = await createTestFolder({ files });
    const handle = await open(folder.at('log'), 'w');
    await handle.write(lines(3_000_000));
    await handle.truncate(2 ** 40);
    await handle.close();
    const text = await runForText(read, { path: 'log', offset: 100, limit: 2 }, folder.context);
    const counted =
      /^100\tline 100\n101\tline 101\n\[Lines 100–101 of at least (\d+)\. Go on with offset 102\.\]$/.exec(
        text,
      );
    assert.ok(Number(counted?.[1]) > 700_000, text);
    assert.ok(bytes() <= 10 * 1024 * 1024 + 1);
    const further = await runForText(read, { path: 'log', offset: 2_900_000, limit: 1 }, folder.context);
    assert.match(further, /^2900000\tline 2900000\n/);
    assert.deepEqual([...folder.state.keys()], []);
  });

  test('of zeros is refused at once with its size', async () => {
    await using folder = await createTestFolder();
    const handle = await open(folder.at('disk.img'), 'w');
    await handle.truncate(2 ** 40);
    await handle.close();
    await refused(folder, { path: 'disk.img' }, /it is a binary file of 1 TB, not text/);
  });

  test('that ends is counted to its end, also in UTF-16 and with \\r\\n over the edge of a piece', async () => {
    await using folder = await createTestFolder();
    const line = `${'x'.repeat(60)}\r\n`;
    const count = 100_001;
    await writeFile(folder.at('a'), Buffer.from(`\ufeff${line.repeat(count)}`, 'utf16le'));
    assert.equal(
      await runForText(read, { path: 'a', offset: count }, folder.context),
      `${count}\t${'x'.repeat(60)}\n[Lines ${count}–${count} of ${count}.]\n[Encoding: utf-16le]`,
    );
    await refused(folder, { path: 'a', offset: count + 1 }, new RegExp(`which has ${count} lines`));
  });
});

test('what was read whole is remembered under the resolved path, by length and checksum of its bytes', async () => {
  await using folder = await createTestFolder();
  await writeFile(folder.at('a'), 'hello\n');
  await symlink('a', folder.at('link'));
  await read.run({ path: 'link', limit: 1 }, folder.context);
  assert.deepEqual([...folder.state], [[`read:${folder.at('a')}`, '6-363a3020']]);
});
