// Many processes with one login, and processes that are killed while they renew it: one request for all, and a store
// that can be read whatever happens. A second request would be answered with `invalid_grant`, and the person logged out.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { memoryKeychain, temporaryFolder, tokenServer } from '../../../test/support/credentials.ts';
import { lockCredentials, lockFile } from '../../cli/file-lock.ts';
import { seeded } from '../../core/seeded.ts';
import type { StoredEntry } from './entry.ts';
import { authPath } from './index-file.ts';
import { createStore } from './store.ts';

const FIXTURE = fileURLToPath(new URL('../../../test/support/login.fixture.ts', import.meta.url));
const PROCESSES = 50;
const KILLS = 25;

const OLD: StoredEntry = { type: 'oauth', access: 'access-0', refresh: 'refresh-0', expires: 1 };

async function setting(options?: { expiresIn?: number }) {
  const folder = await temporaryFolder();
  const server = await tokenServer(options);
  const path = join(folder.path, 'auth');
  const open = () => createStore({ folder: path, keychain: memoryKeychain(), lock: lockCredentials });
  const store = open();
  await store.locked(() => store.write('p', OLD, 'file'));
  const children = new Set<ChildProcess>();
  const start = (...faults: readonly string[]) => {
    const child = spawn(process.execPath, [FIXTURE, path, `${server.url}/token`, ...faults], {
      stdio: ['pipe', 'pipe', faults.length === 0 ? 'inherit' : 'ignore'],
    });
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('utf8');
    children.add(child);
    return child;
  };
  return {
    path,
    server,
    open,
    start,
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL');
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test(`${PROCESSES} processes that renew one login at once send one request, and all go on with its token`, async () => {
  await using at = await setting();
  const children = Array.from({ length: PROCESSES }, () => at.start());
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const answers = children.map((child) => once(child.stdout, 'data'));
  for (const child of children) child.stdin?.write('go\n');
  const heard = (await Promise.all(answers)).map(([text]) => text);
  assert.deepEqual(new Set(heard), new Set(['Bearer access-1\n']));
  assert.equal(at.server.asked.length, 1);
  for (const child of children) child.stdin?.end();
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  assert.deepEqual(readdirSync(at.path).sort(), ['auth.json', 'key']);
});

test(`a process that is killed while it renews, ${KILLS} times at any moment, leaves a store that can be read`, async () => {
  await using at = await setting({ expiresIn: 1 });
  const random = seeded(7);
  for (let round = 0; round < KILLS; round++) {
    const child = at.start();
    await once(child.stdout, 'data');
    const asked = at.server.asked.length;
    const before = at.server.current();
    child.stdin?.write('go\n');
    await until(() => at.server.asked.length > asked);
    // The answer is on its way, the write begins some milliseconds later, and takes as long.
    await new Promise((resolve) => setTimeout(resolve, random() * 12));
    await killed(child);
    const entry = await at.open().read('p');
    assert.ok(entry?.type === 'oauth');
    // What was answered and not yet stored is lost with its process: that login is over. There is no third state.
    assert.ok([before, at.server.current()].includes(entry.refresh ?? ''), entry.refresh);
    const store = at.open();
    await store.locked(() => store.write('p', { ...OLD, refresh: at.server.current() }, 'file'));
  }
});

test('a token that was used is always one that was stored', async () => {
  await using at = await setting({ expiresIn: 1 });
  for (let round = 0; round < 5; round++) {
    const child = at.start();
    await once(child.stdout, 'data');
    const said = once(child.stdout, 'data');
    child.stdin?.write('go\n');
    const [text] = await said;
    await killed(child);
    const entry = await at.open().read('p');
    assert.ok(entry?.type === 'oauth');
    assert.deepEqual([text, entry.refresh], [`Bearer ${entry.access}\n`, at.server.current()]);
  }
});

test('a process that is killed before it was answered leaves the login as it was', async () => {
  await using at = await setting();
  const child = at.start();
  await once(child.stdout, 'data');
  at.server.answers.push(() => {
    child.kill('SIGKILL');
    return { status: 500, body: '' };
  });
  child.stdin?.write('go\n');
  await once(child, 'exit');
  assert.deepEqual(await at.open().read('p'), OLD);
});

test('processes without the lock would be caught: each sends a request of its own', async () => {
  await using at = await setting();
  const children = [at.start('unlocked'), at.start('unlocked')];
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  at.server.answers.push(async () => {
    await until(() => at.server.asked.length === 2);
    return { status: 500, body: '' };
  });
  for (const child of children) child.stdin?.write('go\n');
  await until(() => at.server.asked.length === 2);
  await Promise.all(children.map(killed));
});

test('a store that is written in place would be caught', async () => {
  await using at = await setting();
  writeFileSync(authPath(at.path), '{"p": {"type": "sea');
  await assert.rejects(at.open().read('p'), { code: 'auth-failed' });
});

test('a lock that a live process keeps is said to be kept by it', async () => {
  await using folder = await temporaryFolder();
  const lock = (path: string) => lockFile(path, { waitMs: 50 });
  const store = createStore({ folder: folder.path, keychain: memoryKeychain(), lock });
  await store.locked(async () => {
    await assert.rejects(
      store.locked(async () => {}),
      {
        code: 'auth-failed',
        message: `The stored credentials are in use: ${authPath(folder.path)} is open in process ${process.pid}.`,
      },
    );
  });
  await store.locked(async () => {});
});

async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await exit;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2000 && !holds(); tries++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(holds(), 'nothing happened for too long');
}
