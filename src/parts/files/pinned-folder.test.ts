import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPinnedFolder } from './pinned-folder.ts';

const skip = process.platform !== 'linux' && 'only Linux has a path for an open folder';

function place(): { readonly inside: string; readonly outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'crab-pinned-')));
  for (const name of ['inside', 'outside']) mkdirSync(join(base, name));
  return { inside: join(base, 'inside'), outside: join(base, 'outside') };
}

test('a folder that is moved while it is written to is still the one that was meant', { skip }, async () => {
  const { inside, outside } = place();
  await inPinnedFolder(join(inside, 'file'), async (path) => {
    renameSync(inside, `${inside}-moved`);
    symlinkSync(outside, inside);
    writeFileSync(path, 'text');
  });
  assert.deepEqual(readdirSync(outside), []);
  assert.equal(readFileSync(join(`${inside}-moved`, 'file'), 'utf8'), 'text');
});

test('a link in the place of the folder, or above it, is refused', { skip }, async () => {
  const { inside, outside } = place();
  mkdirSync(join(outside, 'sub'));
  symlinkSync(outside, join(inside, 'link'));
  const write = (path: string) => inPinnedFolder(path, async (pinned) => writeFileSync(pinned, 'text'));
  await assert.rejects(write(join(inside, 'link/file')));
  await assert.rejects(write(join(inside, 'link/sub/file')), /was moved or replaced/);
  assert.deepEqual(readdirSync(outside), ['sub']);
});

test('missing folders are made', { skip }, async () => {
  const { inside } = place();
  await inPinnedFolder(join(inside, 'a/b/file'), async (path) => writeFileSync(path, 'text'));
  assert.equal(readFileSync(join(inside, 'a/b/file'), 'utf8'), 'text');
});
