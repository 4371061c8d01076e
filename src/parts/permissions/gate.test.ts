import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Decision, GateRequest, PermissionMode } from '../../core/permission.ts';
import { PERMISSION_MODES } from '../../core/permission.ts';
import { createGate } from './gate.ts';
import { asks, CWD, gateWith, runs, touches } from './workspace-for-test.ts';

type Lists = Partial<Record<Decision, readonly string[]>>;

async function decisions(lists: Lists, requests: readonly GateRequest[]): Promise<readonly Decision[]> {
  const gate = gateWith(lists);
  return Promise.all(requests.map(async (request) => (await gate.check(request)).decision));
}

const EVERY: readonly (readonly [string, (mode: PermissionMode) => GateRequest, string])[] = [
  // Modes: plan, default, acceptEdits, trustProject, dontAsk, bypassPermissions.
  ['reading inside', (mode) => touches('read', 'a.ts', mode), 'allow allow allow allow allow allow'],
  ['reading outside', (mode) => touches('read', '/etc/hosts', mode), 'deny ask ask ask deny allow'],
  [
    'an added folder',
    (mode) => touches('read', '/code/library/a', mode),
    'allow allow allow allow allow allow',
  ],
  ['a sibling of it', (mode) => touches('read', '/code/library2/a', mode), 'deny ask ask ask deny allow'],
  ['editing inside', (mode) => touches('write', 'a.ts', mode, 'edit'), 'deny ask allow allow deny allow'],
  ['editing outside', (mode) => touches('write', '/etc/hosts', mode, 'edit'), 'deny ask ask ask deny allow'],
  ['editing .git', (mode) => touches('write', '.git/config', mode), 'deny ask ask ask deny allow'],
  ['editing .mcp.json', (mode) => touches('write', '.mcp.json', mode), 'deny ask ask ask deny allow'],
  ['reading .git', (mode) => touches('read', '.git/config', mode), 'allow allow allow allow allow allow'],
  ['a command that reads', (mode) => runs('git status', mode), 'allow allow allow allow allow allow'],
  ['a command that writes', (mode) => runs('mkdir out', mode), 'deny ask ask allow deny allow'],
  ['a program of the project', (mode) => runs('npm test', mode), 'deny ask ask allow deny allow'],
  ['a command that reads outside', (mode) => runs('cat /etc/hosts', mode), 'deny ask ask ask deny allow'],
  ['a command that is unknown', (mode) => runs('frobnicate', mode), 'deny ask ask ask deny allow'],
  ['a command in doubt', (mode) => runs('frob $x', mode), 'deny ask ask ask deny allow'],
  ['a dangerous command', (mode) => runs('rm -rf out', mode), 'deny ask ask ask deny allow'],
  ['an empty command', (mode) => runs('', mode), 'deny ask ask ask deny allow'],
  [
    'the network',
    (mode) => asks('web_fetch', { kind: 'network', url: 'https://x.org/' }, mode),
    'deny ask ask ask deny allow',
  ],
  [
    'a server',
    (mode) => asks('mcp__a__b', { kind: 'external', server: 'a' }, mode),
    'deny ask ask ask deny allow',
  ],
  [
    'an agent',
    (mode) => asks('agent', { kind: 'spawn', agent: 'reviewer' }, mode),
    'deny ask ask allow deny allow',
  ],
  ['nothing', (mode) => asks('todo', { kind: 'none' }, mode), 'allow allow allow allow allow allow'],
];

for (const [what, request, expected] of EVERY)
  test(`${what}: ${expected}`, async () => {
    assert.equal((await decisions({}, PERMISSION_MODES.map(request))).join(' '), expected);
  });

test('a denied tool is denied in every mode, whatever it does', async () => {
  for (const [, request] of EVERY) {
    const found = await decisions({ deny: ['*'], allow: ['*'], ask: ['*'] }, PERMISSION_MODES.map(request));
    assert.deepEqual(
      found,
      PERMISSION_MODES.map(() => 'deny'),
    );
  }
});

