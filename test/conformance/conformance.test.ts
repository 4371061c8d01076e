// The daemon against an independent client: written in another language, from docs/wire alone.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serverEnd } from '../../src/hosts/daemon/socket-connection.ts';
import { serve } from '../../src/protocol/serve.ts';
import type { Server } from '../../src/protocol/server.ts';
import { cleanEnv } from '../support/crab.ts';
import { daemonFor } from '../support/daemon.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { openDoor, TOKEN } from '../support/remote-door.ts';
import { wireServer } from '../support/wire-server.ts';
import { tempWorkspace } from '../support/workspace.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SCRIPT = fileURLToPath(new URL('conformance.py', import.meta.url));

/** Its exit status, and what it says of each statement. */
function conformance(
  env: Environment,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile('python3', ['-B', SCRIPT, ...args], { timeout: 120_000, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: stdout + stderr }),
    );
  });
}

async function holds(address: string, env: Environment, ...options: readonly string[]): Promise<void> {
  const { code, said } = await conformance(env, address, ...options);
  assert.deepEqual([code, said.includes('FAIL')], [0, false], said);
}

test('the daemon holds to the page of the wire, over its sockets and over TCP', async () => {
  await using work = await tempWorkspace({}, { git: false });
  await using provider = await fakeProvider([{ text: ['Here is ', 'a sentence.'], repeat: 4 }]);
  const env = { ...cleanEnv(work.home), ...provider.env('anthropic') };
  await using _daemon = await daemonFor({ cwd: work.path, env, flags: ['--port', '0'] });
  const folder = join(work.home, '.crab/run');
  await holds(join(folder, 'daemon.sock'), env);
  await holds(`json:${join(folder, 'daemon-json.sock')}`, env);
  const [port, token] = await Promise.all(
    ['daemon.port', 'daemon.token'].map(async (name) => (await readFile(join(folder, name), 'utf8')).trim()),
  );
  await holds(`127.0.0.1:${port}`, env, `--token=${token}`);
});

test('it holds to the page over WebSocket, too', async () => {
  await using work = await tempWorkspace({}, { git: false });
  await using provider = await fakeProvider([{ text: ['Here is ', 'a sentence.'], repeat: 4 }]);
  const env = { ...cleanEnv(work.home), ...provider.env('anthropic') };
  await using daemon = await daemonFor({ cwd: work.path, env, serve: ['--port', '0'] });
  const token = (await readFile(join(work.home, '.crab/run/serve.token'), 'utf8')).trim();
  await holds(daemon.url, env, `--token=${token}`);
});

/** Says hello as another version, and knows of no conversation. */
const OTHER: Partial<Server> = {
  hello: async () => ({ version: 1, server: 'other', capabilities: [], home: '', pid: 0, basis: [] }),
  sessions: async () => ({ sessions: [] }),
};

test('a server that does otherwise is found out', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-wire-'));
  const path = join(folder.path, 's');
  const server = wireServer(OTHER);
  const listener = createServer((socket) => {
    const options = { server, name: 'test', isTrusted: true, authenticate: async () => false };
    void serve(serverEnd(socket), options);
  });
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  const { code, said } = await conformance(process.env, path);
  listener.close();
  assert.equal(code, 1);
  assert.match(said, /^FAIL {2}a Hello of version 2 is answered with one: AssertionError: the version$/m);
  assert.match(said, /^FAIL {2}the statistics and the configuration are told/m);
  // The same by its other door, which lets pages of one origin too many in.
  await using door = await openDoor({ methods: OTHER, origins: ['https://evil.example'] });
  const far = await conformance(process.env, door.url, `--token=${TOKEN}`);
  assert.equal(far.code, 1);
  assert.match(far.said, /^FAIL {2}a token is shown in the head, or in the Hello/m);
  assert.match(far.said, /^FAIL {2}a token in the address, a page.*: AssertionError: it was let in/m);
  assert.match(far.said, /^FAIL {2}a question is answered as a whole/m);
});
