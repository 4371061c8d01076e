// What looks after protected files, without anything that confines: it must find every change by itself.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
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

function place(quarantine?: () => Promise<string>, maxFolders?: number) {
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
    ...(maxFolders !== undefined && { maxFolders }),
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

test('what leads to a folder of git is taken away when something else lies there', async () => {
  const { put, surfaces, at } = place();
  for (const path of ['store/HEAD', 'deep/store/HEAD', 'gone/HEAD', 'node_modules/HEAD']) put(path);
  put('a/.git', 'gitdir: ../store\n');
  put('b/.git', 'gitdir: ../deep/store\n');
  put('c/.git', 'gitdir: ../gone\n');
  put('d/.git', 'gitdir: ../node_modules\n');
  const before = surfaces.snapshot();
  for (const path of ['store', 'deep', 'gone']) rmSync(at(path), { recursive: true });
  put('node_modules/store/HEAD');
  symlinkSync('node_modules/store', at('store'));
  symlinkSync('node_modules', at('deep'));
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(
    planted.map(({ path, what }) => [what, path]),
    ['a', 'b'].map((name) => ['astray', at(`${name}/.git`)]),
  );
});

test('a submodule that is called as what git stores is looked after as any other', async () => {
  const { put, surfaces, at } = place();
  for (const path of ['.git/modules/lfs', '.git/modules/vendor/logs']) {
    put(`${path}/HEAD`);
    put(`${path}/objects/x`);
    put(`${path}/config`, '[core]\n');
  }
  const before = surfaces.snapshot();
  put('.git/modules/lfs/config', EVIL('x'));
  put('.git/modules/vendor/logs/hooks/post-checkout');
  put('.git/modules/lfs/objects/hooks');
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(
    planted.map(({ path }) => path),
    ['lfs/config', 'vendor/logs/hooks/post-checkout'].map((path) => at(`.git/modules/${path}`)),
  );
});

test('a configuration with another name is not taken for changed by its owner', async () => {
  const { put, surfaces, at } = place();
  put('.git/config', 'mine');
  linkSync(at('.git/config'), at('other'));
  const before = surfaces.snapshot();
  put('other', 'theirs');
  const [planted] = await surfaces.verify(before, { isCovered: true });
  assert.deepEqual([planted?.what, planted?.path], ['changed', at('.git/config')]);
  assert.equal(readFileSync(at('.git/config'), 'utf8'), 'mine');
});

test('a rebase that was interrupted starts no program, but for those that it was going to', async () => {
  const { put, surfaces, at } = place();
  put('.git/HEAD');
  const plan = '.git/rebase-merge/git-rebase-todo';
  let before = surfaces.snapshot();
  put(plan, 'pick 1 one\n\texec touch x\n');
  assert.deepEqual(
    (await surfaces.verify(before, OPEN)).map(({ path }) => path),
    [at(plan)],
  );
  put(plan, 'pick 1 one\nx npm test\npick 2 exec\nx npm test\n');
  before = surfaces.snapshot();
  assert.deepEqual(surfaces.covers(before), []);
  put(plan, 'pick 2 exec\nx npm test\n');
  assert.deepEqual(await surfaces.verify(before, OPEN), []);
  rmSync(at('.git/rebase-merge'), { recursive: true });
  assert.deepEqual(await surfaces.verify(before, OPEN), []);
});

test('no number of new folders hides what is planted, and a tree that was too large is looked through in part', async () => {
  const { root, put, surfaces, at } = place(undefined, 8);
  for (const name of ['a', 'b', 'c']) put(`${name}/old/x`);
  put('.git/HEAD');
  let before = surfaces.snapshot();
  for (const name of ['d', 'e', 'f', 'g', 'h']) put(`${name}/new/x`);
  assert.deepEqual(await surfaces.verify(before, OPEN), []);
  before = surfaces.snapshot();
  for (const path of ['.git/hooks/pre-push', 'z/y/.envrc']) put(path);
  assert.deepEqual(
    (await surfaces.verify(before, OPEN)).map(({ path }) => path),
    ['.git/hooks/pre-push', 'z/y/.envrc'].map(at),
  );
  const large = new Surfaces({ roots: [root], quarantine: async () => at('kept'), maxFolders: 8 });
  before = large.snapshot();
  for (const path of ['.git/hooks/pre-push', 'h/new/.envrc']) put(path);
  assert.deepEqual(
    (await large.verify(before, OPEN)).map(({ path }) => path),
    [at('.git/hooks/pre-push')],
  );
});

test('the hooks and settings that a configuration of git names are looked after where they lie', async () => {
  const { put, surfaces, at } = place();
  put('.git/HEAD');
  put(
    '.git/config',
    '[core]\n\thooksPath = .githooks\n[include]\n\tpath = "../shared"\n[user]\n\tname = x\n',
  );
  put('.githooks/pre-push', 'mine');
  put('sub/.git/config', '[core] hookspath=tools/hooks\n[includeIf "gitdir:/x"]\npath=../none\n');
  put('shared', '[core]');
  const before = surfaces.snapshot();
  assert.deepEqual(
    surfaces.covers(before).toSorted(),
    ['.git/config', '.githooks/pre-push', 'shared', 'sub/.git/config'].map(at),
  );
  put('.githooks/pre-push', 'theirs');
  put('.githooks/deep/x');
  put('sub/tools/hooks/pre-commit');
  put('sub/tools/other');
  put('sub/none', EVIL('x'));
  put('shared', EVIL('x'));
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(planted.map(({ path, what }) => `${what} ${path.slice(at('x').length - 1)}`).sort(), [
    'changed .githooks/pre-push',
    'changed shared',
    'new .githooks/deep/x',
    'new sub/none',
    'new sub/tools/hooks/pre-commit',
  ]);
});

test('a folder of hooks is not replaced by a link', async () => {
  const { put, surfaces, at } = place();
  put('.git/HEAD');
  put('.git/config', '[core]\n\thooksPath = tools/hooks\n');
  put('tools/hooks/pre-push', 'mine');
  const before = surfaces.snapshot();
  renameSync(at('tools'), at('moved'));
  put('moved/hooks/pre-push', 'theirs');
  symlinkSync('moved', at('tools'));
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(
    planted.map(({ path, what }) => `${what} ${path.slice(at('x').length - 1)}`),
    ['new tools', 'new moved/hooks/pre-push', 'gone tools/hooks/pre-push'],
  );
  assert.equal(readFileSync(at('tools/hooks/pre-push'), 'utf8'), 'mine');
});

test('of Mercurial the settings of a repository are looked after, and nothing else', async () => {
  const { put, surfaces, at } = place();
  put('a/.hg/hgrc', '[paths]\n');
  put('a/.hg/store/hgrc');
  const before = surfaces.snapshot();
  put('a/.hg/hgrc', '[hooks]\nupdate = touch x\n');
  put('a/.hg/store/hgrc', '[hooks]');
  put('b/.hg/hgrc', '# from a clone\n[paths]\ndefault = https://a.org/x\n');
  put('c/.hg/hgrc', '[paths]\n%include ../x\n');
  put('d/.hg/hgrc', '[paths]\na = b\n[extensions]\nx = ./x.py\n');
  const planted = await surfaces.verify(before, OPEN);
  assert.deepEqual(
    planted.map(({ path }) => path),
    ['a', 'c', 'd'].map((name) => at(`${name}/.hg/hgrc`)),
  );
  assert.equal(readFileSync(at('a/.hg/hgrc'), 'utf8'), '[paths]\n');
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
