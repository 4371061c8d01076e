// Real repositories: what is lost with a worktree is git's to say.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';
import { createTestFolder, runForText, toolNamed } from '../../../test/support/tool-folder.ts';
import type { ToolContext } from '../../core/tool.ts';
import { createExec } from '../process/exec.ts';
import type { Presence } from './copies.ts';
import { createWorktreeTools } from './worktree-tools.ts';

const AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
};

/** Every process that was ever named lives; sessions are as the test has them. */
function presenceWith(sessions: ReadonlyMap<string, 'open' | 'closed'>): Presence {
  return {
    here: async () => 'here',
    lives: async (residence) => residence === 'here',
    session: async (id) => sessions.get(id) ?? 'gone',
  };
}

async function repository(answer?: string) {
  const at = await createTestFolder();
  const env = { PATH: process.env['PATH'], HOME: at.path, ...AUTHOR };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
  const top = at.at('project');
  await mkdir(top);
  git(top, 'init', '-q', '-b', 'main');
  await writeFile(at.at('project', 'a.txt'), 'one\n');
  git(top, 'add', '.');
  git(top, 'commit', '-qm', 'first');
  const asked: string[] = [];
  let cwd = top;
  const setFolder = async (path: string | undefined) => {
    cwd = path ?? top;
  };
  const sessions = new Map<string, 'open' | 'closed'>();
  const presence = presenceWith(sessions);
  const tools = createWorktreeTools({ folder: at.at('copies'), files: at.context.files, presence });
  let session = 'MINE';
  const context = (): ToolContext => ({
    ...at.context,
    identity: { ...at.context.identity, cwd, session },
    exec: createExec({ env, clock: realClock, keys: [] }),
    control: { ...at.context.control, setFolder },
    ask: async (question) => {
      if (question.kind !== 'choice' || answer === undefined) throw new Error('nobody');
      asked.push(question.questions[0]?.text ?? '');
      return { kind: 'choice', answers: [answer] };
    },
  });
  return {
    top,
    git,
    asked,
    sessions,
    /** Goes on as another conversation, in the repository's own folder. */
    become: (id: string, folder = top) => {
      session = id;
      cwd = folder;
      at.state.clear();
    },
    list: () => runForText(toolNamed(tools, 'list_worktrees'), {}, context()),
    remove: (name: string) => runForText(toolNamed(tools, 'remove_worktree'), { name }, context()),
    cwd: () => cwd,
    at,
    enter: (name: string) => runForText(toolNamed(tools, 'enter_worktree'), { name }, context()),
    exit: (action: string) => runForText(toolNamed(tools, 'exit_worktree'), { action }, context()),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  };
}

test('a copy with nothing of its own is removed without a question, with its branch', async () => {
  await using repo = await repository();
  await repo.enter('try');
  const path = repo.cwd();
  assert.equal(repo.git(path, 'branch', '--show-current'), 'worktree-try');
  assert.match(await repo.exit('remove'), /are removed\.$/);
  assert.deepEqual([repo.cwd(), existsSync(path)], [repo.top, false]);
  assert.equal(repo.git(repo.top, 'branch', '--list', 'worktree-*'), '');
});

test('changes and commits are lost only when the person says so', async () => {
  await using repo = await repository('Keep the worktree');
  await repo.enter('try');
  const path = repo.cwd();
  await writeFile(`${path}/new.txt`, 'x');
  repo.git(path, 'commit', '-qm', 'mine', '--allow-empty');
  await assert.rejects(repo.exit('remove'), {
    name: 'ToolFailure',
    message:
      /1 changed files \(new\.txt\) and 1 commits of the branch worktree-try would be lost, and the user did not agree/,
  });
  assert.deepEqual([repo.cwd(), existsSync(`${path}/new.txt`)], [path, true]);
  assert.match(repo.asked[0] ?? '', /^Remove the worktree .*\? These would be lost: 1 changed files/);
});

test('the person may throw them away', async () => {
  await using repo = await repository('Discard them');
  await repo.enter('try');
  const path = repo.cwd();
  await writeFile(`${path}/a.txt`, 'changed');
  await repo.exit('remove');
  assert.equal(existsSync(path), false);
  assert.equal(repo.asked.length, 1);
});