test('the order is deny, bypass, ask, allow, mode', async () => {
  const request = (mode: PermissionMode) => touches('write', 'a.ts', mode);
  const table: [Lists, PermissionMode, Decision][] = [
    [{ deny: ['Write'], allow: ['Write'] }, 'bypassPermissions', 'deny'],
    [{ ask: ['Write'] }, 'bypassPermissions', 'allow'],
    [{ ask: ['Write'], allow: ['Write'] }, 'acceptEdits', 'ask'],
    [{ ask: ['Write'], allow: ['Write'] }, 'dontAsk', 'deny'],
    [{ ask: ['Write'], allow: ['Write'] }, 'plan', 'deny'],
    [{ allow: ['Write'] }, 'default', 'allow'],
    [{ allow: ['Write'] }, 'dontAsk', 'allow'],
    [{ allow: ['Write'] }, 'plan', 'deny'],
    [{ allow: ['Read'] }, 'default', 'ask'],
  ];
  for (const [lists, mode, expected] of table)
    assert.deepEqual(await decisions(lists, [request(mode)]), [expected], JSON.stringify([lists, mode]));
});

test('an allow rule lifts a question, never danger', async () => {
  const lists = { allow: ['Bash', 'Write', 'Edit', 'Read', 'mcp__*', 'WebFetch'] };
  const lifted = [
    'echo $x',
    'frobnicate',
    'cat /etc/hosts',
    'npm i',
    'cp a.ts /tmp/b',
    'echo x > y',
    'for i in 1; do ls; done',
  ];
  const kept = [
    'rm -rf x',
    'sudo ls',
    'echo x > .git/hooks/a',
    'echo x > ~/.bashrc',
    'curl a | sh',
    'echo $(sudo ls)',
    'sh -c "sudo ls"',
  ];
  assert.deepEqual(
    await decisions(
      lists,
      lifted.map((text) => runs(text)),
    ),
    lifted.map(() => 'allow'),
  );
  assert.deepEqual(
    await decisions(
      lists,
      kept.map((text) => runs(text)),
    ),
    kept.map(() => 'ask'),
  );
  assert.deepEqual(await decisions(lists, [touches('write', '/etc/x'), touches('write', '.git/x')]), [
    'allow',
    'ask',
  ]);
});

const ALLOWING: [string, string[], string[]][] = [
  [
    'Bash(npm test)',
    ['npm test', 'npm  test', 'timeout 9 npm test', 'npm test | head', 'cd src && npm test', 'npm test 2>&1'],
    ['npm test x', 'npm test && npm i', 'npm test > log', 'npm test $x', 'npm test; rm a'],
  ],
  [
    'Bash(npm run *)',
    ['npm run a', 'npm run a && npm run b', 'CI=1 npm run a', 'env A=1 npm run a', 'bash -c "npm run a"'],
    [
      'npm run a && npm i',
      'npm run $(id)',
      'npm run a & npm i',
      'npm run a\nnpm i',
      'PATH=. npm run a',
      'npm runs',
    ],
  ],
  ['Bash(npm i:*)', ['npm i', 'npm i x', 'nice -n 5 npm i x'], ['npm install']],
  ['Bash(timeout *)', [], ['timeout 5 npm i']],
  ['Bash(timeout 5 npm *)', ['timeout 5 npm i'], ['npm i']],
  ['Bash(frob $x)', ['frob $x', ' frob $x '], ['frob $x; ls', 'frob $xy']],
  ['Bash(a *) Bash(b)', ['a x && b', 'b | a'], ['a x && b y', 'a && c']],
];

for (const [rules, allowed, asked] of ALLOWING)
  test(`${rules} covers every part of a command or nothing`, async () => {
    assert.deepEqual(
      await decisions(
        { allow: [rules] },
        allowed.map((text) => runs(text)),
      ),
      allowed.map(() => 'allow'),
    );
    assert.deepEqual(
      await decisions(
        { allow: [rules] },
        asked.map((text) => runs(text)),
      ),
      asked.map(() => 'ask'),
    );
  });

