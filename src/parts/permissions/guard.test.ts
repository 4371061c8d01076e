import assert from 'node:assert/strict';
import { normalize } from 'node:path';
import { test } from 'node:test';
import { type GateRequest, PERMISSION_MODES } from '../../core/permission.ts';
import { createGate } from './gate.ts';
import { globMeansSecrets, isSecretFile, namesSecrets } from './secret-files.ts';
import { CWD, gateWith, HOME, rulesOf, runs, touches } from './workspace-for-test.ts';

const SECRET = [
  '.env',
  'deep/.ENV',
  '.env.production',
  'prod.env',
  '.envrc',
  'id_rsa',
  'keys/id_ed25519',
  'server.pem',
  'tls-server.key',
  'credentials.json',
  '.netrc',
  'secrets.yaml',
  '/home/ann/.ssh/config',
  '/home/ann/.aws/credentials',
  '/home/ann/.docker/config.json',
  '/home/ann/.config/gh/hosts.yml',
  '/proc/self/environ',
  'C:\\Users\\ann\\.ssh\\id_rsa',
];
const OPEN = [
  '.env.example',
  '.env.sample',
  'env.ts',
  'environment.md',
  'id_rsa.pub',
  '/home/ann/.ssh/known_hosts',
  'ca-cert.pem',
  'fullchain.pem',
  'monkey.ts',
  'credentials.ts',
  'secrets.md',
  'translations.key',
  'public-key.asc',
];

test('secrets are known by their names', () => {
  assert.deepEqual(
    [...SECRET, ...OPEN].filter((path) => isSecretFile(path)),
    SECRET,
  );
});

test('a pattern was written for secrets or for other files', () => {
  const meant = ['.env', '.env*', '.env.*', '~/.ssh/**', 'id_*', '/config/prod.env', '*.pem'];
  const others = ['**', '*', '/src/**', '*.json', '/config/*', '*.ts'];
  assert.deepEqual(
    [...meant, ...others].filter(namesSecrets),
    meant.filter((spec) => spec !== 'id_*'),
  );
  const globs = ['.e*', '.*', '*.pem', 'id_*', '.env?local', '[.]env'];
  assert.deepEqual([...globs, '*', '*.ts', '?', 'src/*.json'].filter(globMeansSecrets), globs.slice(0, 5));
});

async function decide(
  lists: Parameters<typeof gateWith>[0],
  requests: readonly GateRequest[],
): Promise<readonly string[]> {
  const gate = gateWith(lists);
  return Promise.all(requests.map(async (request) => (await gate.check(request)).decision));
}

test('nothing reads a secret unasked, in any mode but the one that asks about nothing', async () => {
  for (const mode of PERMISSION_MODES) {
    const expected =
      mode === 'bypassPermissions' ? 'allow' : mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
    const requests = [
      touches('read', '.env', mode),
      runs('cat .env', mode),
      runs('head -c 99 < deep/.env.local', mode),
      runs('cat .e*', mode),
      runs('grep KEY .env a.ts', mode),
      runs('ls && sort keys/id_rsa', mode),
    ];
    assert.deepEqual(
      await decide({}, requests),
      requests.map(() => expected),
      mode,
    );
  }
  const gate = gateWith();
  assert.deepEqual(await gate.check(runs('cat .env')), {
    decision: 'ask',
    reason:
      '/code/app/.env may hold secrets, which nothing reads unasked; --allowedTools "Bash(cat .env)" would allow it.',
  });
});

test('a template, a name in a text and a listing are no secrets', async () => {
  const requests = [touches('read', '.env.example'), runs('echo .env'), runs('ls -la'), runs('cat *.ts')];
  assert.deepEqual(await decide({}, requests), ['allow', 'allow', 'allow', 'allow']);
});

