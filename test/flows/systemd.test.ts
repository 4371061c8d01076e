// The daemon as a service: with sockets that were bound for it, telling how it goes, and with unit files that start it. A small
// program plays systemd; the word is sent by systemd's own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, testedCommand } from '../support/crab.ts';
import { type Journey, journey } from '../support/journey.ts';

const SYSTEMD = fileURLToPath(new URL('../support/systemd.py', import.meta.url));

interface Service extends AsyncDisposable {
  /** Everything up to the first line that has this, which is its value. */
  until(name: string, value?: RegExp): Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
}

function service(at: Journey, args: readonly string[], command: readonly string[]): Service {
  const child = spawn('python3', [SYSTEMD, ...args, '--', ...command], {
    cwd: at.work.path,
    env: { ...cleanEnv(at.work.home), ...at.provider.env('anthropic') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let pid: number | undefined;
  return {
    async until(name, value = /^/) {
      for (;;) {
        const { value: line, done } = await lines.next();
        if (done === true) throw new Error(`it ended before ${name} ${value}`);
        const said = JSON.parse(line);
        pid ??= said.pid;
        if (name in said && value.test(String(said[name]))) return said[name];
      }
    },
    kill: (signal) => void child.stdin.write(`${signal}\n`),
    async [Symbol.asyncDispose]() {
      if (pid !== undefined && child.exitCode === null)
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      child.kill('SIGKILL');
    },
  };
}

const run = (...flags: readonly string[]) => [...testedCommand(), 'daemon', 'run', ...flags];

test('sockets that were handed over are served, and stay; the word comes on a path', async () => {
  await using at = await journey('anthropic', {
    script: [{ calls: [{ name: 'bash', input: { command: 'env' } }] }, { text: 'Here.' }],
  });
  const folder = join(at.work.home, '.crab', 'run');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await at.work.write(
    '../home/.crab/config.toml',
    '[permissions]\nallow = ["Bash(env)"]\n[sandbox]\nmode = "off"\n',
  );
  const notify = join(at.work.home, 'notify');
  const sockets = [`tcp=0`, `daemon=${folder}/daemon.sock`, `json=${folder}/daemon-json.sock`];
  await using systemd = service(at, [notify, ...sockets], run());
  const [port] = (await systemd.until('ports')) as readonly number[];
  // Who comes before it listens waits, and is not turned away.
  const waiting = at.run([
    'rpc',
    'send',
    JSON.stringify({ agent: 'crab', content: 'hi', cwd: at.work.path }),
  ]);
  await systemd.until('notified', /^READY=1$/);
  assert.equal(JSON.parse((await waiting).stdout).content, 'Here.');
  assert.equal((await readFile(join(folder, 'daemon.port'), 'utf8')).trim(), String(port));
  const told = JSON.stringify(at.provider.requests.at(-1)?.body);
  assert.match(told, /HOME=/);
  assert.doesNotMatch(
    told,
    /LISTEN_FDS|LISTEN_PID|NOTIFY_SOCKET/,
    'what it starts is no part of the service',
  );
  systemd.kill('SIGHUP');
  await systemd.until('notified', /^RELOADING=1$/);
  assert.match(String(await systemd.until('notified', /^MONOTONIC_USEC=/)), /=\d{7,}$/);
  await systemd.until('notified', /^READY=1$/);
  systemd.kill('SIGTERM');
  await systemd.until('notified', /^STOPPING=1$/);
  assert.equal(await systemd.until('ended'), 0);
  // They belong to systemd: whoever connects next starts the service again.
  assert.ok(existsSync(join(folder, 'daemon.sock')));
  await new Promise<void>((resolve, reject) =>
    connect(join(folder, 'daemon.sock'), resolve).on('error', reject).unref(),
  );
});

test('the word comes on an abstract address, and a socket of an unknown name is refused', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'x' }] });
  const folder = join(at.work.home, '.crab', 'run');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const abstract = `@crab-${process.pid}-${Date.now().toString(36)}`;
  await using systemd = service(at, [abstract], run('--no-tcp'));
  await systemd.until('notified', /^READY=1$/);
  systemd.kill('SIGTERM');
  assert.equal(await systemd.until('ended'), 0);
  const sockets = [`daemon=${folder}/daemon.sock`, `other=${folder}/other.sock`];
  await using wrong = service(at, [join(at.work.home, 'n'), ...sockets], run('--no-tcp'));
  assert.equal(await wrong.until('ended'), 8);
});

test('unit files name what is installed, however it was called', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'x' }] });
  const [file = '', ...script] = testedCommand();
  // As npm links it.
  const link = join(at.work.home, 'crab 100%');
  await symlink(script[0] ?? file, link);
  const { stdout } = await at.run(['daemon', 'unit'], { bin: script.length > 0 ? link : file });
  const home = join(at.work.home, '.crab');
  assert.match(stdout, /^Type=notify\n[\s\S]*^NotifyAccess=all$/m);
  assert.ok(stdout.includes(`\nExecStart=${[file, ...script, 'daemon', 'run'].join(' ')}\n`), stdout);
  assert.ok(!stdout.includes('CRAB_HOME'));
  const elsewhere = await at.run(['daemon', 'unit'], { env: { CRAB_HOME: '/srv/my crab/100%' } });
  assert.ok(elsewhere.stdout.includes('\nEnvironment="CRAB_HOME=/srv/my crab/100%%"\n'), elsewhere.stdout);
  const socket = await at.run(['daemon', 'unit', '--socket']);
  assert.ok(socket.stdout.includes(`\nListenStream=${home}/run/daemon.sock\nFileDescriptorName=daemon\n`));
});