const DENYING: [string, string[], string[]][] = [
  [
    'Bash(rm:*)',
    [
      'rm a',
      'ls && rm a',
      'ls; rm a',
      'r""m a',
      '\\rm a',
      '/bin/rm a',
      'timeout 5 rm a',
      'echo $(rm a)',
      'echo `rm a`',
      'cat <(rm a)',
      '(rm a)',
      'sh -c "rm a"',
      'ls | xargs rm',
      'sudo rm a',
      'find . -exec rm {} +',
      'for f in a; do rm $f; done',
      'cat <<E\n$(rm a)\nE',
      "$'\\x72m' a",
      'A=1 rm a',
      'if true; then rm a; fi',
    ],
    ['ls', 'echo rm a', 'git rm a', "grep 'rm a' f"],
  ],
  [
    'Bash(git push *)',
    [
      'git push',
      'git push origin',
      'git -C src --no-pager push',
      'git --git-dir x push',
      'sh -c "git push $x"',
      'eval "ls; git push"',
      'ls | git push',
      'git -C src --no-pager push',
      'git --git-dir x push',
      'sh -c "git push $x"',
      'eval "ls; git push"',
    ],
    ['git status'],
  ],
  [
    'Read(.env)',
    [
      'cat .env',
      'head -1 a .env',
      'grep x .env',
      'wc < .env',
      'cat ./.env',
      'cat src/../.env',
      'frobnicate .env',
      'frobnicate --file=.env',
      'cat .env $x',
      'cd src && cat ../.env',
    ],
    ['cat .envrc', 'echo .env'],
  ],
  [
    'Edit(/package.json)',
    [
      'sed -i s/a/b/ package.json',
      'cp a package.json',
      'echo > package.json',
      'ls | tee package.json',
      'rm -f package.json',
    ],
    ['cat package.json'],
  ],
];

for (const [rule, denied, others] of DENYING)
  test(`a deny rule ${rule} finds any part`, async () => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      const found = await decisions(
        { deny: [rule] },
        denied.map((text) => runs(text, mode)),
      );
      assert.deepEqual(
        denied.filter((_, index) => found[index] !== 'deny'),
        [],
      );
    }
    const kept = await decisions(
      { deny: [rule] },
      others.map((text) => runs(text)),
    );
    assert.deepEqual(
      others.filter((_, index) => kept[index] === 'deny'),
      [],
    );
  });

test('a rule about reading a path holds for every tool that reads, one about editing for every tool that writes', async () => {
  const lists = { deny: ['Read(secret/**)', 'Edit(/locked)'] };
  const found = await decisions(lists, [
    touches('read', 'secret/a'),
    touches('read', 'secret/a', 'default', 'grep'),
    touches('read', 'secret', 'bypassPermissions', 'ls'),
    touches('write', 'locked/a', 'acceptEdits', 'edit'),
    touches('write', 'locked', 'acceptEdits', 'write'),
    touches('read', 'locked'),
    touches('write', 'secret/a', 'acceptEdits'),
  ]);
  assert.deepEqual(found, ['deny', 'deny', 'deny', 'deny', 'deny', 'allow', 'allow']);
});

test('a pattern of the shell that may name a restricted file is asked about', async () => {
  const found = await decisions({ deny: ['Read(/private.pem)'] }, [
    runs('cat *.pem'),
    runs('cat *.ts'),
    runs('cat */a'),
  ]);
  assert.deepEqual(found, ['ask', 'allow', 'ask']);
});

test('a command that looks through folders is asked about where a rule is about a file in them', async () => {
  const searches = [
    'grep -rn key .',
    'grep --recursive key',
    'grep --der key .',
    'grep --di=recurse key .',
    'rg key',
    'git grep key',
    'diff -r a b',
  ];
  const searched = await decisions(
    { deny: ['Read(.env)'] },
    searches.map((command) => runs(command)),
  );
  assert.deepEqual(
    searched,
    searches.map(() => 'ask'),
  );
  const plain = await decisions({ deny: ['Read(.env)'] }, [runs('grep -n key a.ts'), runs('diff a.ts b.ts')]);
  assert.deepEqual(plain, ['allow', 'allow']);
  const free = await decisions({ deny: ['Edit(.env)'] }, [runs('rg key')]);
  assert.deepEqual(free, ['allow']);
});

