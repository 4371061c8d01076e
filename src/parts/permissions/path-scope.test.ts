import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { createPathScope, isWithin, type Place, protectedComponent } from './path-scope.ts';

/** Follows links; of what does not exist, the nearest existing folder is resolved. */
async function resolve(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return join(await resolve(dirname(path)), basename(path));
  }
}

async function workspace() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crab-scope-')));
  const inside = join(root, 'work');
  const outside = join(root, 'work-old');
  await mkdir(join(inside, 'src'), { recursive: true });
  await mkdir(join(inside, '.git'));
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await symlink(outside, join(inside, 'door'));
  await symlink(join(inside, 'src'), join(inside, 'alias'));
  await symlink(join(inside, '.git'), join(inside, 'history'));
  await symlink('loop-b', join(inside, 'loop-a'));
  await symlink('loop-a', join(inside, 'loop-b'));
  await symlink(inside, join(root, 'link-to-work'));
  return {
    root,
    inside,
    outside,
    scope: createPathScope({ roots: [inside], resolve }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

test('a path is judged by components after every link is followed', async () => {
  await using place = await workspace();
  const { inside, outside, root } = place;
  const cases: [string, Place][] = [
    [inside, { path: inside, where: 'inside' }],
    [join(inside, 'src'), { path: join(inside, 'src'), where: 'inside' }],
    [join(inside, 'new', 'file.ts'), { path: join(inside, 'new', 'file.ts'), where: 'inside' }],
    [join(inside, '..hidden'), { path: join(inside, '..hidden'), where: 'inside' }],
    [join(inside, 'alias', 'a.ts'), { path: join(inside, 'src', 'a.ts'), where: 'inside' }],
    [join(outside, 'secret.txt'), { path: join(outside, 'secret.txt'), where: 'outside' }],
    [join(inside, 'door', 'secret.txt'), { path: join(outside, 'secret.txt'), where: 'outside' }],
    [join(inside, 'door', 'new', 'x'), { path: join(outside, 'new', 'x'), where: 'outside' }],
    [root, { path: root, where: 'outside' }],
    [join(root, 'link-to-work', 'src'), { path: join(inside, 'src'), where: 'inside' }],
    [
      join(inside, '.git', 'hooks', 'pre-push'),
      {
        path: join(inside, '.git', 'hooks', 'pre-push'),
        where: 'protected',
        protectedBy: '.git/ decides what runs by itself',
      },
    ],
    [
      join(inside, 'history', 'config'),
      {
        path: join(inside, '.git', 'config'),
        where: 'protected',
        protectedBy: '.git/ decides what runs by itself',
      },
    ],
    [join(inside, 'loop-a'), { path: join(inside, 'loop-a'), where: 'unknown' }],
    ['/dev/null', { path: '/dev/null', where: 'inside' }],
  ];
  for (const [path, expected] of cases) assert.deepEqual(await place.scope.locate(path), expected, path);
});

test('a root that is itself a link stands for where it leads', async () => {
  await using place = await workspace();
  const scope = createPathScope({ roots: [join(place.root, 'link-to-work')], resolve });
  assert.deepEqual(await scope.locate(join(place.inside, 'src')), {
    path: join(place.inside, 'src'),
    where: 'inside',
  });
});

test('each root is resolved once, and only when a path may lie in it', async () => {
  const asked: string[] = [];
  const scope = createPathScope({
    roots: ['/w', '/extra'],
    resolve: (path) => {
      asked.push(path);
      return Promise.resolve(path);
    },
  });
  assert.deepEqual(asked, []);
  await scope.locate('/w/a');
  await scope.locate('/w/b');
  assert.deepEqual(asked, ['/w/a', '/w', '/w/b']);
  await scope.locate('/extra/c');
  await scope.locate('/extra/d');
  assert.deepEqual(asked.slice(3), ['/extra/c', '/extra', '/extra/d']);
});

test('a sibling whose name begins alike is not inside', () => {
  assert.deepEqual(
    ['/w', '/w/a', '/w/..a', '/wx', '/w-old/a', '/', '/v'].map((path) => isWithin(path, '/w')),
    [true, true, true, false, false, false, false],
  );
});

test('protected places are found at any depth and in any case', () => {
  const found = [
    '.git',
    'a/.git/config',
    '.GIT/hooks/x',
    '.crab/settings.json',
    '.claude/x',
    '.vscode/launch.json',
    '.idea/x',
    '.husky/pre-commit',
    '.mcp.json',
    'sub/.envrc',
    '.gitignore',
    '.github/workflows/ci.yml',
    '.mcp.json/x',
    'src/git/a.ts',
    'AGENTS.md',
    'packages/a/Claude.md',
    '.github/copilot-instructions.md',
    '.cursor/rules/a.mdc',
    '.cursorrules',
    'docs/agents.md.txt',
    'AGENTS.md/x',
  ].map(protectedComponent);
  const runs = (name: string) => `${name} decides what runs by itself`;
  const tells = (name: string) => `${name} tells agents what to do`;
  assert.deepEqual(found, [
    runs('.git/'),
    runs('.git/'),
    runs('.GIT/'),
    runs('.crab/'),
    runs('.claude/'),
    runs('.vscode/'),
    runs('.idea/'),
    runs('.husky/'),
    runs('.mcp.json'),
    runs('.envrc'),
    undefined,
    undefined,
    undefined,
    undefined,
    tells('AGENTS.md'),
    tells('Claude.md'),
    tells('copilot-instructions.md'),
    tells('.cursor/'),
    tells('.cursorrules'),
    undefined,
    undefined,
  ]);
});

test('a name that some file system takes for a protected one is protected', () => {
  for (const name of ['.GIT', '.git.', '.git ', '.g\u200cit', '.git::$INDEX_ALLOCATION', 'GIT~1', '.ｇｉｔ'])
    assert.ok(protectedComponent(`${name}/hooks/pre-push`), JSON.stringify(name));
  for (const file of ['AGENTS.md ', '.MCP.json', 'node_modules/.bin/tsc', '.yarnrc.yml', '.bashrc'])
    assert.ok(protectedComponent(file), JSON.stringify(file));
  for (const file of ['.gitignore', 'git/hooks/x', '.editorconfig', 'src/.bin/x', 'a~1/b', 'x:y'])
    assert.equal(protectedComponent(file), undefined, JSON.stringify(file));
});