test('only a rule that names a secret opens it', async () => {
  const requests = [touches('read', '.env'), runs('cat .env')];
  for (const wide of ['Read', 'Read(**)', 'Bash', 'Bash(cat *)', 'Read(/config/**)'])
    assert.deepEqual(await decide({ allow: [wide] }, requests), ['ask', 'ask'], wide);
  assert.deepEqual(await decide({ allow: ['Read(.env)'] }, requests), ['allow', 'allow']);
  assert.deepEqual(await decide({ allow: ['Read(./.env*)'] }, requests), ['allow', 'allow']);
  assert.deepEqual(await decide({ allow: ['Bash(cat .env)'] }, requests), ['ask', 'allow']);
  assert.deepEqual(await decide({ allow: ['Read(.env)'], deny: ['Read(.env)'] }, requests), ['deny', 'deny']);
});

test('a secret is a secret by whatever link it is reached', async () => {
  const gate = createGate({
    cwd: CWD,
    directories: [],
    rules: [],
    resolve: async (path) => (path === `${CWD}/notes.txt` ? `${CWD}/.env` : normalize(path)),
  });
  const decisions = await Promise.all(
    [touches('read', 'notes.txt'), runs('cat notes.txt'), runs('cat a.txt')].map(
      async (request) => (await gate.check(request)).decision,
    ),
  );
  assert.deepEqual(decisions, ['ask', 'ask', 'allow']);
});

test('a person who allows one secret is not asked about it again, and about another is', async () => {
  for (const request of [touches('read', '.env'), runs('cat .env'), runs('cat .env | wc -l')]) {
    const gate = gateWith();
    assert.equal((await gate.check(request)).decision, 'ask');
    const rule = await gate.grantFor(request);
    assert.ok(rule);
    gate.allow(rule);
    assert.equal((await gate.check(request)).decision, 'allow', rule.text);
    assert.equal((await gate.check(touches('read', 'other/.env'))).decision, 'ask');
  }
});

const GUARDED = [
  `${HOME}/.bashrc`,
  `${HOME}/.ssh/authorized_keys`,
  `${HOME}/.config/autostart/x.desktop`,
  `${HOME}/.gitconfig`,
  '/code/other/.git/hooks/pre-commit',
  '/etc/profile.d/x.sh',
  '/etc/cron.d/x',
  '/usr/local/bin/ls',
  '/data/crab/config.toml',
];

test('what decides what runs by itself is written by no rule, only where nothing is asked', async () => {
  const gate = createGate({
    cwd: CWD,
    directories: ['/data'],
    rules: rulesOf({ allow: ['Edit(//**)', 'Bash(cp *)', 'Bash(tee *)'] }),
    resolve: (path) => Promise.resolve(normalize(path)),
    home: HOME,
    guarded: ['/data/crab'],
  });
  for (const path of GUARDED) {
    for (const mode of ['default', 'acceptEdits', 'trustProject'] as const)
      for (const request of [touches('write', path, mode, 'edit'), runs(`cp a.txt ${path}`, mode)]) {
        assert.equal((await gate.check(request)).decision, 'ask', `${mode} ${path}`);
        assert.equal(await gate.grantFor(request), undefined, path);
      }
    assert.equal((await gate.check(touches('write', path, 'bypassPermissions', 'edit'))).decision, 'allow');
  }
  assert.equal((await gate.check(touches('write', '/data/notes.txt', 'default', 'edit'))).decision, 'allow');
  assert.equal((await gate.check(touches('write', '/etc/hosts', 'default', 'edit'))).decision, 'allow');
});

test('a call is explained by its effect, whatever the mode says of it', async () => {
  const gate = gateWith({ deny: ['Bash(git push *)'] });
  const effects = await Promise.all(
    ['ls', 'cat /etc/hosts', 'touch a', 'git push origin', 'rm -rf /', 'frob x', 'echo $(('].map(
      async (command) => (await gate.explain(runs(command, 'bypassPermissions'))).risk.effect,
    ),
  );
  assert.deepEqual(effects, [
    'read-only',
    'read-only',
    'mutating',
    'mutating',
    'dangerous',
    'mutating',
    'mutating',
  ]);
  const { verdict } = await gate.explain(runs('git push origin'));
  assert.deepEqual([verdict.decision, verdict.rule?.text], ['deny', 'Bash(git push *)']);
});
