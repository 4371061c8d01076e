import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { noExec, ran, realClock, sendByFetch, temporaryFolder } from '../../../test/support/credentials.ts';
import { lockCredentials } from '../../cli/file-lock.ts';
import type { AuthScheme } from '../../core/credential.ts';
import type { Exec } from '../../core/host.ts';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import type { StoredEntry } from './entry.ts';
import { authFolder, authPath } from './index-file.ts';
import { openStore } from './open-store.ts';
import { type CredentialStatus, credentialStatus } from './status.ts';

const OAUTH = { authorizeUrl: 'http://x', tokenUrl: 'http://x', clientId: 'c', scopes: [] };

interface Case {
  readonly scheme?: Partial<AuthScheme>;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Settings>;
  readonly exec?: Exec;
  readonly entry?: StoredEntry;
  /** The file of the store, as it is. */
  readonly file?: string;
}

async function statusOf({ scheme, env = {}, settings = {}, exec = noExec, entry, file }: Case) {
  await using folder = await temporaryFolder();
  const host = {
    home: folder.path,
    cwd: folder.path,
    exec,
    clock: realClock,
    lock: lockCredentials,
    send: sendByFetch,
    settings: { ...NO_SETTINGS, ...settings },
    platform: 'linux',
    learn: () => {},
    warn: () => {},
  } as const;
  if (entry !== undefined) {
    const store = openStore(host);
    await store.locked(() => store.write('p', entry, 'file'));
  }
  if (file !== undefined) {
    await mkdir(authFolder(folder.path));
    await writeFile(authPath(authFolder(folder.path)), file);
  }
  const key = { kind: 'key', variables: [{ name: 'P_KEY', style: 'bearer' }], style: 'bearer' };
  const status = await credentialStatus(
    { provider: 'p', scheme: { ...key, ...scheme } as AuthScheme },
    env,
    host,
  );
  return { ...status, problem: status.problem?.replaceAll(folder.path, '~') ?? null };
}

const NONE = {
  provider: 'p',
  source: null,
  kind: null,
  stored: null,
  expires: null,
  usable: false,
  problem: null,
};

const LOGIN: StoredEntry = {
  type: 'oauth',
  access: 'secret-access',
  refresh: 'secret-refresh',
  expires: 1000,
};

const CASES: Readonly<Record<string, readonly [Case, Partial<CredentialStatus>]>> = {
  'nothing at all': [{}, {}],
  'a server that asks for none': [{ scheme: { kind: 'none' } }, { usable: true }],
  'a variable': [
    { env: { P_KEY: 'secret-key' } },
    { source: 'P_KEY', kind: 'key', stored: 'environment', usable: true },
  ],
  'a variable that holds no key': [
    { env: { P_KEY: 'secret key' } },
    { kind: 'key', problem: 'The value of P_KEY has a space or a line break in it.' },
  ],
  'a helper': [
    { settings: { apiKeyHelper: 'x' }, exec: async () => ran('secret-key') },
    { source: 'apiKeyHelper', kind: 'key', stored: 'helper', usable: true },
  ],
  'a helper that fails': [
    { settings: { apiKeyHelper: 'x' }, exec: async () => ran('secret-key', { exitCode: 1 }) },
    { kind: 'key', problem: 'The command of apiKeyHelper ended with exit status 1.' },
  ],
  'a key in the settings': [
    { settings: { providers: { p: { apiKey: 'secret-key' } } } },
    { source: 'the settings', kind: 'key', stored: 'settings', usable: true },
  ],
  'a stored key': [
    { entry: { type: 'api_key', key: 'secret-key' } },
    { source: 'the credentials file', kind: 'key', stored: 'file', usable: true },
  ],
  'a login that can be renewed': [
    { entry: LOGIN, scheme: { oauth: OAUTH } },
    {
      source: 'the credentials file',
      kind: 'login',
      stored: 'file',
      expires: '1970-01-01T00:00:01.000Z',
      usable: true,
    },
  ],
  'a login that has run out': [
    { entry: LOGIN },
    {
      source: 'the credentials file',
      kind: 'login',
      stored: 'file',
      expires: '1970-01-01T00:00:01.000Z',
      problem: 'The login has run out.',
    },
  ],
  'a key in the open': [
    { file: '{"p": {"type": "api_key", "key": "secret-key"}}' },
    { source: 'auth.json', kind: 'key', stored: 'plain', usable: true },
  ],
  'a file that cannot be read': [
    { file: '[' },
    { kind: 'key', problem: '~/auth/auth.json is not a JSON object.' },
  ],
};

for (const [what, [given, expected]] of Object.entries(CASES)) {
  test(`the status of a provider tells ${what}, and no secret`, async () => {
    const status = await statusOf(given);
    assert.deepEqual(status, { ...NONE, ...expected });
    assert.doesNotMatch(JSON.stringify(status), /secret-/);
  });
}
