// When `crab` works in the daemon and when it does not, and that nothing of what a command says is lost on the way.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { cleanEnv, runCrab } from '../support/crab.ts';
import { type Daemon, daemonFor } from '../support/daemon.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace } from '../support/workspace.ts';

const touch: Reply = { calls: [{ name: 'bash', input: { command: 'touch made' } }] };
const TOLD = /^crab: not through the daemon: (.*)$/m;

async function place(script: readonly Reply[], files: Readonly<Record<string, string>> = {}) {
  const work = await tempWorkspace(files, { git: false });
  const provider = await fakeProvider(script);
  const own = provider.env('anthropic');
  const env = { ...cleanEnv(work.home), ...own };
  let daemon: Daemon | undefined;
  return {
    work,
    provider,
    async start(more: Readonly<Record<string, string>> = {}) {
      daemon = await daemonFor({ cwd: work.path, env: { ...env, ...more } });
      return daemon;
    },
    run: (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      runCrab({ args, cwd: work.path, home: work.home, env: { ...own, ...more } }),
    async [Symbol.asyncDispose]() {
      await daemon?.[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

test('a command works in the daemon, and in its own process where that would come to something else', async () => {
  await using at = await place([{ text: 'Here.', repeat: 20 }]);
  const reasonOf = async (args: readonly string[], env = {}) => {
    const { code, stdout, stderr } = await at.run(['-p', '--verbose', ...args, 'hi'], env);
    assert.deepEqual([code, stdout], [0, 'Here.\n'], stderr);
    return TOLD.exec(stderr)?.[1];
  };
  assert.equal(await reasonOf([]), undefined);
  const insisted = await at.run(['-p', '--daemon', 'hi']);
  assert.deepEqual([insisted.code, insisted.stdout], [8, '']);
  assert.match(insisted.stderr, /^crab: --daemon cannot be obeyed: none is running\. \[daemon-failed\]/);
  const daemon = await at.start();
  assert.equal(await reasonOf([]), undefined);
  assert.equal((await at.run(['-p', '--daemon', 'hi'])).stderr, '');
  assert.equal(await reasonOf([], { TERM_PROGRAM: 'other', SHLVL: '7' }), undefined);
  const other = 'it was started with other values of';
  assert.equal(await reasonOf([], { DATABASE_URL: 'x' }), `${other} DATABASE_URL`);
  assert.equal(await reasonOf([], { ANTHROPIC_API_KEY: 'another' }), `${other} ANTHROPIC_API_KEY`);
  const forced = await at.run(['-p', '--daemon', 'hi'], { DATABASE_URL: 'x' });
  assert.equal(forced.stderr, `crab: the daemon’s own counts: ${other} DATABASE_URL\n`);
  await at.work.write('key', 'fake');
  assert.equal(await reasonOf(['--api-key-file', 'key']), '--api-key-file: the key stays in this process');
  await at.work.write('../home/.crab/config.toml', 'effort = "low"\n');
  const again = '; `crab daemon reload` reads them again';
  assert.equal(await reasonOf([]), `${other} ${at.work.home}/.crab/config.toml${again}`);
  await runCrab({ args: ['daemon', 'reload'], cwd: at.work.path, home: at.work.home });
  const login = { args: ['auth', 'login', 'openai'], cwd: at.work.path, home: at.work.home };
  assert.equal((await runCrab({ ...login, stdin: 'a-key-of-another-provider' })).code, 0);
  assert.equal(await reasonOf([]), `${other} ${at.work.home}/.crab/auth/auth.json${again}`);
  const both = await at.run(['-p', '--daemon', '--no-daemon', 'hi']);
  assert.equal(both.code, 2);
  // What a killed daemon leaves behind is nobody.
  await daemon.kill('SIGKILL');
  assert.equal(await reasonOf([]), 'none is running');
});

test('rules of the command line, of the person and of the project hold in the daemon', async () => {
  const config = '[permissions]\nallow = ["Bash(touch *)"]\n';
  await using at = await place(
    [touch, { text: 'So it is.' }, touch, { text: 'So it is.' }, touch, { text: 'So it is.' }],
    {
      '.crab/config.toml': config,
    },
  );
  await at.start();
  const made = () => existsSync(at.work.file('made'));
  const untrusted = await at.run(['-p', '--daemon', 'go']);
  assert.match(untrusted.stderr, /ignored 1 allow rule, because/);
  assert.equal(made(), false);
  const denied = await at.run(['-p', '--daemon', '--trust', '--disallowedTools', 'Bash', 'go']);
  assert.equal(made(), false, denied.stderr);
  const trusted = await at.run(['-p', '--daemon', '--trust', 'go']);
  assert.deepEqual([trusted.code, made()], [0, true], trusted.stderr);
});
