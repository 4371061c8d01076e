// What looks after protected files, without anything that confines: it must find every change by itself.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

/** As git would be told by a person who knows nothing of what was planted: the program of the configuration leaves a file. */
const EVIL = (mark: string) => `[core]\n\tfsmonitor = "touch ${mark}; false"\n`;

test('a folder of git is one whatever its name, and so are those of submodules and working trees', async () => {
  const { put, surfaces, at } = place();
  put('.git/HEAD', 'ref: refs/heads/main\n');
  put('.git/modules/lib/HEAD', 'ref: refs/heads/main\n');
  put('.git/modules/lib/objects/x');
  put('bare/HEAD', 'ref: refs/heads/main\n');
  put('bare/config', '[core]\n\tbare = true\n');
  put('bare/hooks/post-update', 'not yet of git');
  const before = surfaces.snapshot();
  put('bare/objects/x');
  const evil = EVIL(at('came-out'));
  for (const path of ['bare/config', '.git/commondir', '.git/modules/lib/config', 'sub/.git'])
    put(path, evil);
  put('.git/modules/lib/hooks/post-checkout');
  put('.git/worktrees/tree/HEAD', 'ref: refs/heads/main\n');
  put('.git/worktrees/tree/commondir', '../../../bare\n');
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(planted.map(({ path }) => path.slice(at('x').length - 1)).sort(), [
    '.git/commondir',
    '.git/modules/lib/config',
    '.git/modules/lib/hooks/post-checkout',
    '.git/worktrees/tree/commondir',
    'bare/config',
    'bare/hooks/post-update',
    'sub/.git',
  ]);
});

test('what leads to a folder of git may lead to one that is looked through', async () => {
  const { put, surfaces, at } = place();
  const before = surfaces.snapshot();
  for (const [path, to] of [
    ['a', '../.git/modules/a'],
    ['b', at('.git/worktrees/b')],
    ['c', '../.git/objects/c'],
    ['d', '../node_modules/d'],
    ['e', '/tmp'],
    ['f', '../link'],
    ['g', '../nowhere'],
  ] as const)
    put(`${path}/.git`, `gitdir: ${to}\n`);
  for (const path of ['.git/modules/a', '.git/worktrees/b', '.git/objects/c', 'node_modules/d', 'real'])
    put(`${path}/x`);
  symlinkSync('real', at('link'));
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(
    planted.map(({ path }) => path),
    ['c', 'd', 'e', 'f', 'g'].map((name) => at(`${name}/.git`)),
  );
});

test('git itself makes, moves and removes submodules and working trees, and nothing is taken away', async () => {
  const { root, surfaces, at } = place();
  const git = (cwd: string, ...args: readonly string[]) => {
    const named = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'protocol.file.allow=always'];
    execFileSync('git', [...named, ...args], {
      cwd,
      stdio: 'pipe',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '' },
    });
  };
  mkdirSync(at('lib'));
  git(at('lib'), 'init');
  git(at('lib'), 'commit', '--allow-empty', '-m', 'one');
  git(root, 'init');
  git(root, 'commit', '--allow-empty', '-m', 'one');
  const before = surfaces.snapshot();
  // The repository's own configuration is protected, and is the person's to change.
  const config = readFileSync(at('.git/config'));
  git(root, 'submodule', 'add', '--name', 'deep/er', './lib', 'sub');
  git(root, 'worktree', 'add', 'tree');
  git(root, 'clone', '--bare', 'lib', 'bare.git');
  writeFileSync(at('.git/config'), config);
  assert.deepEqual(await surfaces.verify(before, OPEN), []);
  const between = surfaces.snapshot();
  assert.deepEqual(
    surfaces.covers(between).filter((path) => /tree|sub\b/.test(path)),
    [],
  );
  git(root, 'worktree', 'move', 'tree', 'moved');
  git(root, 'worktree', 'remove', 'moved');
  rmSync(at('sub'), { recursive: true });
  assert.deepEqual(await surfaces.verify(between, OPEN), []);
  assert.equal(existsSync(at('tree/.git')), false);
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
    '[core]\n\tworktree = ../..',
    '[init]\n\ttemplateDir = x',
    '[submodule "x"]\n\tupdate = !run',
    '[core]\n\tbare = fals\\\n e',
    '!nonsense',
  ])
    assert.equal(isHarmlessGitConfig(`${clone}${line}\n`), false, line);
});