test('of a folder that may be searched, restricted files are withheld', async () => {
  const withheld = async (lists: Parameters<typeof gateWith>[0], mode: PermissionMode = 'default') => {
    const test = await gateWith(lists).withheld('grep', mode);
    return ['a.ts', '.env', 'deep/.env', 'private/key'].filter((path) => test?.(`${CWD}/${path}`));
  };
  assert.deepEqual(await withheld({ deny: ['Read(.env)'] }), ['.env', 'deep/.env']);
  const lists = { deny: ['Grep(private/**)', 'Read(/a.ts)'] };
  assert.deepEqual(await withheld(lists), ['a.ts', '.env', 'deep/.env', 'private/key']);
  assert.deepEqual(await withheld(lists, 'bypassPermissions'), ['a.ts', 'private/key']);
  assert.deepEqual(await withheld({ ask: ['Read(.env)'] }), ['.env', 'deep/.env']);
  assert.deepEqual(await withheld({ ask: ['Read(.env)'] }, 'bypassPermissions'), []);
  assert.deepEqual(await withheld({ deny: ['Read(.env)'] }, 'bypassPermissions'), ['.env', 'deep/.env']);
  for (const deny of [['Edit(.env)'], ['Read'], ['Bash(cat *)'], []])
    assert.equal(await gateWith({ deny }).withheld('grep', 'bypassPermissions'), undefined, `${deny}`);
});

test('paths, domains, agents and servers are matched by what they are', async () => {
  const fetch = (url: string) => asks('web_fetch', { kind: 'network', url });
  const lists = {
    allow: [
      'Edit(/src/**)',
      'Read(//etc/hosts)',
      'WebFetch(domain:example.com)',
      'Agent(review*)',
      'mcp__github',
    ],
    deny: ['WebFetch(domain:evil.org)'],
  };
  const table: [GateRequest, Decision][] = [
    [touches('write', 'src/a.ts'), 'allow'],
    [touches('write', 'src/a.ts', 'default', 'edit'), 'allow'],
    [touches('write', 'src/../lib/a.ts'), 'ask'],
    [touches('write', 'lib/a.ts'), 'ask'],
    [touches('read', '/etc/hosts'), 'allow'],
    [touches('read', '/etc/hosts', 'plan'), 'allow'],
    [touches('read', '/etc/passwd'), 'ask'],
    [fetch('https://example.com/a'), 'allow'],
    [fetch('https://EXAMPLE.com:8080/'), 'allow'],
    [fetch('https://example.com.evil.net/'), 'ask'],
    [fetch('https://example.com@evil.net/'), 'ask'],
    [fetch('https://a.evil.org/'), 'deny'],
    [fetch('no address'), 'ask'],
    [asks('agent', { kind: 'spawn', agent: 'reviewer' }), 'allow'],
    [asks('agent', { kind: 'spawn', agent: 'writer' }), 'ask'],
    [asks('mcp__github__get', { kind: 'external', server: 'github' }), 'allow'],
    [asks('mcp__gitlab__get', { kind: 'external', server: 'gitlab' }), 'ask'],
  ];
  assert.deepEqual(
    await decisions(
      lists,
      table.map(([request]) => request),
    ),
    table.map(([, decision]) => decision),
  );
});

test('what reaches too much is allowed only by a rule that names it', async () => {
  const access = { kind: 'external', server: 'desktop', does: 'sees all', sessionOnly: true } as const;
  const verdicts = await Promise.all(
    [[], ['*'], ['comp*'], ['Computer']].map(async (allow) => {
      const { decision, reason } = await gateWith({ allow }).check(asks('computer', access));
      return [decision, reason];
    }),
  );
  const asked = ['ask', 'Computer sees all; --allowedTools Computer would allow it.'];
  assert.deepEqual(verdicts, [asked, asked, asked, ['allow', 'The rule Computer (allow list) allows this.']]);
});

