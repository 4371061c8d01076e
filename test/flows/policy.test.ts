// Where rules come from: the person's settings, the project's own files before and after they are trusted, and what can
// be asked of the policy without a conversation.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { ScriptedCall } from '../../src/dev/scenario.ts';
import { type Journey, journey, onEachWire, resultOf } from '../support/journey.ts';

const bash = (command: string): ScriptedCall => ({ name: 'bash', input: { command } });

const PROJECT = `[permissions]
default_mode = "acceptEdits"
allow = ["Bash(mkdir made)"]
deny = ["Bash(mkdir never)"]
`;

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
}

/** Lets the model run `mkdir` for each name, in one run, and tells which folders there are then. */
async function made(at: Journey, names: readonly string[], args: readonly string[] = []) {
  const exit = await at.run(['-p', 'go', ...args]);
  return { ...exit, made: names.filter((name) => existsSync(at.work.file(name))) };
}

const script = (names: readonly string[]) => ({
  scripts: [
    {
      when: 'go',
      replies: [...names.map((name) => ({ calls: [bash(`mkdir ${name}`)] })), { text: 'That is all.' }],
    },
  ],
});

onEachWire(
  'a project that is not trusted can forbid and cannot allow, and what it wanted is told',
  async (wire) => {
    await using at = await journey(wire, {
      script: script(['made', 'never']),
      files: { '.crab/config.toml': PROJECT },
    });
    const before = await made(at, ['made', 'never'], ['--allowedTools', 'Bash(mkdir never)']);
    assert.deepEqual(before.made, []);
    assert.match(
      before.stderr,
      /\.crab\/config\.toml: ignored 1 allow rule, default_mode acceptEdits, because \S+ is not trusted; see `crab trust --help`/,
    );
    assert.match(before.stderr, /the rule Bash\(mkdir never\) \(\S+\.crab\/config\.toml:4\) forbids this/);
  },
);

onEachWire('a project that is trusted may allow, for one run or for good', async (wire) => {
  const files = { '.crab/config.toml': PROJECT };
  for (const way of ['flag', 'command'] as const) {
    await using at = await journey(wire, { script: script(['made', 'never']), files });
    if (way === 'command') {
      const { stdout } = await at.run(['trust']);
      assert.match(stdout, /is trusted, with everything below it \(\S+projects\.toml\)\.\n$/);
    }
    const after = await made(at, ['made', 'never'], way === 'flag' ? ['--trust'] : []);
    assert.deepEqual({ way, made: after.made }, { way, made: ['made'] });
    assert.doesNotMatch(after.stderr, /ignored/);
  }
});

test('trust is shown, given, listed and taken back', async () => {
  await using at = await journey('anthropic', {
    script: [],
    files: { '.crab/config.toml': PROJECT, 'sub/a': '' },
  });
  const said = async (...args: string[]) =>
    (await at.run(['trust', ...args])).stdout.replaceAll(at.work.path, 'W');
  assert.equal(
    await said('--show'),
    'W was never decided on.\nIts settings ask to:\n  allow Bash(mkdir made) (W/.crab/config.toml:3)\n  permission mode acceptEdits\n',
  );
  assert.equal(await said('--list'), 'Nothing was decided yet.\n');
  await said();
  assert.match(await said('--show'), /^W is trusted\.\n/);
  assert.match(await said('--show', 'sub'), /^W\/sub is trusted\.\n/);
  await said('--revoke');
  assert.match(await said('--show'), /^W is not trusted\.\n/);
  assert.equal(await said('--list'), 'not trusted  W\n');
  for (const args of [['--revoke', '--list'], ['a', 'b'], ['--nonsense'], ['nowhere'], ['sub/a']])
    assert.equal((await at.run(['trust', ...args])).code, 2);
  assert.equal(await said('--list'), 'not trusted  W\n');
  assert.equal((await at.run(['trust', '--revoke', 'nowhere'])).code, 0);
});

test('a project cannot choose anything else, nor lift what asks about everything', async () => {
  for (const [text, says] of [
    ['model = "evil/x"\n', /\.crab\/config\.toml:1: there is no setting "model"/],
    ['[permissions]\ndefault_mode = "bypassPermissions"\n', /must be one of "plan", "default"/],
    ['[permissions]\ndeny = ["Bash("]\n', /\.crab\/config\.toml:2\) cannot be used/],
  ] as const) {
    await using at = await journey('anthropic', { script: [], files: { '.crab/config.toml': text } });
    const exit = await at.run(['-p', 'go']);
    assert.equal(exit.code, 2, exit.stderr);
    assert.match(exit.stderr, says);
    assert.deepEqual(at.asked(), []);
  }
});

