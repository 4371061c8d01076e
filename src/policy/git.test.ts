import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGitHead } from './git.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const OTHER = 'fedcba9876543210fedcba9876543210fedcba98';

function filesOf(contents: Readonly<Record<string, string>>) {
  return {
    info: async (path: string) => {
      const found = contents[path];
      const isFolder = Object.keys(contents).some((name) => name.startsWith(`${path}/`));
      if (found === undefined && !isFolder) return undefined;
      const kind = found === undefined ? 'directory' : 'file';
      return { kind, size: found?.length ?? 0, modified: 0, mode: 0o644 } as const;
    },
    read: async (path: string) => Buffer.from(contents[path] ?? ''),
  };
}

const cases: readonly (readonly [string, Readonly<Record<string, string>>, unknown])[] = [
  [
    'a branch with its commit',
    { '/w/.git/HEAD': 'ref: refs/heads/main\n', '/w/.git/refs/heads/main': `${COMMIT}\n` },
    { branch: 'main', commit: COMMIT },
  ],
  [
    'a branch with slashes, in a folder below',
    { '/w/.git/HEAD': 'ref: refs/heads/a/b\n', '/w/.git/refs/heads/a/b': COMMIT, '/w/sub/deep/x': '' },
    { branch: 'a/b', commit: COMMIT },
  ],
  [
    'a packed branch',
    {
      '/w/.git/HEAD': 'ref: refs/heads/main\n',
      '/w/.git/packed-refs': `# pack-refs\n${OTHER} refs/heads/main2\n${COMMIT} refs/heads/main\n`,
    },
    { branch: 'main', commit: COMMIT },
  ],
  ['a branch without a commit', { '/w/.git/HEAD': 'ref: refs/heads/new\n' }, { branch: 'new' }],
  ['a commit without a branch', { '/w/.git/HEAD': `${COMMIT}\n` }, { commit: COMMIT }],
  [
    'a linked worktree',
    {
      '/w/.git': 'gitdir: /main/.git/worktrees/w\n',
      '/main/.git/worktrees/w/HEAD': 'ref: refs/heads/x\n',
      '/main/.git/worktrees/w/commondir': '../..\n',
      '/main/.git/worktrees/w/../../refs/heads/x': COMMIT,
    },
    { branch: 'x', commit: COMMIT },
  ],
  ['a head that says nothing', { '/w/.git/HEAD': 'garbage' }, {}],
  ['no repository', { '/w/file': '' }, undefined],
];

for (const [what, contents, expected] of cases)
  test(what, async () => {
    const cwd = '/w/sub/deep/x' in contents ? '/w/sub/deep' : '/w';
    assert.deepEqual(await readGitHead(filesOf(contents), cwd), expected);
  });
