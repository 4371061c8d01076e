// A process is killed that can end nothing itself, and everything that it has started is gone within a moment.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const linux = { skip: process.platform !== 'linux' };

/** Sleepers are told apart by how long they want to sleep. */
let next = process.pid * 1000;
const sleeper = () => String(next++);

function living(...words: readonly string[]): number {
  const isOne = (pid: string) => {
    try {
      const found = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      return words.some((word) => found.includes(word));
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOne(name)).length;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 2000, what);
    await sleep(10);
  }
}

interface HostOptions {
  /** Bash, of a command that is run to its end. */
  readonly script: string;
  readonly more?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A process that runs a command and is never asked to end. */
function host({ script, more = '', env = {} }: HostOptions) {
  const program = `
    import { createExec } from ${JSON.stringify(import.meta.resolve('./exec.ts'))};
    const clock = { now: Date.now, monotonic: () => performance.now(), sleep: (ms) => new Promise((r) => setTimeout(r, ms)) };
    const exec = createExec({ env: process.env, clock });
    const never = new AbortController().signal;
    ${more}
    await exec({ argv: ['bash', '-c', process.env.SCRIPT], cwd: '/' }, never);`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: 'ignore',
    env: { ...process.env, SCRIPT: script, ...env },
  });
}

const WAYS: readonly (readonly [string, (n: string) => string])[] = [
  ['a command', (n) => `exec sleep ${n}`],
  ['who ignores every signal that can be', (n) => `trap '' HUP INT TERM; sleep ${n}; sleep ${n}`],
  ['a session of its own', (n) => `setsid sleep ${n} & wait`],
  ['a double fork with closed streams', (n) => `( ( setsid sleep ${n} <&- >&- 2>&- & ) & ); sleep 60`],
  ['an empty environment', (n) => `env -i sleep ${n} & wait`],
  ['an empty environment in a session of its own', (n) => `env -i setsid sleep ${n} & wait`],
  ['a stopped child', (n) => `bash -c 'kill -STOP $$; :' & sleep ${n}`],
];

suite('when the host is killed', linux, () => {
  test('nothing of what it runs lives on', async () => {
    const ways = WAYS.map(([name, script]) => ({ name, n: sleeper(), script }));
    const hosts = ways.map(({ n, script }) => ({ process: host({ script: script(n) }), n }));
    await Promise.all(ways.map(({ name, n }) => until(() => living(n) > 0, `${name} did not start`)));
    for (const { process } of hosts) process.kill('SIGKILL');
    for (const { name, n } of ways) await until(() => living(n) === 0, `${name} lives on`);
  });

  test('nor what lives on behind calls, on pipes and on a terminal', async () => {
    const [pipes, terminal] = [sleeper(), sleeper()];
    const argv = (n: string) => JSON.stringify(['bash', '-c', `trap '' HUP TERM; sleep ${n}; sleep ${n}`]);
    const process = host({
      script: 'sleep 60',
      more: `await exec.open({ argv: ${argv(pipes)}, cwd: '/' }, never);
      await exec.open({ argv: ${argv(terminal)}, cwd: '/', terminal: { columns: 80, rows: 24 } }, never);`,
    });
    await until(() => living(pipes) > 0 && living(terminal) > 0, 'they did not start');
    process.kill('SIGKILL');
    await until(() => living(pipes, terminal) === 0, 'they live on');
  });

  test('a host beside it and its programs are left alone', async () => {
    const [mine, others] = [sleeper(), sleeper()];
    const [killed, other] = [host({ script: `sleep ${mine}` }), host({ script: `sleep ${others}` })];
    await until(() => living(mine) > 0 && living(others) > 0, 'they did not start');
    killed.kill('SIGKILL');
    await until(() => living(mine) === 0, 'it lives on');
    assert.equal(living(others), 1);
    const ended = once(other, 'exit');
    other.kill('SIGKILL');
    await ended;
    await until(() => living(others) === 0, 'the other one lives on');
  });

  test('what a command left behind that is over is ended, and so is what came after a sweep', async () => {
    const [before, after] = [sleeper(), sleeper()];
    // It is waited for until it has left the call's session: before, it would end with the call.
    const left = (n: string) =>
      JSON.stringify(['bash', '-c', `read -r < <(setsid sh -c 'echo; exec sleep ${n} >/dev/null 2>&1')`]);
    const killed = host({
      script: 'sleep 60',
      more: `await exec({ argv: ${left(before)}, cwd: '/' }, never);
      await exec.sweep();
      await exec({ argv: ${left(after)}, cwd: '/' }, never);`,
    });
    await until(() => living(after) > 0, 'it did not start');
    assert.equal(living(before), 0);
    killed.kill('SIGKILL');
    await until(() => living(after) === 0, 'it lives on');
  });

  test('without the reaper it would live on', async () => {
    const n = sleeper();
    const killed = host({
      script: `sleep ${n}`,
      more: `const { Reaper } = await import(${JSON.stringify(import.meta.resolve('./reaper.ts'))});
      Reaper.prototype.begin = () => {};`,
    });
    await until(() => living(n) > 0, 'it did not start');
    const ended = once(killed, 'exit');
    killed.kill('SIGKILL');
    await ended;
    try {
      await sleep(300);
      assert.equal(living(n), 1);
    } finally {
      const { endStraysOf } = await import('./strays.ts');
      endStraysOf(killed.pid ?? 0);
    }
  });
});

test('a host that ends by itself leaves no reaper behind', linux, async () => {
  const { pid, ...ended } = await new Promise<{ pid: number | undefined; code: number | null }>((resolve) => {
    const process = host({ script: 'exit 0' });
    process.once('exit', (code) => resolve({ pid: process.pid, code }));
  });
  assert.deepEqual(ended, { code: 0 });
  await until(
    () =>
      !readdirSync('/proc').some((name) => {
        try {
          const words = readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0');
          return words.includes('crab-reaper') && words.some((word) => word.startsWith(`${pid}.`));
        } catch {
          return false;
        }
      }),
    'the reaper lives on',
  );
});
