// Going back and forth: what a run changed in files, whoever wrote it, and what was said, together or apart. Nothing of it
// needs a repository, and one that is there is not touched.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, lstat, readdir, readFile, readlink, rename, symlink } from 'node:fs/promises';
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

const WRITE = (path: string, content: string) => ({ calls: [{ name: 'write', input: { path, content } }] });
const RUN = (command: string) => ({ calls: [{ name: 'bash', input: { command } }] });

test('what other agents did for the run goes back with it, by commands and edits alike', async () => {
  const tasks = [{ prompt: 'the task' }, { prompt: 'the task' }];
  await using at = await journey('anthropic', {
    files: FILES,
    script: {
      scripts: [
        {
          when: 'the task',
          replies: [
            RUN('echo made >> sub.txt; echo more >> a.txt'),
            WRITE('w.txt', 'w\n'),
            RUN('rm -rf old'),
            {},
          ],
        },
        { replies: [{ calls: [{ name: 'delegate', input: { tasks } }] }, { text: 'Given.' }] },
      ],
    },
  });
  const before = await snapshot(at.work.path);
  assert.equal((await at.run(['-p', 'give it away', ...FREE])).stdout, 'Given.\n');
  const after = await snapshot(at.work.path);
  assert.deepEqual(
    ['sub.txt', 'w.txt', 'old'].map((name) => name in after),
    [true, true, false],
  );
  await at.run(['-p', '/rewind 1', '--continue']);
  assert.deepEqual(await snapshot(at.work.path), before);
  await at.run(['-p', '/redo', '--continue']);
  assert.deepEqual(await snapshot(at.work.path), after);
});

/** Each part waits for a file that the call after it makes. */
const BACKGROUND = [
  'echo one > bg.txt; echo seen >> a.txt; touch half',
  'until test -e on; do sleep 0.02; done',
  'echo two >> bg.txt; touch over',
  'until test -e never; do sleep 0.02; done',
].join('\n');
const until = (name: string) => `until test -e ${name}; do sleep 0.02; done`;

test('what goes on in the background goes back with the prompt that began it', async () => {
  const script = [
    { calls: [{ name: 'bash', input: { command: BACKGROUND, run_in_background: true } }] },
    RUN(until('half')),
    { calls: [{ name: 'edit', input: { path: 'a.txt', old_string: 'two\n', new_string: 'TWO\n' } }] },
    RUN(`touch on; ${until('over')}; echo done >> crlf.txt`),
    { text: 'Done it.' },
  ];
  await using at = await journey('anthropic', { files: FILES, script });
  const before = await snapshot(at.work.path);
  assert.equal((await at.run(['-p', 'change things', ...FREE])).stdout, 'Done it.\n');
  const after = await snapshot(at.work.path);
  assert.equal(await readFile(at.work.file('bg.txt'), 'utf8'), 'one\ntwo\n');
  const back = await at.run(['-p', '/rewind 1', '--continue']);
  assert.doesNotMatch(back.stdout, /conflict|left/);
  assert.deepEqual(await snapshot(at.work.path), before);
  await at.run(['-p', '/redo', '--continue']);
  assert.deepEqual(await snapshot(at.work.path), after);
  await at.run(['-p', '/rewind 1', '--continue']);

  // While it still runs.
  const exit = await at.run(['chat', ...FREE], { stdin: 'change things\n/rewind 1\n/rewind\n' });
  assert.match(
    exit.stdout,
    /Gone back\.[\s\S]*removed {3}bg\.txt[\s\S]*There is no prompt to go back to yet/,
  );
  assert.deepEqual(await snapshot(at.work.path), before);
});

test('files and conversation go back apart, and each can be done again', async () => {
  const script = [{ text: 'Hello.' }, WRITE('new.txt', 'made\n'), { text: 'Made.' }, { text: 'And now?' }];
  await using at = await journey('anthropic', { script, git: false });
  await at.run(['-p', 'hello']);
  await at.run(['-p', 'make it', '--continue', ...FREE]);
  await at.run(['-p', '/rewind 1 --files', '--continue']);
  assert.deepEqual(await filesBelow(at.work.path), []);
  await at.run(['-p', '/redo', '--continue']);
  assert.equal(await at.work.read('new.txt'), 'made\n');
  await at.run(['-p', '/rewind 1 --conversation', '--continue']);
  assert.equal(await at.work.read('new.txt'), 'made\n');
  await at.run(['-p', 'something else', '--continue', ...FREE]);
  assert.deepEqual(at.asked().at(-1)?.messages.slice(0, 3), [
    user('hello'),
    assistant('Hello.'),
    user('something else'),
  ]);
});

