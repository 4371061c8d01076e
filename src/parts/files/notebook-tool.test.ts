import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import type { JsonObject } from '../../core/schema.ts';
import { createFileTools } from './file-tools.ts';
import { editNotebook } from './notebook-edit.ts';

const tools = createFileTools({ ripgrep: null });
const edit = toolNamed(tools, 'notebook_edit');

/** As Jupyter writes it, with numbers that JavaScript cannot hold. */
const NOTEBOOK = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"ratio": 1.0, "big": 12345678901234567890},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": ["3\\n"]
    }
   ],
   "source": [
    "a = 1\\n",
    "print(a + 2)"
   ]
  }
 ],
 "metadata": {"x": "]}, \\"cells\\": ["},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

const SUM = NOTEBOOK.slice(
  NOTEBOOK.indexOf('  {\n   "cell_type": "code"'),
  NOTEBOOK.indexOf('\n ],\n "metadata"'),
);
const INTRO = NOTEBOOK.slice(
  NOTEBOOK.indexOf('  {\n   "cell_type": "markdown"'),
  NOTEBOOK.indexOf(',\n  {\n   "cell_type": "code"'),
);

async function open(text = NOTEBOOK): Promise<TestFolder> {
  const folder = await createTestFolder();
  await writeFile(folder.at('a.ipynb'), text);
  await toolNamed(tools, 'read').run({ path: 'a.ipynb' }, folder.context);
  return folder;
}

async function edited(input: JsonObject, text = NOTEBOOK): Promise<readonly [said: string, text: string]> {
  await using folder = await open(text);
  const given = edit.prepare?.(input) ?? input;
  const said = await runForText(edit, { path: 'a.ipynb', ...given }, folder.context);
  return [said, await readFile(folder.at('a.ipynb'), 'utf8')];
}

describe('a cell', () => {
  test('gets another source, loses its outputs, and all else keeps its bytes', async () => {
    const [said, text] = await edited({ cell_id: 'sum', new_source: 'print(4)\n' });
    assert.equal(said, 'Replaced cell 2 of a.ipynb, which has 2 cells.');
    const cell = SUM.replace('3,', 'null,')
      .replace(/"outputs": \[[\s\S]*?\n {3}\]/, '"outputs": []')
      .replace(/"source": \[[\s\S]*?\n {3}\]/, '"source": [\n    "print(4)\\n"\n   ]');
    assert.equal(text, NOTEBOOK.replace(SUM, cell));
  });

  test('is named by its number, too', async () => {
    const [, text] = await edited({ cell_number: 1, new_source: '# Other' });
    assert.equal(text, NOTEBOOK.replace('# Title', '# Other'));
  });

  test('becomes one of another kind', async () => {
    const [, text] = await edited({ cell_id: 'sum', new_source: 'words', cell_type: 'markdown' });
    assert.deepEqual(JSON.parse(text).cells[1], {
      cell_type: 'markdown',
      id: 'sum',
      metadata: {},
      source: ['words'],
    });
    assert.ok(text.includes(INTRO));
  });

  test('is inserted behind another, at the beginning, and where there is none', async () => {
    const [said, text] = await edited({ cell_id: 'intro', new_source: 'b = 2', edit_mode: 'insert' });
    assert.equal(said, 'Inserted cell 2 of a.ipynb, which has 3 cells.');
    const { cells } = JSON.parse(text);
    const { id, ...cell } = cells[1];
    assert.match(id, /^[0-9a-f]{8}$/);
    const code = { cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: ['b = 2'] };
    assert.deepEqual(cell, code);
    assert.ok(text.includes(INTRO) && text.includes(SUM));
    assert.match(text, /\n {2}\{\n {3}"cell_type": "code",\n {3}"execution_count": null,/);

    const [, first] = await edited({ new_source: 'x', cell_type: 'raw', edit_mode: 'insert' });
    assert.equal(JSON.parse(first).cells[0].cell_type, 'raw');
    const empty = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}';
    assert.equal(
      (await edited({ new_source: 'x', edit_mode: 'insert' }, empty))[1],
      empty.replace(
        '[]',
        '[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["x"]}]',
      ),
    );
  });

  test('is deleted: the first, the last and the only one', async () => {
    const parts = NOTEBOOK.split(`${INTRO},\n${SUM}`);
    assert.equal((await edited({ cell_id: 'intro', edit_mode: 'delete' }))[1], parts.join(SUM));
    assert.equal((await edited({ cell_id: 'sum', edit_mode: 'delete' }))[1], parts.join(INTRO));
    const single = '{"cells": [{"cell_type": "raw", "source": ""}], "nbformat": 4}';
    assert.equal(
      (await edited({ cell_id: '1', edit_mode: 'delete' }, single))[1],
      '{"cells": [], "nbformat": 4}',
    );
  });

  test('keeps the line ends of the file', async () => {
    const [, text] = await edited({ cell_id: 'intro', new_source: 'x' }, NOTEBOOK.replaceAll('\n', '\r\n'));
    assert.equal(text, NOTEBOOK.replace('# Title', 'x').replaceAll('\n', '\r\n'));
  });
});

describe('nothing is written', () => {
  const refused = async (input: JsonObject, message: RegExp, text = NOTEBOOK) => {
    await using folder = await open(text);
    await assert.rejects(edit.run({ path: 'a.ipynb', ...input }, folder.context), { message });
    assert.equal(await readFile(folder.at('a.ipynb'), 'utf8'), text);
  };

  test('for a cell that is not there, or no source', async () => {
    await refused({ cell_id: 'no', new_source: '' }, /has no cell "no": give the id .* number from 1 to 2/);
    await refused({ new_source: '' }, /Give the cell_id/);
    await refused({ cell_id: 'sum' }, /Give new_source/);
  });

  test('to what is no notebook', async () => {
    await refused({ cell_id: 'a', new_source: '' }, /a\.ipynb is no Jupyter notebook of format 4/, 'text');
  });

  test('to a file that the model has not seen as it is, and it is shown what changed', async () => {
    await using folder = await open();
    await writeFile(folder.at('a.ipynb'), NOTEBOOK.replace('# Title', '# Other'));
    await assert.rejects(edit.run({ path: 'a.ipynb', cell_id: 'sum', new_source: 'x' }, folder.context), {
      message: /has changed since you read it[\s\S]*\n- {4}"# Title"\n\+ {4}"# Other"/,
    });
    await writeFile(folder.at('b.ipynb'), NOTEBOOK);
    await assert.rejects(edit.run({ path: 'b.ipynb', cell_id: 'sum', new_source: 'x' }, folder.context), {
      message: /exists and you have not read it/,
    });
  });
});

test('a source of any letters comes back as it was', () => {
  for (const source of ['', '\n', 'a\n\nb', '"\\u0000 }]', '𝒳\n']) {
    const { text } = editNotebook(NOTEBOOK, { kind: 'replace', cell: 'sum', source }, 'a');
    assert.equal(JSON.parse(text).cells[1].source.join(''), source);
  }
});
