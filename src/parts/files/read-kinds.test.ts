// What `read` makes of files that are more than text: images, PDF documents and notebooks.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { png } from '../../../test/support/images.ts';
import { pdf } from '../../../test/support/pdf.ts';
import { createTestFolder, runForText, textOf, toolNamed } from '../../../test/support/tool-folder.ts';
import type { JsonObject } from '../../core/schema.ts';
import { createDocuments } from '../documents/documents.ts';
import { createFileTools } from './file-tools.ts';
import { imageSize } from './image-size.ts';

const read = toolNamed(createFileTools({ ripgrep: null, documents: createDocuments() }), 'read');

async function reading(name: string, content: string | Uint8Array, input: JsonObject = {}): Promise<string> {
  await using folder = await createTestFolder();
  await writeFile(folder.at(name), content);
  const text = await runForText(read, { path: name, ...input }, folder.context);
  return text.replaceAll(`${folder.path}/`, '');
}

function refused(name: string, content: string | Uint8Array, message: RegExp, input: JsonObject = {}) {
  return assert.rejects(reading(name, content, input), { name: 'ToolFailure', message });
}

describe('the size of an image', () => {
  const webp = (kind: string, rest: string) => {
    const body = Buffer.from(`WEBP${kind}${rest}`, 'latin1');
    const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
    head.writeUInt32LE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const cases: readonly (readonly [name: string, bytes: Uint8Array, width: number, height: number])[] = [
    ['PNG', png(33, 7), 33, 7],
    ['GIF', Buffer.from('GIF89a\x21\0\x07\0\0\0\0;', 'latin1'), 33, 7],
    [
      'JPEG behind other segments',
      Buffer.from('\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x08\x08\0\x07\0\x21\x01\xff\xd9', 'latin1'),
      33,
      7,
    ],
    ['lossy WebP', webp('VP8 ', `\0\0\0\0${'\0'.repeat(6)}\x21\0\x07\0`), 33, 7],
    ['lossless WebP', webp('VP8L', '\0\0\0\0\x2f\x20\x80\x01\0'), 33, 7],
    ['extended WebP', webp('VP8X', '\0\0\0\0\0\0\0\0\x20\0\0\x06\0\0'), 33, 7],
  ];
  for (const [name, bytes, width, height] of cases)
    test(`${name}, and nothing where it is cut`, () => {
      assert.deepEqual(imageSize(bytes), { width, height });
      for (let length = 3; length < bytes.length - 12; length++)
        assert.equal(imageSize(bytes.subarray(0, length)), undefined);
    });
});

describe('an image', () => {
  test('is shown with its size', async () => {
    assert.equal(await reading('a', png(3, 2)), '[image/png, 3 × 2 pixels, 69 bytes]<image/png>');
  });

  test('that is cut short, too large or has too many pixels is refused', async () => {
    await refused('a.png', png(3, 2).subarray(0, 40), /image\/png image is damaged or cut short/);
    await refused('a.png', png(9000, 1), /9000 × 1 pixels, where at most 8000 a side/);
    const large = Buffer.concat([png(3, 2), Buffer.alloc(4 * 1024 * 1024)]);
    await refused('a.png', large, /an image of 4\.0 MB, where at most 3\.8 MB/);
  });
});

describe('a PDF document', () => {
  const pages = Array.from({ length: 30 }, (_, at) => `This is page ${at + 1}`);

  test('is shown by page, whatever its name', async () => {
    assert.equal(
      await reading('a.txt', pdf(['One', '', 'Three'])),
      '--- Page 1 ---\nOne\n--- Page 2 ---\n[No text: the page is empty or an image, such as a scan.]\n--- Page 3 ---\nThree\n[Pages 1–3 of 3.]',
    );
  });

  test('is shown twenty pages at a time, or those asked for', async () => {
    const text = await reading('a.pdf', pdf(pages));
    assert.match(text, /--- Page 20 ---\nThis is page 20\n\[Pages 1–20 of 30\. Go on with pages 21-30\.\]$/);
    assert.equal(
      await reading('a.pdf', pdf(pages), { pages: '7' }),
      '--- Page 7 ---\nThis is page 7\n[Page 7 of 30.]',
    );
    assert.match(await reading('a.pdf', pdf(pages), { pages: '29-' }), /\[Pages 29–30 of 30\.\]$/);
    await refused('a.pdf', pdf(pages), /has 30 pages, so there is no page 31/, { pages: '31' });
    for (const bad of ['0', '5-2', 'all', '1,3'])
      await refused('a.pdf', pdf(pages), /is no range of pages: write 3, 2-7 or 10-/, { pages: bad });
  });

  test('that is encrypted or broken is refused with the reason', async () => {
    await refused('a.pdf', pdf(['One'], { locked: true }), /it is encrypted with a password; decrypt a copy/);
    await refused('a.pdf', '%PDF-1.4\nletters', /its structure is damaged or cut short/);
  });
});

describe('a notebook', () => {
  const notebook = (cells: readonly object[]) =>
    JSON.stringify({
      cells,
      metadata: { language_info: { name: 'python' } },
      nbformat: 4,
      nbformat_minor: 5,
    });
  const image = png(2, 2).toString('base64');

  test('that is nothing but brackets is text like any other', async () => {
    const text = await reading('a.ipynb', `{"cells":${'['.repeat(2_000_000)}`);
    assert.match(text, /^1\t\{"cells":\[\[\[/);
  });

  test('is shown by cell, with outputs and images', async () => {
    const cells = [
      { cell_type: 'markdown', id: 'intro', metadata: {}, source: ['# Title\n', 'text'] },
      {
        cell_type: 'code',
        id: 'c1',
        execution_count: 3,
        metadata: {},
        source: 'print(1)',
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n', '2\n'] },
          {
            output_type: 'execute_result',
            data: { 'text/plain': '42', 'text/html': '<b>42</b>' },
            metadata: {},
          },
          {
            output_type: 'display_data',
            data: { 'image/png': image, 'text/plain': '<Figure>' },
            metadata: {},
          },
          { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\x1b[31mTrace\x1b[0m', 'E: v'] },
          { output_type: 'display_data', data: { 'application/x': {} }, metadata: {} },
        ],
      },
    ];
    assert.equal(
      await reading('a.ipynb', notebook(cells)),
      `--- Cell 1 (markdown, id intro) ---
# Title
text
--- Cell 2 (code, id c1, run 3) ---
print(1)
[output (stdout)]
1
2
[output]
42
[output: image]
<image/png>[error]
Trace
E: v
[output: application/x, not shown]
[Cells 1–2 of 2, python.]`,
    );
  });

  test('is shown from a cell on, as far as a result goes, with the ends of long outputs', async () => {
    const long = {
      cell_type: 'code',
      source: 'x'.repeat(6000),
      outputs: [{ output_type: 'stream', name: 'stdout', text: `${'a'.repeat(5000)}${'b'.repeat(5000)}` }],
    };
    const text = await reading('a.ipynb', notebook(Array.from({ length: 20 }, () => long)), { offset: 2 });
    assert.ok(Buffer.byteLength(text) <= 50 * 1024);
    assert.match(text, /a{2000}\n… 6000 characters left out …\nb{2000}\n/);
    assert.match(text, /\[Cells 2–6 of 20, python\. Go on with offset 7\.\]$/);
    assert.match(
      await reading('a.ipynb', notebook([long, long, long]), { offset: 2, limit: 1 }),
      /\[Cells 2–2 of 3, python\. Go on with offset 3\.\]$/,
    );
    await refused('a.ipynb', notebook([long]), /has 1 cells, so there is no cell 2/, { offset: 2 });
  });

  test('that is none is shown as the text it is', async () => {
    assert.equal(await reading('a.ipynb', '{"cells": 1}'), '1\t{"cells": 1}');
    assert.equal(await reading('a.json', '{"cells": []}'), '1\t{"cells": []}');
  });
});

test('an image of a notebook that is no image is left out', async () => {
  await using folder = await createTestFolder();
  const outputs = [{ output_type: 'display_data', data: { 'image/png': 'bm8=', 'text/plain': 'Figure' } }];
  await writeFile(
    folder.at('a.ipynb'),
    JSON.stringify({ cells: [{ cell_type: 'code', source: '1', outputs }] }),
  );
  assert.match(textOf(await read.run({ path: 'a.ipynb' }, folder.context)), /\[output\]\nFigure\n/);
});