test('commits that another branch has are not lost', async () => {
  await using repo = await repository();
  await repo.enter('try');
  repo.git(repo.cwd(), 'commit', '-qm', 'mine', '--allow-empty');
  repo.git(repo.top, 'merge', '-q', 'worktree-try');
  assert.match(await repo.exit('remove'), /are removed\.$/);
});

test('a kept worktree is entered again by its name, and a stranger’s folder is not', async () => {
  await using repo = await repository();
  await repo.enter('try');
  const path = repo.cwd();
  await writeFile(`${path}/new.txt`, 'x');
  await assert.rejects(repo.enter('more'), /is in the worktree .*: leave it with exit_worktree first\./);
  await repo.exit('keep');
  await repo.enter('try');
  assert.deepEqual([repo.cwd(), existsSync(`${path}/new.txt`)], [path, true]);
  await repo.exit('keep');
  await mkdir(path.replace(/try$/, 'other'));
  await assert.rejects(repo.enter('other'), /is there and is no worktree of/);
  await assert.rejects(repo.exit('keep'), /The conversation is in no worktree\./);
});

test('the list tells path, branch, what would be lost, and whose conversation is or was in each', async () => {
  await using repo = await repository();
  assert.equal(await repo.list(), `There is no worktree of ${repo.top}.`);
  repo.sessions.set('MINE', 'open');
  await repo.enter('first');
  const first = repo.cwd();
  await writeFile(`${first}/new.txt`, 'x');
  repo.become('OTHER');
  repo.sessions.set('OTHER', 'open');
  await repo.enter('second');
  const second = repo.cwd();
  const rows = (one: string, other: string) =>
    `${first}  worktree-first  changed: 1 changed files (new.txt)  ${one}\n${second}  worktree-second  clean  ${other}`;
  assert.equal(await repo.list(), rows('in use by crab MINE', 'in use by crab OTHER'));
  await repo.exit('keep');
  repo.sessions.set('MINE', 'closed');
  assert.equal(await repo.list(), rows('left by crab MINE', 'left by crab OTHER, which is open'));
  repo.sessions.clear();
  assert.match(await repo.list(), /left by crab OTHER, which is not kept any more$/);
});

test('a worktree that another conversation is in is neither entered nor removed', async () => {
  await using repo = await repository('Discard them');
  await repo.enter('first');
  repo.become('OTHER');
  for (const refused of [() => repo.enter('first'), () => repo.remove('first')])
    await assert.rejects(refused, { name: 'ToolFailure', message: /the conversation MINE is in it\./ });
  repo.sessions.set('MINE', 'closed');
  assert.match(await repo.remove('first'), /are removed\.$/);
  await assert.rejects(repo.remove('first'), /There is no worktree first of/);
});

test('what another conversation left is removed only with the person’s word', async () => {
  await using repo = await repository('Keep the worktree');
  await repo.enter('first');
  await writeFile(`${repo.cwd()}/new.txt`, 'x');
  repo.become('OTHER');
  repo.sessions.set('MINE', 'closed');
  await assert.rejects(repo.remove('first'), /the user did not agree/);
  assert.equal(repo.asked.length, 1);
});

test('a copy whose folder is gone is found, and cleared away with its branch', async () => {
  await using repo = await repository();
  await repo.enter('first');
  await rm(repo.cwd(), { recursive: true });
  repo.become('OTHER');
  repo.sessions.set('MINE', 'closed');
  assert.match(await repo.list(), /first {2}worktree-first {2}missing {2}left by crab MINE$/);
  await repo.remove('first');
  assert.equal(await repo.list(), `There is no worktree of ${repo.top}.`);
  assert.equal(repo.git(repo.top, 'branch', '--list', 'worktree-*'), '');
});