test('a person’s own edits stay, and a conflict leaves her file and shows the other version', async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at + 1}\n`).join('');
  const files = { 'merged.txt': lines, 'both.txt': 'before\n', 'kept.txt': 'before\n' };
  const script = [RUN("sed -i 's/line 2/LINE 2/' merged.txt; echo run > both.txt; echo run > made.txt"), {}];
  await using at = await journey('anthropic', { script, files, git: false });
  await at.run(['-p', 'change', ...FREE]);
  await at.work.write('merged.txt', `${await at.work.read('merged.txt')}mine\n`);
  await at.work.write('both.txt', 'mine\n');
  await at.work.write('made.txt', 'mine\n');
  await at.work.write('kept.txt', 'mine\n');
  const exit = await at.run(['-p', '/rewind 1', '--continue']);
  assert.equal(
    exit.stdout,
    [
      'Gone back.',
      '  merged    merged.txt',
      '  conflict  both.txt (you changed the same lines since, or it is no text; the other version is both.txt.crab-conflict)',
      '  conflict  made.txt (the run made it, and you changed it since)',
      'The prompt was: change',
      '/redo undoes this.',
      '',
    ].join('\n'),
  );
  const now = await Promise.all(
    ['merged.txt', 'both.txt', 'both.txt.crab-conflict', 'made.txt', 'kept.txt'].map(at.work.read),
  );
  assert.deepEqual(now, [`${lines}mine\n`, 'mine\n', 'before\n', 'mine\n', 'mine\n']);
  await at.run(['-p', '/redo', '--continue']);
  assert.equal(await at.work.read('both.txt'), 'mine\n');
  assert.equal((await filesBelow(at.work.path)).length, 4);
});

test('what is ignored or may not be read is named and not kept', async () => {
  const files = {
    '.gitignore': 'out/\n',
    'out/big.js': 'built\n',
    'secret.key': 'SECRET-VALUE\n',
    'a.txt': 'before\n',
  };
  const script = [RUN('echo x >> secret.key; echo x > out/big.js; echo after > a.txt'), {}];
  await using at = await journey('anthropic', { script, files, git: false });
  await at.run(['-p', 'change', ...FREE, '--disallowedTools', 'Read(secret.key)']);
  const exit = await at.run(['-p', '/rewind 1', '--continue']);
  assert.match(exit.stdout, /restored {2}a\.txt/);
  assert.match(exit.stdout, /1 denied by a rule/);
  assert.match(exit.stdout, /1 ignored/);
  assert.equal(await at.work.read('a.txt'), 'before\n');
  assert.equal(await at.work.read('out/big.js'), 'x\n');
  const kept = await filesBelow(join(at.work.home, '.crab/history'));
  const modes = await Promise.all(kept.map(async (path) => (await lstat(path)).mode & 0o777));
  assert.ok(modes.length > 0 && modes.every((mode) => mode === 0o600), `modes ${modes}`);
  const hash = createHash('sha256').update('SECRET-VALUE\n').digest('hex');
  const session = await readFile((await onlySession(at)).path, 'utf8');
  assert.ok(!session.includes(hash), 'the hash of what may not be read is on the tape');
});

test('a folder that became a link is not followed', async () => {
  const script = [RUN('echo after > sub/a.txt'), {}];
  await using at = await journey('anthropic', { script, files: { 'sub/a.txt': 'before\n' }, git: false });
  await at.run(['-p', 'change', ...FREE]);
  await rename(at.work.file('sub'), join(at.work.home, 'outside'));
  await symlink(join(at.work.home, 'outside'), at.work.file('sub'));
  const exit = await at.run(['-p', '/rewind 1', '--continue']);
  assert.match(exit.stdout, /left {6}sub\/a\.txt \(.*sub has become a link\)/);
  assert.equal(await readFile(join(at.work.home, 'outside/a.txt'), 'utf8'), 'after\n');
});

test('a session that leaves nothing behind keeps no history', async () => {
  const script = [WRITE('new.txt', 'made\n'), {}];
  await using at = await journey('anthropic', { script, git: false });
  await at.run(['-p', 'make it', '--no-session', ...FREE]);
  assert.deepEqual(await filesBelow(join(at.work.home, '.crab/history')), []);
});
