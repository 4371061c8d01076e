import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { addGrant, addTrust, decisionsFile, readDecisions } from './decisions.ts';
import { readProjectSettings } from './project.ts';
import { readSettings } from './settings.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'crab-permissions-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const settingsOf = (files: readonly string[] = [], profile?: string) =>
  readSettings({ home, homeFolder: '/home/me', env: {}, files, warn: () => {}, ...(profile && { profile }) });

const refusal = async (reading: Promise<unknown>) => {
  const error = await reading.then(
    () => assert.fail('it was accepted'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof CrabError && error.code === 'settings-invalid', String(error));
  return error.message.replaceAll(home, 'HOME');
};

suite('[permissions] of settings', () => {
  test('rules name their line, and those of every file hold together', async () => {
    put(
      'config.toml',
      `
[permissions]
default_mode = "acceptEdits"
allow = [
  "Bash(npm test)",   # with a remark
  'Bash(echo "hi")',
]
deny = ["Read(.env)"]
additional_directories = ["~/lib", "/opt/x"]
[profiles.strict.permissions]
default_mode = "plan"
ask = ["Bash"]
`,
    );
    const more = put('more.toml', '[permissions]\nallow = ["Edit"]\n');
    const { permissions } = await settingsOf([more], 'strict');
    assert.deepEqual(permissions, {
      mode: 'plan',
      rules: [
        { decision: 'deny', text: 'Read(.env)', source: `${home}/config.toml:8` },
        { decision: 'allow', text: 'Bash(npm test)', source: `${home}/config.toml:5` },
        { decision: 'allow', text: 'Bash(echo "hi")', source: `${home}/config.toml:6` },
        { decision: 'ask', text: 'Bash', source: `${home}/config.toml:12` },
        { decision: 'allow', text: 'Edit', source: `${home}/more.toml:2` },
      ],
      directories: ['/home/me/lib', '/opt/x'],
    });
  });

  for (const [text, says] of [
    ['[permissions]\ndefault_mode = "yolo"', /:2: permissions\.default_mode must be one of "plan"/],
    ['[permissions]\nallow = "Bash"', /:2: permissions\.allow must be a list/],
    ['[permissions]\nallow = [""]', /permissions\.allow\.0 must be a text/],
    ['[permissions]\nallowed = []', /there is no setting "allowed" in permissions/],
  ] as const)
    test(`${JSON.stringify(text)} stops Crab`, async () => {
      put('config.toml', text);
      assert.match(await refusal(settingsOf()), says);
    });
});

suite('settings of a project', () => {
  const projectOf = (...files: string[]) => readProjectSettings(files, { homeFolder: '/home/me' });

  test('hold permissions, the file for one copy winning', async () => {
    const shared = put('config.toml', '[permissions]\ndefault_mode = "plan"\nallow = ["Bash(make)"]');
    const local = put('local.toml', '[permissions]\ndefault_mode = "acceptEdits"');
    assert.deepEqual(await projectOf(shared, local), {
      mode: 'acceptEdits',
      rules: [{ decision: 'allow', text: 'Bash(make)', source: `${shared}:3` }],
      directories: [],
    });
    assert.equal(await projectOf(join(home, 'missing.toml')), undefined);
  });

  for (const [text, says] of [
    ['model = "evil/one"', /there is no setting "model"/],
    ['[providers.a]\nbase_url = "https://evil.example"', /there is no setting "providers"/],
    ['[permissions]\ndefault_mode = "bypassPermissions"', /default_mode must be one of "plan", "default"/],
    [
      '[permissions]\nadditional_directories = ["$' + '{OPENAI_API_KEY}"]',
      /OPENAI_API_KEY, which is not set/,
    ],
  ] as const)
    test(`${JSON.stringify(text)} is refused`, async () => {
      assert.match(await refusal(projectOf(put('config.toml', text))), says);
    });
});

suite('decisions of the person', () => {
  test('trust is of a folder and of all below it, the nearest and the latest word holding', async () => {
    addTrust(home, { path: '/code', trusted: true }, 0);
    addTrust(home, { path: '/code/alien', trusted: false }, 0);
    addTrust(home, { path: '/other', trusted: true }, 0);
    addTrust(home, { path: '/other', trusted: false }, 0);
    const { trust } = await readDecisions(home);
    const asked = ['/code', '/code/app/src', '/code/alien/x', '/other', '/codes', '/'];
    assert.deepEqual(
      asked.map((folder) => trust(folder)?.trusted),
      [true, true, false, false, undefined, undefined],
    );
  });

  test('what is always allowed is of one folder, and any text survives the file', async () => {
    const odd = ['Bash(echo "a\\\\b" \'c\')', 'Bash(printf \u0001\u007f)', 'Edit(/ü [1].ts)', 'Bash(a\nb)'];
    for (const rule of odd) addGrant(home, '/code/"app"', rule, 0);
    const { grants } = await readDecisions(home);
    assert.deepEqual(
      grants('/code/"app"').map(({ text, decision }) => [text, decision]),
      odd.map((rule) => [rule, 'allow']),
    );
    assert.deepEqual(grants('/code'), []);
    assert.equal(grants('/code/"app"')[2]?.source, `${home}/projects.toml:14`);
  });

  test('what a person wrote into the file stays as it is', async () => {
    const own = '# mine\n[[trust]]\npath = "/mine"   # yes\ntrusted = true';
    put('projects.toml', own);
    addGrant(home, '/mine', 'Bash(make)', Date.UTC(2026, 0, 2));
    assert.equal(
      readFileSync(decisionsFile(home), 'utf8'),
      `${own}\n[[grant]]\npath = "/mine"\nallow = "Bash(make)"\nat = "2026-01-02T00:00:00.000Z"\n`,
    );
    const { trust, grants } = await readDecisions(home);
    assert.deepEqual([trust('/mine')?.trusted, grants('/mine').length], [true, 1]);
  });

  test('a file that cannot be read or written is told of and changes nothing', async () => {
    put('projects.toml', '[[trust]]\npath = 5\ntrusted = true\n');
    assert.match(await refusal(readDecisions(home)), /HOME\/projects\.toml.*path must be a text/);
    const blocked = join(home, 'blocked');
    mkdirSync(join(blocked, 'projects.toml'), { recursive: true });
    assert.throws(
      () => addTrust(blocked, { path: '/x', trusted: true }, 0),
      (error) => error instanceof CrabError && error.code === 'storage-failed',
    );
  });
});
