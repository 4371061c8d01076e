import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { passLimit } from '../../../test/support/time-limit.ts';
import type { Clock, ExecRequest, ExecResult } from '../../core/host.ts';
import { createExec } from './exec.ts';

const linux = { skip: process.platform !== 'linux' };

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

const never = new AbortController().signal;
const exec = createExec({ env: process.env, clock });

/** Sleepers are told apart by how long they want to sleep. */
let next = process.pid * 1000;
const sleeper = () => String(next++);

function living(argument: string): number {
  let count = 0;
  for (const pid of readdirSync('/proc')) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(argument)) count++;
    } catch {}
  }
  return count;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 2000, what);
    await sleep(5);
  }
}

const appears = (argument: string) => until(() => living(argument) > 0, `no process sleeps for ${argument}`);

const request = (command: string, options: Partial<ExecRequest> = {}): ExecRequest => ({
  argv: ['bash', '--noprofile', '--norc', '-c', command],
  cwd: tmpdir(),
  ...options,
});

const LIMIT_MS = 60_000;

/** Its time is over as soon as something sleeps for `argument`. */
function timedOutAt(argument: string, command: string): Promise<ExecResult> {
  const call = () => exec(request(command, { timeoutMs: LIMIT_MS }), never);
  return passLimit(call, { ready: appears(argument), ms: LIMIT_MS });
}

const ESCAPES: readonly (readonly [string, (n: string) => string])[] = [
  ['a background child', (n) => `sleep ${n} &`],
  ['a background child with other output', (n) => `sleep ${n} >/dev/null 2>&1 &`],
  ['nohup', (n) => `nohup sleep ${n} >/dev/null 2>&1 &`],
  ['a session of its own', (n) => `setsid sleep ${n} &`],
  ['a session of its own with other output', (n) => `setsid sleep ${n} >/dev/null 2>&1 &`],
  ['a double fork', (n) => `( ( setsid sleep ${n} & ) & )`],
  ['a double fork with closed streams', (n) => `( ( setsid sleep ${n} <&- >&- 2>&- & ) & )`],
  ['a job of its own', (n) => `set -m; sleep ${n} & set +m`],
  ['a child that ignores SIGTERM', (n) => `( trap '' TERM; sleep ${n}; sleep ${n} ) &`],
  ['a stopped child', (n) => `sleep ${n} & while grep -q ^bash /proc/$!/cmdline; do :; done; kill -STOP $!`],
  ['an empty environment', (n) => `env -i sleep ${n} &`],
  [
    'who ignores SIGTERM without environment, when its parent has obeyed',
    (n) =>
      `setsid bash -c 'env -i bash -c "trap : TERM; sleep ${n}; sleep ${n}; sleep ${n}" & wait' 2>/dev/null &`,
  ],
];

for (const [name, started] of ESCAPES) {
  test(`${name} does not outlive the call and the sweep`, linux, async () => {
    const own = createExec({ env: process.env, clock });
    const n = sleeper();
    const result = await own(request(`${started(n)}\necho done`), never);
    assert.deepEqual([result.stdout.text, result.exitCode], ['done\n', 0]);
    await own.sweep();
    assert.equal(living(n), 0);
  });

  test(`${name} does not outlive an abort`, linux, async () => {
    const n = sleeper();
    const abort = new AbortController();
    const call = exec(request(`${started(n)}\nsleep 60 & wait`), abort.signal);
    const reason = new Error('enough');
    await appears(n).finally(() => abort.abort(reason));
    await assert.rejects(call, reason);
    assert.equal(living(n), 0);
  });

  test(`${name} does not outlive a timeout`, linux, async () => {
    const n = sleeper();
    const result = await timedOutAt(n, `${started(n)}\nsleep 60 & wait`);
    assert.equal(result.timedOut, true);
    assert.equal(living(n), 0);
  });
}

test('a main process that ignores SIGTERM is killed', linux, async () => {
  const n = sleeper();
  const result = await timedOutAt(n, `trap '' TERM; sleep ${n}; sleep ${n}`);
  assert.deepEqual([result.timedOut, result.signal, living(n)], [true, 'SIGKILL', 0]);
});