test('a verdict says which rule or fact decided, and what would allow it', async () => {
  const gate = gateWith({ deny: ['Bash(git push *)'], allow: ['Bash(npm i)'] });
  assert.deepEqual(await gate.check(runs('git push')), {
    decision: 'deny',
    reason:
      "tool 'bash' is denied by policy: the rule Bash(git push *) (deny list) forbids this in every mode.",
    rule: { decision: 'deny', text: 'Bash(git push *)', source: 'deny list' },
  });
  assert.deepEqual(await gate.check(runs('npm i')), {
    decision: 'allow',
    reason: 'The rule Bash(npm i) (allow list) allows this.',
    rule: { decision: 'allow', text: 'Bash(npm i)', source: 'allow list' },
  });
  assert.deepEqual(await gate.check(runs('npm test')), {
    decision: 'ask',
    reason:
      '`npm test` runs a program of this project; --allowedTools "Bash(npm test)" or --permission-mode trustProject would allow it.',
    column: 'write',
  });
  assert.deepEqual(await gate.check(touches('write', 'src/a.ts')), {
    decision: 'ask',
    reason:
      '/code/app/src/a.ts would be written; --allowedTools "Write(/src/a.ts)" or --permission-mode acceptEdits would allow it.',
    column: 'write',
    paths: [{ named: '/code/app/src/a.ts', real: '/code/app/src/a.ts' }],
  });
  assert.deepEqual(await gate.check(runs('mkdir out', 'plan')), {
    decision: 'deny',
    reason: '`mkdir out` makes folders, and plan mode only reads: leave plan mode to do this.',
    column: 'write',
  });
  assert.deepEqual(await gate.check(runs('sudo ls', 'dontAsk')), {
    decision: 'deny',
    reason:
      '`sudo ls` runs with the rights of another user; mode dontAsk asks nobody, and --permission-mode bypassPermissions would allow it.',
    column: 'dangerous',
  });
});

const GRANTED: [GateRequest, string][] = [
  [runs('npm test'), 'Bash(npm test)'],
  [runs('  npm test '), 'Bash(npm test)'],
  [runs('ls *.md > list'), 'Bash(ls \\*.md > list)'],
  [runs('frob "a)b" (\\* x'), 'Bash(frob "a)b" (\\\\\\* x)'],
  [runs('frob $(date)\nls'), 'Bash(frob $(date)\nls)'],
  [runs('npm run:*'), 'Bash(npm run:\\*)'],
  [runs('cat /etc/hosts', 'dontAsk'), 'Bash(cat /etc/hosts)'],
  [runs('cat /etc/hosts', 'plan'), 'Bash(cat /etc/hosts)'],
  [touches('write', 'src/a b [1].ts'), 'Write(/src/a b \\[1\\].ts)'],
  [touches('write', 'a.ts', 'default', 'edit'), 'Edit(/a.ts)'],
  [touches('write', '/etc/hosts'), 'Write(//etc/hosts)'],
  [touches('read', '/etc/hosts'), 'Read(//etc/hosts)'],
  [asks('edit', { kind: 'write', paths: [`${CWD}/src/a`, `${CWD}/src/b/c`] }), 'Edit(/src)'],
  [
    asks('web_fetch', { kind: 'network', url: 'https://docs.example.com/x' }),
    'WebFetch(domain:docs.example.com)',
  ],
  [asks('agent', { kind: 'spawn', agent: 'reviewer' }), 'Agent(reviewer)'],
  [asks('mcp__a__b', { kind: 'external', server: 'a' }), 'mcp__a__b'],
];

for (const [request, text] of GRANTED)
  test(`the grant ${JSON.stringify(text)} is asked for once, and reads back from its text`, async () => {
    const gate = gateWith();
    assert.notEqual((await gate.check(request)).decision, 'allow');
    const rule = await gate.grantFor(request);
    assert.deepEqual(rule, { decision: 'allow', text, source: 'an answer of this session' });
    gate.allow(rule);
    assert.equal((await gate.check(request)).decision, 'allow');
    const later = gateWith();
    later.allow({ decision: 'allow', text, source: 'a stored session' });
    assert.equal((await later.check(request)).decision, 'allow');
  });

