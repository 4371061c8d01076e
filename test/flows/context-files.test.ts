// What the model is told of where it is: instructions from the home and from the root down to the folder, what the
// command line puts in or before them, and the repository's branch and commit.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Journey, journey, onEachWire } from '../support/journey.ts';

const HELLO = [{ text: 'Hello.', repeat: 99 }];

interface Instructions {
  readonly path: string;
  readonly text: string;
}

const lastSystem = (at: Journey) => at.asked().at(-1)?.system ?? '';

/** The instruction files in a system prompt, those of folders above all workspaces left out. */
function instructionsIn(at: Journey): readonly Instructions[] {
  const pattern = /<project_instructions path="(.*?)">\n([\s\S]*?)\n<\/project_instructions>/g;
  const root = join(at.work.path, '..');
  return [...lastSystem(at).matchAll(pattern)]
    .map(([, path = '', text = '']) => ({ path, text }))
    .filter(({ path }) => path.startsWith(root));
}

const gitLine = (at: Journey) =>
  lastSystem(at)
    .split('\n')
    .filter((line) => line.startsWith('Git: '));

async function atHome(at: Journey, text: string): Promise<string> {
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  const path = join(at.work.home, '.crab/AGENTS.md');
  await writeFile(path, text);
  return path;
}

const FILES = {
  'AGENTS.md': 'root rule\n',
  'pkg/CLAUDE.md': '\npkg rule\n\n',
  'pkg/src/AGENTS.md': 'src rule',
};

onEachWire('instructions come from the home and then from the root down to the folder', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: FILES });
  const home = await atHome(at, 'home rule\n');
  await at.run(['-p', 'hello'], { cwd: at.work.file('pkg/src') });
  assert.deepEqual(instructionsIn(at), [
    { path: home, text: 'home rule' },
    { path: at.work.file('AGENTS.md'), text: 'root rule' },
    { path: at.work.file('pkg/CLAUDE.md'), text: 'pkg rule' },
    { path: at.work.file('pkg/src/AGENTS.md'), text: 'src rule' },
  ]);
  await at.run(['-p', 'hello']);
  assert.deepEqual(
    instructionsIn(at).map(({ text }) => text),
    ['home rule', 'root rule'],
    'and none from below the folder',
  );
});

onEachWire('where a folder has both names, AGENTS.md speaks', async (wire) => {
  await using at = await journey(wire, {
    script: HELLO,
    files: { 'AGENTS.md': 'agents', 'CLAUDE.md': 'claude' },
  });
  await at.run(['-p', 'hello']);
  assert.deepEqual(instructionsIn(at), [{ path: at.work.file('AGENTS.md'), text: 'agents' }]);
});

onEachWire('a file that is too long is cut and says so', async (wire) => {
  const long = 'x'.repeat(40_000);
  await using at = await journey(wire, { script: HELLO, files: { 'AGENTS.md': long } });
  await at.run(['-p', 'hello']);
  assert.deepEqual(instructionsIn(at), [
    { path: at.work.file('AGENTS.md'), text: `${'x'.repeat(32_768)}\n[cut at 32768 bytes of 40000]` },
  ]);
});

onEachWire('what cannot be read is passed over and told', async (wire) => {
  await using at = await journey(wire, {
    script: HELLO,
    files: { 'AGENTS.md/inside': 'a folder of that name' },
  });
  const exit = await at.run(['-p', 'hello']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 0, stdout: 'Hello.\n' });
  assert.equal(exit.stderr, `crab: Instructions passed over: ${at.work.file('AGENTS.md')} is no file.\n`);
});

onEachWire('--no-context-files leaves them all out', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: FILES });
  await atHome(at, 'home rule\n');
  await at.run(['-p', 'hello', '--no-context-files']);
  assert.equal(lastSystem(at).includes('<project_instructions'), false);
});

onEachWire('--system-prompt takes the place of our words, not of the instructions', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: { ...FILES, 'sys.txt': 'From a file.' } });
  await at.run(['-p', 'hello', '--system-prompt', 'You are a parrot.']);
  assert.ok(lastSystem(at).startsWith('You are a parrot.\n'));
  assert.equal(lastSystem(at).includes('You are Crab'), false);
  assert.deepEqual(instructionsIn(at), [{ path: at.work.file('AGENTS.md'), text: 'root rule' }]);
  await at.run(['-p', 'hello', '--system-prompt-file', 'sys.txt']);
  assert.ok(lastSystem(at).startsWith('From a file.\n'));
  const both = await at.run(['-p', 'hello', '--system-prompt-file', 'sys.txt', '--system-prompt', 'x']);
  assert.equal(both.code, 2);
});

