import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';
import { createTestFolder } from '../../../test/support/tool-folder.ts';
import { ToolFailure } from '../../core/errors.ts';
import { createExec } from './exec.ts';

const cwd = tmpdir();
const terminal = { columns: 80, rows: 24 } as const;
const never = new AbortController().signal;

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const bytes of stream) text += Buffer.from(bytes).toString();
  return text;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a program that lives on is written to, read from, and outlives a sweep', async () => {
  const { open, sweep } = createExec({ env: process.env, clock: realClock });
  const cat = await open({ argv: ['sh', '-c', 'echo up >&2; cat'], cwd }, never);
  await sweep();
  await cat.write('there and ');
  await cat.write('back');
  cat.end();
  assert.deepEqual(await Promise.all([textOf(cat.stdout), textOf(cat.stderr)]), ['there and back', 'up\n']);
  assert.deepEqual(await cat.ended, { exitCode: 0, signal: null });
  await assert.rejects(cat.write('more'), ToolFailure);
});

test('a program with a channel is told and tells beside its standard streams', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  const argv = ['sh', '-c', 'read line <&3; echo "heard $line" >&4; echo out'];
  const child = await open({ argv, cwd, channel: true }, never);
  await child.channel?.write('a word\n');
  assert.ok(child.channel !== undefined);
  assert.deepEqual(await Promise.all([textOf(child.channel.output), textOf(child.stdout)]), [
    'heard a word\n',
    'out\n',
  ]);
  assert.deepEqual(await child.ended, { exitCode: 0, signal: null });
  await assert.rejects(child.channel.write('more'), ToolFailure);
  const plain = await open({ argv: ['true'], cwd }, never);
  assert.equal(plain.channel, undefined);
  await plain.ended;
});

test('killed or aborted, nothing of its tree is left', async () => {
  const { open, killAll } = createExec({ env: process.env, clock: realClock });
  const argv = ['sh', '-c', 'trap "" TERM; setsid sleep 600 & echo $!; sleep 600; sleep 600'];
  for (const how of ['kill', 'abort', 'killAll'] as const) {
    const stop = new AbortController();
    const child = await open({ argv, cwd }, stop.signal);
    const [first] = await Array.fromAsync({
      async *[Symbol.asyncIterator]() {
        for await (const bytes of child.stdout) return yield Buffer.from(bytes).toString();
      },
    });
    if (how === 'kill') await child.kill();
    else if (how === 'abort') stop.abort();
    else killAll();
    await child.ended;
    // An orphan is dead before the system has taken notice of it.
    for (let tries = 0; tries < 500 && isAlive(Number(first)); tries++) await realClock.sleep(10);
    assert.deepEqual([isAlive(child.pid), isAlive(Number(first))], [false, false], how);
  }
});

test('a terminal is a terminal: it has a size, echoes, and is ended like any other program', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  const script = 'test -t 0 && test -t 1 && stty size; read -r line; stty size; echo "<$line>"; exit 3';
  const child = await open({ argv: ['sh', '-c', script], cwd, terminal }, never);
  const shown = textOf(child.stdout);
  child.resize(100, 30);
  await child.write('hi there\r');
  assert.deepEqual(await child.ended, { exitCode: 3, signal: null });
  const lines = (await shown).split('\r\n');
  assert.deepEqual(lines.slice(-3), ['30 100', '<hi there>', '']);
  assert.equal(await textOf(child.stderr), '');
  await assert.rejects(child.write('more'), ToolFailure);
});

test('a program on a terminal that does not listen to SIGTERM is gone after an abort', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  const stop = new AbortController();
  const argv = ['sh', '-c', 'trap "" TERM HUP; setsid sleep 600 & echo up; sleep 600; sleep 600'];
  const child = await open({ argv, cwd, terminal }, stop.signal);
  for await (const _ of child.stdout) break;
  stop.abort();
  assert.equal((await child.ended).exitCode, null);
  assert.equal(isAlive(child.pid), false);
});

test('a terminal in a folder that is gone is a failure', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  await assert.rejects(open({ argv: ['sh'], cwd: '/no/such/folder', terminal }, never), {
    name: 'ToolFailure',
    message: 'The working directory /no/such/folder does not exist.',
  });
});

for (const kind of ['pipe', 'terminal'] as const) {
  test(`a program whose output nobody pulls stops writing (${kind})`, async () => {
    const { open } = createExec({ env: process.env, clock: realClock });
    const on = kind === 'pipe' ? {} : { terminal };
    const child = await open({ argv: ['yes', 'x'.repeat(1000)], cwd, ...on }, never);
    const written = async () => /^wchar: (\d+)$/m.exec(await readFile(`/proc/${child.pid}/io`, 'utf8'))?.[1];
    let same = 0;
    for (let before = '', tries = 0; same < 5 && tries < 500; tries++) {
      await realClock.sleep(20);
      const now = (await written()) ?? '0';
      same = now === before && now !== '0' ? same + 1 : 0;
      before = now;
    }
    assert.equal(same, 5);
    assert.ok(Number(await written()) < 2 * 1024 * 1024);
    await child.kill();
    assert.ok((await textOf(child.stdout)).startsWith('xxx'));
  });
}

test('who left its tree and holds the pipe keeps no reader waiting', async () => {
  await using folder = await createTestFolder();
  const { open } = createExec({ env: process.env, clock: realClock });
  // Without its environment, its session and its parents nothing is left to find it by.
  const leave = 'env -i setsid sh -c "echo \\$\\$; echo >left; exec sleep 600" & read -r _ <left; exit 0';
  const child = await open({ argv: ['sh', '-c', `mkfifo left; (${leave})`], cwd: folder.path }, never);
  await child.ended;
  const pid = Number(await textOf(child.stdout));
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  assert.ok(pid > 0);
});

test('what cannot be started is a failure that says why', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  await assert.rejects(open({ argv: ['no-such-program'], cwd }, never), {
    name: 'ToolFailure',
    message: 'The program no-such-program was not found in PATH.',
  });
});

test('what was printed before the end is read to the last byte, however slow the reader is', async () => {
  const { open } = createExec({ env: process.env, clock: realClock });
  const child = await open({ argv: ['seq', '1', '100000'], cwd }, never);
  let bytes = 0;
  for await (const piece of child.stdout) {
    bytes += piece.length;
    await realClock.sleep(40);
  }
  assert.equal(bytes, 588_895);
  await child.ended;
});