test('a grant is no wider than what was asked', async () => {
  const gate = gateWith();
  for (const request of [runs('ls *.md > list'), runs('npm run a'), touches('write', 'src/a.ts')]) {
    const rule = await gate.grantFor(request);
    assert.ok(rule);
    gate.allow(rule);
  }
  const others = [
    runs('ls a.md > list'),
    runs('npm run a b'),
    runs('npm run b'),
    touches('write', 'src/b.ts'),
    touches('write', 'src/a.tsx'),
  ];
  for (const request of others) assert.equal((await gate.check(request)).decision, 'ask');
});

test('a command that runs outside the workspace is asked about, whatever its parts may do', async () => {
  const elsewhere: GateRequest = asks('bash', { kind: 'command', command: 'ls', cwd: '/etc' });
  const within: GateRequest = asks('bash', { kind: 'command', command: 'ls', cwd: `${CWD}/src` });
  assert.deepEqual(await decisions({}, [elsewhere, within]), ['ask', 'allow']);
  assert.deepEqual(await decisions({ allow: ['Bash(ls *)'] }, [elsewhere]), ['ask']);
  assert.deepEqual(await decisions({ allow: ['Bash(ls)'] }, [elsewhere]), ['allow']);
});

test('what no rule can lift has no grant', async () => {
  const gate = gateWith({ deny: ['Bash(git push *)'], ask: ['Bash(npm publish *)', 'Write(/a)'] });
  const requests = [
    runs('rm -rf x'),
    runs('git push'),
    runs('npm publish'),
    runs('mkdir a', 'plan'),
    runs(''),
    touches('write', '.git/config'),
    touches('write', 'a'),
    touches('write', 'b', 'plan'),
  ];
  for (const request of requests) {
    assert.notEqual((await gate.check(request)).decision, 'allow');
    assert.equal(await gate.grantFor(request), undefined, JSON.stringify(request.access));
  }
  assert.equal(await gateWith().grantFor(runs('rm -rf x')), undefined);
  assert.equal(await gateWith().grantFor(touches('write', '.husky/pre-commit')), undefined);
});

test('a stored grant that cannot be read is left out', async () => {
  const gate = gateWith();
  gate.allow({ decision: 'allow', text: 'Bash(', source: 'a damaged session' });
  assert.equal((await gate.check(runs('npm test'))).decision, 'ask');
});

test('reading inside the workspace costs one look at the file system', async () => {
  const asked: string[] = [];
  const resolve = (path: string) => {
    asked.push(path);
    return Promise.resolve(path);
  };
  const gate = createGate({ cwd: CWD, directories: [], rules: [], resolve });
  assert.deepEqual(asked, []);
  await gate.check(touches('read', 'a'));
  await gate.check(touches('read', 'b'));
  assert.deepEqual(asked, [`${CWD}/a`, CWD, `${CWD}/b`]);
});

test('it never throws: what cannot be resolved or judged is asked about', async () => {
  const resolve = () => Promise.reject(new Error('too many links'));
  const gate = createGate({ cwd: CWD, directories: [], rules: [], resolve });
  assert.equal((await gate.check(touches('read', 'a'))).decision, 'ask');
  assert.equal((await gate.check(touches('read', 'a', 'dontAsk'))).decision, 'deny');
  const odd = asks('bash', { kind: 'command', command: undefined as unknown as string, cwd: CWD });
  assert.equal((await gate.check(odd)).decision, 'ask');
  assert.equal((await gate.check({ ...odd, mode: 'plan' })).decision, 'deny');
});

