import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { noExec, ran, sendByFetch, temporaryFolder } from '../../../test/support/credentials.ts';
import { virtualClock } from '../../../test/support/virtual-clock.ts';
import { lockCredentials } from '../../cli/file-lock.ts';
import type { Account, AuthScheme } from '../../core/credential.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { Exec, ExecRequest, ExecResult } from '../../core/host.ts';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import { createCredentials, type Environment } from './credentials.ts';
import { authFolder } from './index-file.ts';
import { openStore } from './open-store.ts';

const REQUEST = { method: 'POST', url: new URL('https://api.example.com/'), headers: {} };

type KeyScheme = Extract<AuthScheme, { kind: 'key' }>;

const SCHEME: KeyScheme = {
  kind: 'key',
  variables: [
    { name: 'P_TOKEN', style: 'bearer' },
    { name: 'P_KEY', style: 'x-api-key' },
  ],
  style: 'x-api-key',
};

interface Options {
  readonly env?: Environment;
  readonly settings?: Partial<Settings>;
  readonly exec?: Exec;
  readonly keyFile?: string;
  readonly scheme?: Partial<KeyScheme>;
  /** The store's own file. */
  readonly auth?: unknown;
}

async function setting({ env = {}, settings = {}, exec = noExec, keyFile, scheme = {}, auth }: Options = {}) {
  const folder = await temporaryFolder();
  if (auth !== undefined) {
    await mkdir(authFolder(folder.path));
    await writeFile(join(authFolder(folder.path), 'auth.json'), JSON.stringify(auth));
  }
  const clock = virtualClock();
  const learnt: string[] = [];
  const warned: string[] = [];
  const host = {
    home: folder.path,
    cwd: folder.path,
    exec,
    clock,
    lock: lockCredentials,
    send: sendByFetch,
    settings: { ...NO_SETTINGS, ...settings },
    platform: 'linux',
    ...(keyFile !== undefined && { keyFile: join(folder.path, keyFile) }),
    learn: (secrets: readonly string[]) => void learnt.push(...secrets),
    warn: (text: string) => void warned.push(text),
  } as const;
  const account: Account = { provider: 'p', scheme: { ...SCHEME, ...scheme } };
  const credentials = createCredentials({ env, host });
  return {
    account,
    credentials,
    clock,
    lock: lockCredentials,
    host,
    learnt,
    warned,
    path: folder.path,
    /** Where the key comes from, and the header that it makes. */
    async found(wanted: Account = account) {
      const credential = await credentials.find(wanted);
      if (credential === undefined) return undefined;
      return [credential.source, await credential.headers(REQUEST)];
    },
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

const EVERYTHING: Options = {
  env: { P_TOKEN: 'token-of-env', P_KEY: 'key-of-env' },
  settings: { apiKeyHelper: 'print-key' },
  exec: async () => ran('key-of-helper\n'),
  auth: { p: { type: 'api_key', key: 'key-of-store' } },
  scheme: { literal: 'key-of-settings' },
};

const ORDER: readonly (readonly [without: Options, source: string, headers: Record<string, string>])[] = [
  [{}, 'P_TOKEN', { authorization: 'Bearer token-of-env' }],
  [{ env: { P_TOKEN: ' ', P_KEY: 'key-of-env' } }, 'P_KEY', { 'x-api-key': 'key-of-env' }],
  [{ env: {} }, 'apiKeyHelper', { 'x-api-key': 'key-of-helper' }],
  [{ env: {}, settings: {} }, 'auth.json', { 'x-api-key': 'key-of-store' }],
  [{ env: {}, settings: {}, auth: {} }, 'the settings', { 'x-api-key': 'key-of-settings' }],
];

for (const [without, source, headers] of ORDER) {
  test(`the chain finds ${source} where nothing before it has a key`, async () => {
    await using at = await setting({ ...EVERYTHING, ...without });
    assert.equal(at.credentials.has(at.account), true);
    assert.deepEqual(await at.found(), [source, headers]);
    assert.deepEqual(at.learnt.slice(0, 1), [Object.values(headers)[0]?.replace('Bearer ', '')]);
    assert.equal(at.warned.length, source === 'the settings' ? 1 : 0);
  });
}

test('where no link has a key there is none, and no process was started', async () => {
  await using at = await setting();
  assert.equal(at.credentials.has(at.account), false);
  assert.equal(await at.found(), undefined);
});

test('whether there is a key is known without a process, with a helper and with a sealed store', async () => {
  await using at = await setting({ settings: { apiKeyHelper: 'print-key' } });
  assert.equal(at.credentials.has(at.account), true);
  await using sealed = await setting();
  const store = openStore(sealed.host);
  await store.locked(() => store.write('p', { type: 'api_key', key: 'key-of-store' }, 'file'));
  assert.equal(sealed.credentials.has(sealed.account), true);
  assert.deepEqual(await sealed.found(), ['the credentials file', { 'x-api-key': 'key-of-store' }]);
});

test('a key in the settings is warned about, with the command that keeps it better', async () => {
  await using at = await setting({ settings: { providers: { p: { apiKey: 'key-of-settings' } } } });
  await at.found();
  await at.found();
  assert.deepEqual(at.warned, [
    'The key of p stands in the settings in the open; `crab auth login p` keeps it better.',
  ]);
});

test('the headers of a key are made once', async () => {
  await using at = await setting({ env: { P_KEY: 'key-of-env' } });
  const credential = await at.credentials.find(at.account);
  assert.equal(credential?.headers(REQUEST), credential?.headers(REQUEST));
  assert.equal(await at.credentials.find(at.account), credential);
});

test('a store that cannot be read says so where it is needed, and only there', async () => {
  await using at = await setting({ env: { P_KEY: 'key-of-env' }, auth: [] });
  assert.equal((await at.found())?.[0], 'P_KEY');
  const other = { provider: 'q', scheme: { ...SCHEME, variables: [] } };
  assert.equal(at.credentials.has(other), true);
  await assert.rejects(at.credentials.find(other), {
    code: 'auth-failed',
    message: /auth\.json is not a JSON object/,
  });
});

test('the key of --api-key-file goes before all others, and to the first provider that asks alone', async () => {
  await using at = await setting({ ...EVERYTHING, keyFile: 'key' });
  await writeFile(join(at.path, 'key'), 'key-of-file\n');
  const other = { provider: 'q', scheme: { ...SCHEME, variables: [], literal: 'key-of-q' } };
  assert.deepEqual([at.credentials.has(at.account), at.credentials.has(other)], [true, true]);
  assert.deepEqual(await at.found(), ['--api-key-file', { 'x-api-key': 'key-of-file' }]);
  assert.deepEqual(await at.found(other), ['apiKeyHelper', { 'x-api-key': 'key-of-helper' }]);
});

test('a key file that is empty, missing or too long is a fault of the command line', async () => {
  await using at = await setting({ keyFile: 'key' });
  await assert.rejects(at.credentials.find(at.account), {
    code: 'usage',
    message: /^--api-key-file: ENOENT/,
  });
  await writeFile(join(at.path, 'key'), ' \n');
  await assert.rejects(at.credentials.find(at.account), { code: 'usage', message: /is empty\.$/ });
  await writeFile(join(at.path, 'key'), 'k'.repeat(70_000));
  await assert.rejects(at.credentials.find(at.account), {
    code: 'usage',
    message: /more than 65536 bytes\.$/,
  });
});

test('a key with a space in it is refused without being shown', async () => {
  await using at = await setting({ env: { P_KEY: 'half of-a-secret' } });
  await assert.rejects(at.credentials.find(at.account), {
    code: 'auth-refused',
    message: 'The value of P_KEY has a space or a line break in it.',
  });
});

/** A helper that prints another key each time. */
function counting(): { readonly exec: Exec; readonly runs: ExecRequest[] } {
  const runs: ExecRequest[] = [];
  return {
    runs,
    exec: async (request) => {
      runs.push(request);
      return ran(`key-number-${runs.length}\n`);
    },
  };
}

test('a helper runs once for all that wait, in the shell, with a limit, and again when its answer is old', async () => {
  const { exec, runs } = counting();
  await using at = await setting({
    exec,
    settings: { apiKeyHelper: 'print-key --now', apiKeyHelperTtlMs: 1000 },
  });
  const other = { provider: 'q', scheme: { ...SCHEME } };
  const [one, two] = await Promise.all([at.credentials.find(at.account), at.credentials.find(other)]);
  assert.deepEqual(one?.headers(REQUEST), { 'x-api-key': 'key-number-1' });
  assert.deepEqual(two?.headers(REQUEST), { 'x-api-key': 'key-number-1' });
  const { argv, cwd, timeoutMs, separate } = runs[0] ?? assert.fail('it never ran');
  assert.deepEqual(
    { argv, cwd, timeoutMs, separate },
    { argv: ['sh', '-c', 'print-key --now'], cwd: at.path, timeoutMs: 10_000, separate: true },
  );
  await at.clock.advance(1000);
  assert.deepEqual(await Promise.all([one?.headers(REQUEST), two?.headers(REQUEST)]), [
    { 'x-api-key': 'key-number-2' },
    { 'x-api-key': 'key-number-2' },
  ]);
  assert.equal(runs.length, 2);
  assert.ok(at.learnt.includes('key-number-2'));
});

test('CRAB_API_KEY_HELPER_TTL_MS says how long an answer is good, and must be a number', async () => {
  const { exec, runs } = counting();
  const settings = { apiKeyHelper: 'print-key' };
  await using at = await setting({ exec, settings, env: { CRAB_API_KEY_HELPER_TTL_MS: '0' } });
  const credential = await at.credentials.find(at.account);
  await credential?.headers(REQUEST);
  await credential?.headers(REQUEST);
  assert.equal(runs.length, 3);
  await using bad = await setting({ exec, settings, env: { CRAB_API_KEY_HELPER_TTL_MS: 'soon' } });
  await assert.rejects(bad.credentials.find(bad.account), { code: 'usage', message: /"soon", not a number/ });
});

test('a key of a helper that is refused is asked for again, and tried again when it is another one', async () => {
  const { exec } = counting();
  await using at = await setting({ exec, scheme: { helper: 'print-key' } });
  const credential = await at.credentials.find(at.account);
  assert.equal(await credential?.refused(401), true);
  assert.deepEqual(credential?.headers(REQUEST), { 'x-api-key': 'key-number-2' });
  await using same = await setting({
    exec: async () => ran('the-same-key'),
    scheme: { helper: 'print-key' },
  });
  assert.equal(await (await same.credentials.find(same.account))?.refused(401), false);
});

test('a helper of the provider goes before the one of all', async () => {
  const commands: unknown[] = [];
  const exec: Exec = async ({ argv }) => {
    commands.push(argv[2]);
    return ran('some-key-or-other');
  };
  const settings = { apiKeyHelper: 'for-all', providers: { p: { apiKeyHelper: 'for-p' } } };
  await using at = await setting({ exec, settings });
  await at.found();
  await at.found({ provider: 'q', scheme: { ...SCHEME } });
  assert.deepEqual(commands, ['for-p', 'for-all']);
});

const HALF = 'half-a-secret';
const FAILURES: readonly (readonly [what: string, result: Partial<ExecResult> | Error])[] = [
  ['ended with exit status 3', { exitCode: 3 }],
  ['was ended by SIGKILL', { exitCode: null, signal: 'SIGKILL' }],
  ['did not end within 10 seconds', { exitCode: null, timedOut: true }],
  ['printed nothing', { stdout: { text: ' \n', bytes: 2, lines: 1, truncated: false } }],
  ['printed more than 65536 bytes', { stdout: { text: HALF, bytes: 1e6, lines: 1, truncated: true } }],
  [
    'could not be started: The program sh was not found in PATH',
    new ToolFailure('The program sh was not found in PATH.'),
  ],
];

test('a helper that fails is told by what it did, and never by what it printed', async (t) => {
  for (const [what, result] of FAILURES)
    await t.test(what, async () => {
      const exec: Exec = async () => {
        if (result instanceof Error) throw result;
        return ran(HALF, result);
      };
      await using at = await setting({ exec, settings: { apiKeyHelper: 'print-key' } });
      await assert.rejects(at.credentials.find(at.account), {
        code: 'auth-failed',
        message: `The command of apiKeyHelper ${what}.`,
        hint: 'Run it by hand, or take apiKeyHelper out of the settings.',
      });
    });
});
