import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { replaceFile, writeFailure } from './replace-file.ts';

const scratch = () => mkdtempDisposable(join(tmpdir(), 'crab-disk-'));
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('a file is made with its folders, and replaced, for its user alone', async () => {
  await using folder = await scratch();
  const path = join(folder.path, 'a/b/keys.json');
  replaceFile(path, 'one');
  assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['one', 0o600]);
  assert.equal(modeOf(join(folder.path, 'a')), 0o700);
  chmodSync(path, 0o644);
  replaceFile(path, Uint8Array.from([0x32, 0xff]));
  assert.deepEqual([[...readFileSync(path)], modeOf(path)], [[0x32, 0xff], 0o600]);
  assert.deepEqual(readdirSync(join(folder.path, 'a/b')), ['keys.json']);
});

test('whoever has the old file open reads it to its end', async () => {
  await using folder = await scratch();
  const path = join(folder.path, 'file');
  writeFileSync(path, 'old');
  const before = statSync(path).ino;
  replaceFile(path, 'new');
  assert.notEqual(statSync(path).ino, before);
});

test('what cannot be put in place leaves the old and nothing beside it', async () => {
  await using folder = await scratch();
  const path = join(folder.path, 'file');
  mkdirSync(path);
  writeFileSync(join(path, 'old'), 'kept');
  assert.throws(() => replaceFile(path, 'new'), { code: /^(?:EISDIR|ENOTEMPTY|EEXIST|EPERM)$/ });
  assert.deepEqual(readdirSync(folder.path), ['file']);
  assert.equal(readFileSync(join(path, 'old'), 'utf8'), 'kept');
});

test('what a killed process left under a name that is always the same is written over', async () => {
  await using folder = await scratch();
  const [path, left] = [join(folder.path, 'file'), join(folder.path, 'file.new')];
  writeFileSync(left, 'half of a longer content', { mode: 0o644 });
  replaceFile(path, 'whole', left);
  assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['whole', 0o600]);
  assert.deepEqual(readdirSync(folder.path), ['file']);
});

test('a full disk is told from other failures', () => {
  const full = writeFailure('/x', Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
  assert.deepEqual([full.code, full.message], ['storage-full', '/x cannot be written: no space left.']);
  assert.equal(writeFailure('/x', Object.assign(new Error('no'), { code: 'EROFS' })).code, 'storage-failed');
});