test('links lead where they lead: out of the workspace, into protected places, and past allow rules', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crab-gate-')));
  await using _ = { [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
  const cwd = join(root, 'work');
  await mkdir(join(cwd, '.git'), { recursive: true });
  await mkdir(join(root, 'other', 'deep'), { recursive: true });
  await writeFile(join(root, 'other', 'secret'), '');
  await writeFile(join(cwd, 'plain'), '');
  await symlink(join(root, 'other'), join(cwd, 'door'));
  await symlink(join(cwd, '.git'), join(cwd, 'history'));
  await symlink(join(root, 'other', 'deep'), join(cwd, 'deep'));
  await symlink(cwd, join(root, 'alias'));
  const resolve = (path: string) => realpath(path);
  const decide = async (allow: string, access: GateRequest['access'], tool: string = access.kind) => {
    const rules = allow === '' ? [] : [{ decision: 'allow' as const, text: allow, source: 'a test' }];
    const gate = createGate({ cwd, directories: [], rules, resolve });
    return (await gate.check(asks(tool, access, 'acceptEdits'))).decision;
  };
  const command = (text: string) => ({ kind: 'command', command: text, cwd }) as const;
  assert.equal(await decide('', { kind: 'read', paths: [join(cwd, 'door', 'secret')] }), 'ask');
  assert.equal(await decide('', { kind: 'write', paths: [join(cwd, 'history')] }), 'ask');
  assert.equal(
    await decide('Write(/door/**)', { kind: 'write', paths: [join(cwd, 'door', 'secret')] }),
    'ask',
  );
  assert.equal(await decide('', { kind: 'read', paths: [join(root, 'alias', 'plain')] }), 'allow');
  assert.equal(await decide('', command('cat plain'), 'bash'), 'allow');
  assert.equal(await decide('', command('cat door/secret'), 'bash'), 'ask');
  assert.equal(await decide('', command('cat deep/../secret'), 'bash'), 'ask');
  assert.equal(await decide('', command('cd door && cat secret'), 'bash'), 'ask');
});

test('an agent rule means the tool by either of its names', async () => {
  const requests = ['agent', 'task', 'Task'].map((tool) => asks(tool, { kind: 'spawn', agent: 'reviewer' }));
  for (const rule of ['Agent(reviewer)', 'Task(reviewer)'])
    assert.deepEqual(await decisions({ deny: [rule] }, requests), ['deny', 'deny', 'deny'], rule);
  assert.deepEqual(await decisions({ deny: ['Agent(writer)'] }, requests), ['ask', 'ask', 'ask']);
});

test('a rule that restricts bash or agents holds for the tools that do their work, and for no other work of theirs', async () => {
  const requests = (mode: PermissionMode) => [
    asks('monitor', { kind: 'command', command: 'touch a', cwd: '/w' }, mode),
    asks('task_input', { kind: 'command', command: "task_input 'y'", cwd: '/w' }, mode),
    asks('monitor', { kind: 'none' }, mode),
    asks('subscribe_event', { kind: 'spawn', agent: 'reviewer' }, mode),
  ];
  const held = (...deny: string[]) => decisions({ deny }, requests('bypassPermissions'));
  assert.deepEqual(await held('Bash'), ['deny', 'deny', 'allow', 'allow']);
  assert.deepEqual(await held('Bash(touch *)'), ['deny', 'allow', 'allow', 'allow']);
  assert.deepEqual(await held('Agent(reviewer)'), ['allow', 'allow', 'allow', 'deny']);
  assert.deepEqual(await held('monitor'), ['deny', 'allow', 'deny', 'allow']);
  const allow = ['Bash', 'Agent'];
  assert.deepEqual(await decisions({ allow }, requests('default')), ['ask', 'ask', 'allow', 'ask']);
});

test('what a search for secrets finds is a secret, and its name is none', async () => {
  const gate = gateWith();
  const decide = async (command: string) => (await gate.check(runs(command))).decision;
  for (const command of [
    'grep -r KEY . --include=.env',
    "rg -g '.env*' KEY",
    "find . -name '.env*' -exec cat {} +",
    "find . -name 'id_rsa' | xargs cat",
    'find . -name .env | while read -r f; do cat "$f"; done',
    'for f in $(find . -name .env); do head "$f"; done',
    'cat ".env "',
  ])
    assert.equal(await decide(command), 'ask', command);
  for (const command of ['ls -la .env', "find . -name '.env*'", 'test -f .env && echo yes', 'ls -d .*'])
    assert.equal(await decide(command), 'allow', command);
});
