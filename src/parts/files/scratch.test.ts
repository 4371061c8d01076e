import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createScratch } from './scratch.ts';

test('a folder that a killed process left is taken over, a link or one that others can read is not', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'crab-scratch-'));
  try {
    await mkdir(join(parent, 'left'), { mode: 0o700 });
    await mkdir(join(parent, 'open'), { mode: 0o755 });
    await symlink(join(parent, 'left'), join(parent, 'link'));
    const scratch = createScratch(parent);
    const path = await scratch.write('left', 'a/b.txt', 'text');
    assert.equal(path, join(parent, 'left', 'a_b.txt'));
    assert.equal(await readFile(path, 'utf8'), 'text');
    // Asked twice: a refusal is not forgotten.
    for (const name of ['open', 'link', 'open']) await assert.rejects(scratch.make(name), { code: 'EEXIST' });
  } finally {
    await rm(parent, { recursive: true });
  }
});
