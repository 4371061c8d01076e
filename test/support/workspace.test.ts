import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { tempWorkspace } from './workspace.ts';

test('a workspace is a repository with the files in its first commit, and goes away', async () => {
  let root = '';
  {
    await using work = await tempWorkspace({ 'a.txt': 'one\n', 'src/deep/b.bin': new Uint8Array([0, 255]) });
    root = dirname(work.path);
    assert.equal(await work.git('ls-files'), 'a.txt\nsrc/deep/b.bin');
    assert.equal(await work.git('status', '--porcelain', '--branch'), '## main');
    await work.write('new/c.txt', 'two');
    assert.equal(await work.read('new/c.txt'), 'two');
    assert.equal(await work.git('status', '--porcelain'), '?? new/');
    assert.deepEqual(await readdir(work.home), []);
  }
  assert.equal(existsSync(root), false);
});

test('the same files make the same commit', async () => {
  await using one = await tempWorkspace({ a: '1' });
  await using two = await tempWorkspace({ a: '1' });
  assert.equal(await one.git('rev-parse', 'HEAD'), await two.git('rev-parse', 'HEAD'));
});

test('a workspace can do without git', async () => {
  await using work = await tempWorkspace({ a: '1' }, { git: false });
  assert.deepEqual(await readdir(work.path), ['a']);
});
