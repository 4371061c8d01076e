import assert from 'node:assert/strict';
import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';

import { type Line, MAX_LINE_BYTES, type ReadLines, readLines } from './read-lines.ts';
import { tempFolder } from './tape.fixture.ts';

interface Seen {
  readonly text: string | undefined;
  readonly number: number;
  readonly end: number;
}

async function linesOf(path: string, options?: ReadLines): Promise<{ size: number; lines: readonly Seen[] }> {
  const lines: Seen[] = [];
  const take = ({ bytes, number, end }: Line) => lines.push({ text: bytes?.toString(), number, end });
  const size = await readLines(path, take, options);
  return { size, lines };
}

test('lines come whole and numbered wherever the blocks end', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'lines');
  const random = seeded(7);
  const texts = Array.from({ length: 60 }, (_, at) =>
    `${at}:`.padEnd(Math.floor(random() ** 4 * 3_000_000), 'x'),
  );
  await writeFile(path, texts.map((text) => `${text}\n`).join(''));
  const expected: Seen[] = [];
  let end = 0;
  for (const [at, text] of texts.entries()) {
    end += text.length + 1;
    expected.push({ text, number: at + 1, end });
  }
  const { size, lines } = await linesOf(path);
  assert.equal(size, end);
  assert.deepEqual(lines, expected);
});

test('what has no newline at the end is counted, and given where it is wanted', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'lines');
  await writeFile(path, 'one\n\ntwo');
  const lines = [
    { text: 'one', number: 1, end: 4 },
    { text: '', number: 2, end: 5 },
  ];
  assert.deepEqual(await linesOf(path), { size: 8, lines });
  const rest = { text: 'two', number: 3, end: 8 };
  assert.deepEqual(await linesOf(path, { withRest: true }), { size: 8, lines: [...lines, rest] });
  await writeFile(path, 'one\n\n');
  assert.deepEqual(await linesOf(path, { withRest: true }), { size: 5, lines });
});

test('a line beyond the limit is passed over, and the next one is found', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'lines');
  await writeFile(path, 'one\n');
  const size = 4 + 2 * MAX_LINE_BYTES;
  await truncate(path, size);
  await appendFile(path, '\ntwo\n');
  const { lines } = await linesOf(path);
  assert.deepEqual(lines, [
    { text: 'one', number: 1, end: 4 },
    { text: undefined, number: 2, end: size + 1 },
    { text: 'two', number: 3, end: size + 5 },
  ]);
});