test('a copy that says it is of another repository runs none of that one’s programs', async () => {
  await using repo = await repository('Keep the worktree');
  await repo.enter('first');
  const copy = repo.cwd();
  const other = repo.at.at('other');
  repo.git(repo.top, 'clone', '-q', repo.top, other);
  repo.git(other, 'config', 'filter.evil.clean', `touch ${repo.at.at('ran')}; cat`);
  await writeFile(`${copy}/.gitattributes`, '* filter=evil\n');
  await writeFile(`${copy}/a.txt`, 'two\n');
  await writeFile(`${copy}/.git`, `gitdir: ${other}/.git\n`);
  assert.match(await repo.list(), /changed: 2 changed files \(a\.txt, \.gitattributes\)/);
  await assert.rejects(repo.exit('remove'), /the user did not agree/);
  assert.equal(existsSync(repo.at.at('ran')), false);
});

test('a .git that leads to settings which commands can write is not obeyed', async () => {
  await using repo = await repository();
  const { top, at, git } = repo;
  await writeFile(`${top}/.gitattributes`, '* filter=evil\n');
  git(top, 'add', '.');
  git(top, 'commit', '-qm', 'attributes');
  await mkdir(`${top}/node_modules`);
  await rename(`${top}/.git`, at.at('real.git'));
  const scratch = await at.context.scratch();
  for (const where of [`${top}/evil`, `${top}/node_modules/.git`, `${scratch}/.git`, at.at('elsewhere')]) {
    git(at.path, 'clone', '-q', '--bare', at.at('real.git'), where);
    git(at.path, '--git-dir', where, 'config', 'core.bare', 'false');
    git(at.path, '--git-dir', where, 'config', 'filter.evil.smudge', `touch ${at.at('ran')}; cat`);
    await writeFile(`${top}/.git`, `gitdir: ${where}\n`);
    await assert.rejects(
      repo.enter('try'),
      /its \.git leads to a folder whose settings commands may have written/,
    );
  }
  assert.equal(existsSync(at.at('ran')), false);
});

test('in a linked worktree of the person’s own a copy is made as in any other', async () => {
  await using repo = await repository();
  const linked = repo.at.at('linked');
  repo.git(repo.top, 'worktree', 'add', '-q', linked, '-b', 'mine');
  repo.become('MINE', linked);
  await repo.enter('try');
  assert.match(await repo.list(), /try {2}worktree-try {2}clean {2}in use by crab MINE$/);
  assert.match(await repo.exit('remove'), /^Back in .*linked\. .* are removed\.$/);
});

test('hooks of the repository do not run', async () => {
  await using repo = await repository();
  const hook = repo.at.at('project/.git/hooks/post-checkout');
  await writeFile(hook, '#!/bin/sh\ntouch "$HOME/hooked"\n', { mode: 0o755 });
  await repo.enter('try');
  assert.equal(existsSync(repo.at.at('hooked')), false);
});

test('a state that names another folder is no worktree', async () => {
  await using repo = await repository('Discard them');
  for (const path of [repo.top, `${repo.at.at('copies')}/../project`, '/etc']) {
    repo.at.state.set('worktree', { path, branch: 'worktree-x', top: repo.top });
    await assert.rejects(repo.exit('remove'), /The conversation is in no worktree\./);
  }
  assert.equal(existsSync(repo.top), true);
});

test('before the first commit there is nothing to copy', async () => {
  await using repo = await repository();
  repo.git(repo.top, 'update-ref', '-d', 'HEAD');
  await assert.rejects(repo.enter('try'), /project has no commit yet, so that there is nothing to begin/);
});

test('where there is no git, that is what is said', async () => {
  await using at = await createTestFolder();
  const options = { folder: at.at('copies'), files: at.context.files, presence: presenceWith(new Map()) };
  const exec = createExec({ env: { PATH: at.at('empty') }, clock: realClock, keys: [] });
  const tool = toolNamed(createWorktreeTools(options), 'enter_worktree');
  await assert.rejects(tool.run({ name: 'try' }, { ...at.context, exec }), /program git was not found/);
});

test('outside of a repository there is nothing to copy', async () => {
  await using at = await createTestFolder();
  const options = { folder: at.at('copies'), files: at.context.files, presence: presenceWith(new Map()) };
  const tool = toolNamed(createWorktreeTools(options), 'enter_worktree');
  const exec = createExec({ env: { PATH: process.env['PATH'] }, clock: realClock, keys: [] });
  const context = { ...at.context, exec };
  await assert.rejects(tool.run({ name: 'try' }, context), /is in no git repository\./);
});
