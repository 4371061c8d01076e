import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { CredentialStatus } from '../parts/auth/status.ts';
import { PROVIDERS } from '../parts/llm/providers.ts';
import { isProviderKey } from '../parts/process/environment.ts';
import { statusJson, statusText } from './auth-status.ts';

const NONE = { source: null, kind: null, stored: null, expires: null, usable: false, problem: null } as const;

const ALL: readonly CredentialStatus[] = [
  { ...NONE, provider: 'anthropic' },
  { ...NONE, provider: 'openai', source: 'OPENAI_API_KEY', kind: 'key', stored: 'environment', usable: true },
  {
    ...NONE,
    provider: 'chatgpt',
    source: 'the keychain',
    kind: 'login',
    stored: 'keychain',
    expires: '2026-01-02T03:04:05.000Z',
    usable: true,
  },
  { ...NONE, provider: 'xai', kind: 'key', stored: 'helper', problem: 'It failed.' },
];

test('the status of each provider is one line, and those without a credential share one', () => {
  assert.equal(
    statusText(ALL),
    [
      'openai   OPENAI_API_KEY\n',
      'chatgpt  the keychain (login), good until 2026-01-02 03:04 UTC\n',
      'xai      no key: not usable. It failed.\n',
      'No credential: anthropic\n',
    ].join(''),
  );
});

test('the JSON holds every provider with the fields that the guide describes', () => {
  assert.deepEqual(JSON.parse(statusJson(ALL)), { providers: ALL });
  const guide = readFileSync(new URL('../../docs/guide/authentication.md', import.meta.url), 'utf8');
  const described = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(described, ['provider', ...Object.keys(NONE)]);
});

test('no variable that holds the key of a provider is passed on to the programs that Crab starts', () => {
  const names = PROVIDERS.flatMap(({ auth }) =>
    auth.kind === 'key' ? auth.variables.map(({ name }) => name) : [],
  );
  assert.ok(names.length > 0);
  // These two are keys of much more than models: `gh`, `git` and `hf` would not work without them.
  assert.deepEqual(
    names.filter((name) => !isProviderKey(name)),
    ['HF_TOKEN', 'GITHUB_TOKEN'],
  );
});
