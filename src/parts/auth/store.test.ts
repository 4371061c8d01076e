import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryKeychain, temporaryFolder } from '../../../test/support/credentials.ts';
import { lockCredentials } from '../../cli/file-lock.ts';
import type { StoredEntry } from './entry.ts';
import { authPath, legacyPath, readIndex } from './index-file.ts';
import { KeychainError } from './keychain.ts';
import { createStore } from './store.ts';

const KEY: StoredEntry = { type: 'api_key', key: 'the-secret-of-openai' };
const LOGIN: StoredEntry = {
  type: 'oauth',
  access: 'the-access-token',
  refresh: 'the-refresh-token',
  expires: 5e12,
};

async function setting() {
  const folder = await temporaryFolder();
  const keychain = memoryKeychain();
  const path = join(folder.path, 'auth');
  const open = () => createStore({ folder: path, keychain, lock: lockCredentials });
  const text = async () =>
    (await Promise.all((await readdir(path)).map((name) => readFile(join(path, name), 'utf8')))).join('\n');
  return { path, keychain, open, text, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
}

for (const place of ['keychain', 'file'] as const) {
  test(`what is stored with its key in the ${place} comes back in another process, and stands nowhere in the open`, async () => {
    await using at = await setting();
    const store = at.open();
    assert.equal(await store.locked(() => store.write('openai', KEY, place)), place);
    assert.equal(await store.locked(() => store.write('chatgpt', LOGIN, place)), place);
    const other = at.open();
    assert.deepEqual(await other.read('openai'), KEY);
    assert.deepEqual(await other.read('chatgpt'), LOGIN);
    assert.equal(await other.read('nobody'), undefined);
    assert.doesNotMatch(await at.text(), /the-secret|the-access|the-refresh/);
    assert.deepEqual(
      readIndex(at.path),
      new Map([
        ['openai', { kind: 'api_key', place }],
        ['chatgpt', { kind: 'oauth', place, expires: 5e12 }],
      ]),
    );
    assert.equal(at.keychain.items.size, place === 'keychain' ? 1 : 0);
  });
}

test('folder and files are closed to others, whatever the folder was before', async () => {
  await using at = await setting();
  await mkdir(at.path, { mode: 0o755 });
  const store = at.open();
  await store.locked(() => store.write('openai', KEY, 'file'));
  const modes = await Promise.all(
    ['', 'auth.json', 'key'].map(async (name) => (await stat(join(at.path, name))).mode & 0o777),
  );
  assert.deepEqual(modes, [0o700, 0o600, 0o600]);
  assert.deepEqual((await readdir(at.path)).sort(), ['auth.json', 'key']);
});

test('entries in the shape of pi and of the older tokens.json are read, and sealed when they are renewed', async () => {
  await using at = await setting();
  await mkdir(at.path);
  const pi = {
    anthropic: { type: 'oauth', access: 'aaa', refresh: 'rrr', expires: 7, accountId: 'x' },
    openai: KEY,
  };
  await writeFile(authPath(at.path), JSON.stringify(pi));
  const legacy = {
    openai: { access_token: 'old' },
    xai: { access_token: 'bbb', refresh_token: 'r', expires_at: 1e9 },
  };
  await writeFile(legacyPath(at.path), JSON.stringify(legacy));
  const store = at.open();
  assert.deepEqual(await store.read('anthropic'), pi.anthropic);
  assert.deepEqual(await store.read('openai'), KEY);
  assert.deepEqual(await store.read('xai'), { type: 'oauth', access: 'bbb', refresh: 'r', expires: 1e12 });
  const renewed: StoredEntry = { ...LOGIN, access: 'aaa-new-one' };
  assert.equal(await store.locked(() => store.write('anthropic', renewed)), 'file');
  assert.deepEqual(await at.open().read('anthropic'), renewed);
  assert.doesNotMatch(await at.text(), /aaa/);
  assert.deepEqual(await at.open().read('openai'), KEY);
});

test('what is removed is gone from every file, and so is the key that opens nothing any more', async () => {
  await using at = await setting();
  const store = at.open();
  await store.locked(() => store.write('openai', KEY, 'file'));
  await store.locked(() => store.write('chatgpt', LOGIN, 'keychain'));
  await writeFile(
    legacyPath(at.path),
    JSON.stringify({ openai: { access_token: 'old' }, xai: { access_token: 'b' } }),
  );
  assert.deepEqual(await store.locked(() => store.remove(['openai', 'nobody'])), ['openai']);
  assert.equal(await store.read('openai'), undefined);
  assert.deepEqual((await readdir(at.path)).sort(), ['auth.json', 'tokens.json']);
  assert.deepEqual([...(await store.locked(() => store.remove('all')))].sort(), ['chatgpt', 'xai']);
  assert.deepEqual([...readIndex(at.path).keys()], []);
  assert.equal(at.keychain.items.size, 0);
});

test('a keychain that fails is told, and nothing is stored', async () => {
  await using at = await setting();
  at.keychain.failing = new KeychainError('auth-failed', 'Keychain write failed: locked.');
  const store = at.open();
  await assert.rejects(
    store.locked(() => store.write('openai', KEY, 'keychain')),
    { message: 'Keychain write failed: locked.' },
  );
  assert.equal(await store.read('openai'), undefined);
});

test('a keychain that does not give back what it was given is not trusted', async () => {
  await using at = await setting();
  at.keychain.write = async (id) => void at.keychain.items.set(id, 'something else');
  const store = at.open();
  await assert.rejects(
    store.locked(() => store.write('openai', KEY, 'keychain')),
    { message: 'Keychain write failed: what was written is not there.' },
  );
});

test('an entry that was changed, moved to another provider, or whose key is lost does not open, and says so', async () => {
  await using at = await setting();
  const store = at.open();
  await store.locked(() => store.write('openai', KEY, 'file'));
  const file = JSON.parse(await readFile(authPath(at.path), 'utf8'));
  const damaged = { ...file.openai, data: `${file.openai.data.slice(0, -8)}AAAAAAA=` };
  const later = { ...file.openai, expires: 9e15 };
  await writeFile(authPath(at.path), JSON.stringify({ openai: damaged, xai: file.openai, groq: later }));
  for (const name of ['openai', 'xai', 'groq']) {
    await assert.rejects(at.open().read(name), {
      code: 'auth-failed',
      message: `What is stored for ${name} does not open with its key.`,
      hint: `Log in again with \`crab auth login ${name}\`.`,
    });
  }
  await writeFile(join(at.path, 'key'), 'other AAAA\n');
  await assert.rejects(at.open().read('openai'), {
    message: `The key of the stored credentials is not in ${join(at.path, 'key')}.`,
  });
});

test('a file that is no JSON is neither read as empty nor written over, and nothing of it is quoted', async () => {
  await using at = await setting();
  await mkdir(at.path);
  await writeFile(authPath(at.path), '{"openai": {"key": "sk-half-of-it');
  const store = at.open();
  const expected = { code: 'auth-failed', message: `${authPath(at.path)} is not a JSON object.` };
  await assert.rejects(store.read('openai'), expected);
  await assert.rejects(
    store.locked(() => store.write('openai', KEY, 'file')),
    expected,
  );
  assert.equal(await readFile(authPath(at.path), 'utf8'), '{"openai": {"key": "sk-half-of-it');
});