onEachWire('rules of the settings hold, and what they deny no flag allows', async (wire) => {
  await using at = await journey(wire, { script: script(['a', 'b', 'c']) });
  await put(
    join(at.work.home, '.crab', 'config.toml'),
    '[permissions]\nallow = ["Bash(mkdir a)", "Bash(mkdir b)"]\ndeny = ["Bash(mkdir b)", "Bash(mkdir c)"]\n',
  );
  const exit = await made(at, ['a', 'b', 'c'], ['--allowedTools', 'Bash(mkdir c)']);
  assert.deepEqual(exit.made, ['a']);
  assert.match(exit.stderr, /the rule Bash\(mkdir b\) \(\S+config\.toml:3\) forbids this in every mode/);
});

test('trustProject of the settings waits for trust', async () => {
  await using at = await journey('anthropic', { script: script(['a']) });
  await put(join(at.work.home, '.crab', 'config.toml'), '[permissions]\ndefault_mode = "trustProject"\n');
  const before = await made(at, ['a']);
  assert.deepEqual(before.made, []);
  assert.match(before.stderr, /default_mode trustProject holds in trusted folders only/);
  await at.run(['trust']);
  assert.deepEqual((await made(at, ['a'])).made, ['a']);
});

onEachWire('a secret is read by nobody unasked, and a rule that names it opens it', async (wire) => {
  const calls = [
    { name: 'read', input: { path: '.env' } },
    bash('cat .env'),
    bash('cp .env copy.txt'),
    { name: 'grep', input: { pattern: 'hunter2' } },
    { name: 'read', input: { path: 'link.txt' } },
  ];
  const replies = [...calls.map((call) => ({ calls: [call] })), { text: 'That is all.' }];
  const told = async (...args: string[]) => {
    const files = { '.env': 'KEY=hunter2\n', 'a.txt': 'nothing\n' };
    await using at = await journey(wire, { script: replies, files });
    const { symlink } = await import('node:fs/promises');
    await symlink('.env', at.work.file('link.txt'));
    const exit = await at.run([
      '-p',
      'go',
      '--permission-mode',
      'trustProject',
      '--output-format',
      'json',
      ...args,
    ]);
    const { permission_denials } = resultOf(exit);
    const sent = JSON.stringify(at.asked().at(-1)?.messages);
    return {
      refused: (permission_denials as unknown[]).length,
      leaked: sent.includes('hunter2\\n') || sent.includes('KEY='),
    };
  };
  assert.deepEqual(await told(), { refused: 4, leaked: false });
  assert.deepEqual(await told('--allowedTools', 'Read,Bash(cat *)'), { refused: 4, leaked: false });
  const opened = await told('--allowedTools', 'Read(.env)');
  assert.deepEqual(opened, { refused: 0, leaked: true });
});

onEachWire('a model that is only refused is stopped, and told of it before', async (wire) => {
  const replies = Array.from({ length: 20 }, () => ({ calls: [bash('mkdir made')] }));
  await using at = await journey(wire, { script: replies });
  const exit = await at.run(['-p', 'go']);
  assert.equal(exit.code, 7);
  assert.match(
    exit.stderr,
    /10 calls in a row were refused, and nothing else was done\. \[permission-refused\]/,
  );
  assert.equal(at.asked().length, 10);
  const results =
    at
      .asked()
      .at(-1)
      ?.messages.flatMap((said) => (said.role === 'result' ? [said.text] : [])) ?? [];
  assert.doesNotMatch(results[1] ?? '', /This very call/);
  assert.match(results[2] ?? '', /This very call was refused 3 times\. Do not try it again/);
});

test('the rules of a conversation are shown and tightened by commands', async () => {
  await using at = await journey('anthropic', { script: script(['a', 'b']) });
  const said = async (line: string, ...args: string[]) => (await at.run(['-p', line, ...args])).stdout;
  const all = ['--allowedTools', 'Bash(mkdir *)'];
  assert.match(
    await said(',permissions deny Bash(mkdir b)', ...all),
    /^For this session: deny Bash\(mkdir b\)\n$/,
  );
  assert.equal(
    await said(',permissions', '--continue', ...all),
    'mode   default\ndeny   Bash(mkdir b)  this session\nallow  Bash(mkdir *)  --allowedTools\n',
  );
  assert.deepEqual((await made(at, ['a', 'b'], ['--continue', ...all])).made, ['a']);
  const wrong = await at.run(['-p', ',permissions deny Bash(']);
  assert.match(wrong.stderr + wrong.stdout, /a parenthesis|neither/);
  assert.match(await said(',add-dir ..'), /counts as the workspace/);
  assert.match(await said(',trust'), /was never decided on/);
  assert.match(await said(',trust yes'), /is trusted\. It counts from the next start of Crab on/);
  assert.match(await said(',trust'), / is trusted\.\n$/);
});