test('a program may end in its own way when it is asked to', linux, async () => {
  const n = sleeper();
  const result = await timedOutAt(n, `trap 'echo bye; exit 7' TERM; echo up; sleep ${n} & wait`);
  assert.deepEqual([result.timedOut, result.exitCode, result.stdout.text], [true, 7, 'up\nbye\n']);
});

test('a child without environment that left the session dies with its parents', linux, async () => {
  const n = sleeper();
  const abort = new AbortController();
  const call = exec(request(`env -i setsid sleep ${n} & wait`), abort.signal);
  await appears(n).finally(() => abort.abort());
  await assert.rejects(call, { name: 'AbortError' });
  assert.equal(living(n), 0);
});

test('a sweep spares calls that still run, and other hosts', linux, async () => {
  const [n, other] = [sleeper(), sleeper()];
  const abort = new AbortController();
  const own = createExec({ env: process.env, clock });
  const calls = [own(request(`sleep ${n}`), abort.signal), exec(request(`sleep ${other}`), abort.signal)];
  await Promise.all([appears(n), appears(other)]);
  await own(request('true'), never);
  await own.sweep();
  assert.deepEqual([living(n), living(other)], [1, 1]);
  abort.abort();
  await Promise.allSettled(calls);
  assert.deepEqual([living(n), living(other)], [0, 0]);
});

test('what a call leaves behind after a sweep is found by the next one', linux, async () => {
  const n = sleeper();
  const own = createExec({ env: process.env, clock });
  const fifo = `/tmp/crab-tree-${n}`;
  const call = own(
    request(
      `mkfifo ${fifo}; read -r < ${fifo}; rm ${fifo}; set -m; sleep ${n} >/dev/null 2>&1 & disown; exit`,
    ),
    never,
  );
  await own.sweep();
  await own({ argv: ['sh', '-c', `until [ -p ${fifo} ]; do :; done; echo go > ${fifo}`], cwd: '/' }, never);
  await own.sweep();
  await call;
  await own.sweep();
  assert.equal(living(n), 0);
});

test('an agent inside an agent is found from the outside', linux, async () => {
  const n = sleeper();
  const script = `
    import { createExec } from ${JSON.stringify(import.meta.resolve('./exec.ts'))};
    const clock = { now: Date.now, monotonic: () => performance.now(), sleep: (ms) => new Promise((r) => setTimeout(r, ms)) };
    process.on('SIGTERM', () => {});
    const exec = createExec({ env: process.env, clock });
    await exec({ argv: ['sleep', '${n}'], cwd: '/' }, new AbortController().signal);`;
  const abort = new AbortController();
  const call = exec(
    { argv: [process.execPath, '--input-type=module', '-e', script], cwd: '/' },
    abort.signal,
  );
  await appears(n).finally(() => abort.abort());
  await assert.rejects(call);
  assert.equal(living(n), 0);
});

test('killAll leaves nothing when the host ends', linux, async () => {
  const [n, stray] = [sleeper(), sleeper()];
  const script = `
    import { createExec } from ${JSON.stringify(import.meta.resolve('./exec.ts'))};
    const clock = { now: Date.now, monotonic: () => performance.now(), sleep: (ms) => new Promise((r) => setTimeout(r, ms)) };
    const exec = createExec({ env: process.env, clock });
    process.on('exit', () => exec.killAll());
    process.on('SIGTERM', () => process.exit(143));
    const never = new AbortController().signal;
    await exec({ argv: ['bash', '-c', 'read -r < <(setsid sh -c "echo; exec sleep ${stray} >/dev/null 2>&1")'], cwd: '/' }, never);
    await exec({ argv: ['bash', '-c', 'setsid sleep ${n} & wait'], cwd: '/' }, never);`;
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  const ended = new Promise((resolve) => host.once('exit', resolve));
  await appears(n);
  host.kill('SIGTERM');
  assert.equal(await ended, 143);
  await until(() => living(n) + living(stray) === 0, 'they live on');
});