onEachWire('--append-system-prompt comes behind our words and before the instructions', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: { ...FILES, 'more.txt': 'Third.' } });
  const flags = ['--append-system-prompt', 'First.', '--append-system-prompt', 'Second.'];
  await at.run(['-p', 'hello', ...flags, '--append-system-prompt-file', 'more.txt']);
  const order = ['You are Crab', 'First.', 'Second.', 'Third.', 'root rule', 'Working directory: '];
  const places = order.map((text) => lastSystem(at).indexOf(text));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.equal(places.includes(-1), false);
});

onEachWire('a new system prompt for a session that goes on takes the place of the old one', async (wire) => {
  await using at = await journey(wire, { script: HELLO });
  await at.run(['-p', 'hello']);
  await at.run(['-p', 'hello', '--continue', '--append-system-prompt', 'Be brief.']);
  assert.ok(lastSystem(at).includes('\n\nBe brief.\n\n'));
  const second = lastSystem(at);
  await at.run(['-p', 'hello', '--continue']);
  assert.equal(lastSystem(at), second, 'and stays');
});

onEachWire('the branch and commit of a repository are told, from any folder in it', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: FILES, git: true });
  const commit = (await at.work.git('rev-parse', 'HEAD')).slice(0, 10);
  for (const folder of ['.', 'pkg/src']) {
    await at.run(['-p', 'hello'], { cwd: at.work.file(folder) });
    assert.deepEqual(gitLine(at), [`Git: branch main at ${commit}`]);
  }
  await at.work.git('checkout', '--quiet', '-b', 'feature/x#1');
  await at.run(['-p', 'hello']);
  assert.deepEqual(gitLine(at), [`Git: branch feature/x#1 at ${commit}`]);
});

onEachWire('a detached head, packed refs and a branch without a commit are told as well', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: FILES, git: true });
  const commit = (await at.work.git('rev-parse', 'HEAD')).slice(0, 10);
  await at.work.git('pack-refs', '--all');
  await at.run(['-p', 'hello']);
  assert.deepEqual(gitLine(at), [`Git: branch main at ${commit}`]);
  await at.work.git('checkout', '--quiet', '--detach');
  await at.run(['-p', 'hello']);
  assert.deepEqual(gitLine(at), [`Git: no branch at ${commit}`]);
  await at.work.git('checkout', '--quiet', '--orphan', 'fresh');
  await at.run(['-p', 'hello']);
  assert.deepEqual(gitLine(at), ['Git: branch fresh']);
});

onEachWire('a linked worktree has its own branch', async (wire) => {
  await using at = await journey(wire, { script: HELLO, files: FILES, git: true });
  const linked = join(at.work.path, '../linked');
  await at.work.git('worktree', 'add', '--quiet', '-b', 'other', linked);
  const commit = (await at.work.git('rev-parse', 'HEAD')).slice(0, 10);
  await at.run(['-p', 'hello'], { cwd: linked });
  assert.deepEqual(gitLine(at), [`Git: branch other at ${commit}`]);
  await at.work.git('pack-refs', '--all');
  await at.run(['-p', 'hello'], { cwd: join(linked, 'pkg') });
  assert.deepEqual(gitLine(at), [`Git: branch other at ${commit}`]);
});

onEachWire('without a repository there is no word of one', async (wire) => {
  await using at = await journey(wire, { script: HELLO });
  await at.run(['-p', 'hello']);
  assert.deepEqual(gitLine(at), []);
});

onEachWire('the date is that of the person, wherever they are', async (wire) => {
  await using at = await journey(wire, { script: HELLO });
  const dateIn = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format();
  // At every hour one of them has another day than Greenwich.
  for (const TZ of ['Etc/GMT-14', 'Etc/GMT+12']) {
    const before = dateIn(TZ);
    await at.run(['-p', 'hello'], { env: { TZ } });
    const told = /^Date: (.*)$/m.exec(lastSystem(at))?.[1] ?? '';
    assert.ok([before, dateIn(TZ)].includes(told), `${told} in ${TZ}`);
  }
});
