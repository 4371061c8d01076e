// Going back and forth: what a run changed in files, whoever wrote it, and what was said, together or apart. Nothing of it
// needs a repository, and one that is there is not touched.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, lstat, readdir, readFile, readlink, symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { type Journey, journey, onlySession } from '../support/journey.ts';
import { filesBelow } from '../support/session-files.ts';
import { assistant, user } from '../support/spoken.ts';

const FREE = ['--permission-mode', 'bypassPermissions'] as const;

const FILES = {
  'a.txt': 'one\ntwo\nthree\nfour\nfive\n',
  'crlf.txt': 'a\r\nb\r\n',
  'bin/tool': '#!/bin/sh\necho hi\n',
  'data.bin': new Uint8Array([0, 1, 2, 255, 0]),
  'old/name.txt': 'moved\n',
  'empty.txt': '',
};

const EDIT = { name: 'edit', input: { path: 'a.txt', old_string: 'two\n', new_string: 'TWO\n' } };
const BASH = {
  name: 'bash',
  input: {
    command: [
      'printf "x\\r\\n" >> crlf.txt',
      'chmod 600 bin/tool',
      'printf "\\000\\001" > data.bin',
      'mkdir -p new/deep && echo made > new/deep/file.txt',
      'mv old/name.txt new/name.txt && rmdir old',
      'ln -s a.txt link',
      'rm empty.txt',
      '(sleep 0.1; echo formatted >> a.txt) & wait',
    ].join('\n'),
  },
};
const SCRIPT = [{ calls: [EDIT] }, { calls: [BASH] }, { text: 'Done it.' }, { text: 'Second.' }];

/** Every path below a folder with its kind, mode and content. */
async function snapshot(folder: string, except: readonly string[] = []): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path);
    if (except.some((each) => name === each || name.startsWith(`${each}/`))) continue;
    const mode = ((await lstat(path)).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) all[name] = `link ${await readlink(path)}`;
    else if (entry.isDirectory()) all[name] = `folder ${mode}`;
    else
      all[name] = `file ${mode} ${createHash('sha256')
        .update(await readFile(path))
        .digest('hex')}`;
  }
  return all;
}

async function changed(git: boolean): Promise<Journey> {
  const at = await journey('anthropic', { script: SCRIPT, files: FILES, git });
  await chmod(at.work.file('bin/tool'), 0o755);
  return at;
}

for (const git of [false, true]) {
  test(`rewind and redo are each other's inverse ${git ? 'in a repository, whose .git stays as it is' : 'without a repository'}`, async () => {
    await using at = await changed(git);
    const before = await snapshot(at.work.path, ['.git']);
    const repository = git ? await snapshot(at.work.file('.git')) : {};
    const exit = await at.run(['-p', 'change things', ...FREE]);
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Done it.\n', stderr: '' });
    const after = await snapshot(at.work.path, ['.git']);
    assert.notDeepEqual(after, before);

    const dry = await at.run(['-p', '/rewind 1 --dry-run', '--continue']);
    assert.match(dry.stdout, /^This would change:\n[\s\S]* a\.txt\n/);
    assert.deepEqual(await snapshot(at.work.path, ['.git']), after);

    const back = await at.run(['-p', '/rewind 1', '--continue']);
    assert.deepEqual({ code: back.code, stderr: back.stderr }, { code: 0, stderr: '' });
    assert.deepEqual(await snapshot(at.work.path, ['.git']), before);

    const forth = await at.run(['-p', '/redo', '--continue']);
    assert.deepEqual({ code: forth.code, stderr: forth.stderr }, { code: 0, stderr: '' });
    assert.deepEqual(await snapshot(at.work.path, ['.git']), after);
    if (git) assert.deepEqual(await snapshot(at.work.file('.git')), repository);
  });
}
