// What looks after protected files, without anything that confines: it must find every change by itself.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isHarmlessGitConfig } from './protected.ts';
import { Surfaces } from './surfaces.ts';

function place(quarantine?: () => Promise<string>) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'crab-surfaces-')));
  const root = join(base, 'root');
  for (const name of ['root', 'kept']) mkdirSync(join(base, name));
  const put = (path: string, text = 'x') => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const surfaces = new Surfaces({
    roots: [root],
    quarantine: quarantine ?? (async () => join(base, 'kept')),
  });
  return { root, put, surfaces, at: (path: string) => join(root, path) };
}

const OPEN = { isCovered: false };

test('what is new, changed or gone is undone, at every depth', async () => {
  const { put, surfaces, at } = place();
  put('a/b/.vscode/tasks.json', 'mine');
  put('.mcp.json', 'mine');
  symlinkSync('/usr/bin/env', at('.envrc'));
  const before = surfaces.snapshot();
  put('a/b/.vscode/tasks.json', 'theirs');
  put('a/b/c/.git/hooks/post-checkout');
  put('src/ordinary.txt');
  rmSync(at('.mcp.json'));
  rmSync(at('.envrc'));
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(planted.map(({ path, what }) => `${what} ${path.slice(at('x').length - 1)}`).sort(), [
    'changed a/b/.vscode/tasks.json',
    'gone .envrc',
    'gone .mcp.json',
    'new a/b/c/.git/hooks/post-checkout',
  ]);
  assert.equal(readFileSync(at('a/b/.vscode/tasks.json'), 'utf8'), 'mine');
  assert.equal(readFileSync(at('.mcp.json'), 'utf8'), 'mine');
  assert.equal(readlinkSync(at('.envrc')), '/usr/bin/env');
  assert.equal(existsSync(at('src/ordinary.txt')), true);
  assert.equal(readFileSync(planted.find(({ what }) => what === 'new')?.movedTo ?? '', 'utf8'), 'x');
  assert.deepEqual(await surfaces.verify(before, OPEN), []);
});

test('what is covered by a mount may be changed by its owner, but not by moving the folder around it', async () => {
  const { put, surfaces, at } = place();
  put('.git/config', 'mine');
  let before = surfaces.snapshot();
  put('.git/config', 'mine, newer');
  assert.deepEqual(await surfaces.verify(before, { isCovered: true }), []);
  before = surfaces.snapshot();
  renameSync(at('.git'), at('moved'));
  put('.git/config', 'theirs');
  const [planted] = await surfaces.verify(before, { isCovered: true });
  assert.equal(planted?.what, 'changed');
  assert.equal(readFileSync(at('.git/config'), 'utf8'), 'mine, newer');
});

test('where nothing can be kept, it is removed all the same', async () => {
  const { put, surfaces, at } = place(() => Promise.reject(new Error('no space')));
  const before = surfaces.snapshot();
  put('.mcp.json');
  assert.deepEqual(await surfaces.verify(before, OPEN), [{ path: at('.mcp.json'), what: 'new' }]);
  assert.equal(existsSync(at('.mcp.json')), false);
});

test('mounts are asked for whole folders and single files, and for no link', () => {
  const { put, surfaces, at } = place();
  for (const path of [
    '.vscode/a.json',
    '.vscode/deep/b.json',
    '.git/hooks/x',
    '.git/config',
    'sub/AGENTS.md',
  ])
    put(path);
  symlinkSync('elsewhere', at('.envrc'));
  assert.deepEqual(
    surfaces.covers(surfaces.snapshot()).toSorted(),
    ['.git/config', '.git/hooks', '.vscode', 'sub/AGENTS.md'].map(at),
  );
});

test('a git configuration is harmless when nothing in it is started', () => {
  const clone =
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = https://a.org/x\n\tfetch = +refs\n[branch "main"]\n\tremote = origin\n';
  assert.equal(isHarmlessGitConfig(clone), true);
  for (const line of [
    '[core]\n\tfsmonitor = ./run',
    '[core]\n\thooksPath = x',
    '[core] sshCommand = x',
    '[alias]\n\tst = !run',
    '[include]\n\tpath = x',
    '[filter "x"]\n\tclean = run',
    '[remote "origin"]\n\tuploadpack = run',
    '[core]\n\tbare = fals\\\n e',
    '!nonsense',
  ])
    assert.equal(isHarmlessGitConfig(`${clone}${line}\n`), false, line);
});