test('a command is explained, with its parts', async () => {
  await using at = await journey('anthropic', { script: [] });
  const { code, stdout } = await at.run([
    'permissions',
    'explain',
    'ls && git push origin',
    '--disallowedTools',
    'Bash(git push *)',
  ]);
  assert.equal(code, 0);
  const rows = stdout.split('\n');
  assert.deepEqual(
    [rows[0], rows[1], rows[2], rows[4]],
    [
      'verdict     deny',
      'effect      mutating: unknown',
      'decided by  the rule Bash(git push *) (--disallowedTools)',
      'parts       read-only  ls',
    ],
  );
});

test('lines are explained one for one, and a bad one costs no other', async () => {
  await using at = await journey('anthropic', { script: [], files: { '.env': 'KEY=1\n' } });
  const lines = [
    { cmd: 'ls', cwd: at.work.path },
    { tool: 'Read', input: { path: '.env' } },
    { tool: 'mcp__x__y', input: {} },
    { tool: 'nothing' },
    { tool: 'read', input: {} },
    { cmd: 'rm -rf /', cwd: at.work.path },
    { cmd: 'git push' },
  ].map((line) => JSON.stringify(line));
  lines.splice(1, 0, 'no json', '[]', '{"cmd":1}', '');
  const args = ['permissions', 'explain', '--json', '-', '--allowedTools', 'Bash(git push)'];
  const { code, stdout, stderr } = await at.run(args, { stdin: `${lines.join('\n')}\n` });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map(({ verdict, effect, rule, error, reason }) => {
      assert.equal(typeof (error ?? reason), 'string');
      return error === undefined ? [verdict, effect, rule] : 'error';
    }),
    [
      ['allow', 'read-only', null],
      'error',
      'error',
      'error',
      'error',
      ['ask', 'read-only', null],
      ['ask', 'mutating', null],
      'error',
      'error',
      ['ask', 'dangerous', null],
      ['allow', 'mutating', 'Bash(git push)'],
    ],
  );
});

test('a policy has tests of its own', async () => {
  const good = `# what we promise
allow npm test
ask:dangerous rm -rf src
deny @read {"path": "private/x"}
mode acceptEdits
allow @write {"path": "a.txt", "content": "x"}
ask npm publish
`;
  await using at = await journey('anthropic', {
    script: [],
    files: {
      'good.txt': good,
      'bad.txt': 'allow rm -rf src\nask ls\n',
      'broken.txt': 'allow ls\nmaybe ls\n',
      'policy.toml': '[permissions]\nallow = ["Bash(npm test)"]\ndeny = ["Read(private/**)"]\n',
    },
  });
  const run = (file: string) => at.run(['permissions', 'test', file, '--config', 'policy.toml']);
  const passed = await run('good.txt');
  assert.deepEqual({ code: passed.code, stdout: passed.stdout }, { code: 0, stdout: '5 passed, 0 failed\n' });
  const failed = await run('bad.txt');
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^bad\.txt:1: expected allow, got ask: rm -rf src\n {4}\S/);
  assert.match(failed.stdout, /bad\.txt:2: expected ask, got allow: ls\n/);
  assert.match(failed.stdout, /0 passed, 2 failed\n$/);
  const broken = await run('broken.txt');
  assert.equal(broken.code, 42);
  assert.match(broken.stderr, /broken\.txt:2: it is neither/);
});

test('rules are listed with where they come from', async () => {
  await using at = await journey('anthropic', { script: [], files: { '.crab/config.toml': PROJECT } });
  const { stdout } = await at.run(['permissions', 'list', '--trust', '--allowedTools', 'Read', '--json']);
  const { mode, rules } = JSON.parse(stdout);
  assert.equal(mode, 'acceptEdits');
  assert.deepEqual(
    rules.map((rule: { text: string; source: string }) => [
      rule.text,
      rule.source.replace(at.work.path, 'W'),
    ]),
    [
      ['Read', '--allowedTools'],
      ['Bash(mkdir never)', 'W/.crab/config.toml:4'],
      ['Bash(mkdir made)', 'W/.crab/config.toml:3'],
    ],
  );
  const text = (await at.run(['permissions', 'list', '--trust'])).stdout;
  assert.match(text, /^mode {5}acceptEdits\ntrusted {2}yes \(/);
  for (const args of [['nonsense'], ['explain'], ['test'], ['explain', '-'], ['list', 'x']])
    assert.equal((await at.run(['permissions', ...args])).code, 2, args.join(' '));
});

test('the file of decisions holds what was decided and nothing else is written', async () => {
  await using at = await journey('anthropic', { script: [] });
  await at.run(['trust']);
  await at.run(['trust']);
  const text = await readFile(join(at.work.home, '.crab', 'projects.toml'), 'utf8');
  assert.equal(text.match(/\[\[trust\]\]/g)?.length, 1);
});
