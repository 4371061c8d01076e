// No test file may fall between the phases of `npm test`.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findTestFiles, phaseOf } from '../../scripts/test-phases.ts';

async function plant(root: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
}

test('every test file belongs to one phase, and what is in no other is a unit test', () => {
  const files = [
    'src/core/ids.test.ts',
    'test/support/screen.test.ts',
    'test/flows/print.test.ts',
    'test/flows/crash.campaign.test.ts',
    'test/terminal/resize.test.ts',
    'src/parts/llm/sse.campaign.test.ts',
    'bench/floor.test.ts',
  ];
  assert.deepEqual(files.map(phaseOf), [
    'unit',
    'unit',
    'flows',
    'campaigns',
    'terminal',
    'campaigns',
    'unit',
  ]);
});

test('test files are found at any depth, and only they', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-phases-'));
  await plant(folder.path, ['src/a.ts', 'src/a.test.ts', 'src/parts/x/b.test.ts', 'test/flows/c.test.ts']);
  assert.deepEqual(findTestFiles(folder.path), [
    'src/a.test.ts',
    'src/parts/x/b.test.ts',
    'test/flows/c.test.ts',
  ]);
});

test('what takes longest is begun first, and only once', () => {
  const files = findTestFiles(fileURLToPath(new URL('../..', import.meta.url)));
  assert.equal(files[0], 'test/campaigns/provider.campaign.test.ts');
  assert.deepEqual([...new Set(files)], files);
});

test('a tree without test files is refused', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-phases-'));
  await plant(folder.path, ['src/a.ts']);
  assert.throws(() => findTestFiles(folder.path), /no test files/);
});

test('a test file that git knows and no folder holds is refused', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-phases-'));
  await plant(folder.path, ['src/a.test.ts', 'extra/b.test.ts']);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.path });
  git('init', '-q');
  git('add', '.');
  assert.throws(() => findTestFiles(folder.path), /no phase: extra\/b\.test\.ts/);
});
