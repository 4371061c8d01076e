import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bounds, Clock, ExecResult } from '../../core/host.ts';
import { createExec } from './exec.ts';
import { memoryOf } from './process-rows.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

const never = new AbortController().signal;
const exec = createExec({ env: process.env, clock });

const run = (script: string, bounds?: Bounds): Promise<ExecResult> =>
  exec(
    {
      argv: ['bash', '--noprofile', '--norc', '-c', script],
      cwd: tmpdir(),
      timeoutMs: 60_000,
      ...(bounds !== undefined && { bounds }),
    },
    never,
  );

/** MiB that are really there, as long as the sleeper lives. */
const hold = (mib: number, seconds: number) => `perl -e '$held = "x" x (${mib} << 20); sleep ${seconds}'`;

let brands = 0;
const brand = () => `crab-bounds-${process.pid}-${++brands}`;

function living(word: string): number {
  const isOne = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOne(name)).length;
}

suite('what a tree may take', { skip: process.platform !== 'linux' }, () => {
  test('a tree whose parts are small and whose sum is not is ended, and says how much it was', async () => {
    const word = brand();
    const part = `bash -c '${hold(60, 60).replaceAll("'", `'\\''`)}' ${word}`;
    const { exceeded, signal, timedOut, stdout } = await run(
      `echo up; ${part} & setsid ${part} & ( ( setsid ${part} & ) & ); ${part}`,
      { memoryMib: 128 },
    );
    assert.match(
      exceeded ?? '',
      /^It was ended: it used \d+ MiB of memory, and 128 MiB is the limit \(max_memory_mib\)\.$/,
    );
    assert.deepEqual(
      { signal, timedOut, text: stdout.text },
      { signal: 'SIGKILL', timedOut: false, text: 'up\n' },
    );
    assert.equal(living(word), 0);
  });

  test('what is shared counts once, and what is read from files does not', async () => {
    const forked = `perl -e '$held = "x" x (40 << 20); fork for 1 .. 3; sleep 2; 1 while wait > 0'`;
    const mapped = `python3 -c 'import mmap, time
with open("/proc/self/exe", "rb") as file: pass
import tempfile
with tempfile.TemporaryFile() as file:
    file.truncate(300 << 20)
    view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(view[at] for at in range(0, len(view), 4096))
    time.sleep(1)'`;
    for (const script of [forked, mapped]) {
      const { exceeded, exitCode } = await run(script, { memoryMib: 128 });
      assert.deepEqual({ exceeded, exitCode }, { exceeded: undefined, exitCode: 0 }, script);
    }
  });

  test('who has ended since it was counted takes nothing', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    assert.ok((memoryOf(child.pid ?? 0) ?? 0) > 0);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    assert.equal(memoryOf(child.pid ?? 0), 0);
  });

  test('what multiplies is ended, in one group or each in a session of its own', async () => {
    for (const away of ['', 'setsid ']) {
      const word = brand();
      // Of its own it would end at 512.
      const { exceeded, timedOut } = await run(
        `export away='${away}' bomb='[ $1 -gt 8 ] || { $away bash -c "$bomb" ${word} $(($1 + 1)) & $away bash -c "$bomb" ${word} $(($1 + 1)) & }; sleep 20'
        exec bash -c "$bomb" ${word} 1`,
        { processes: 60 },
      );
      assert.match(
        exceeded ?? '',
        /^It was ended: it had \d+ processes and threads, and 60 is the limit \(max_processes\)\.$/,
      );
      assert.equal(timedOut, false);
      assert.equal(living(word), 0);
    }
  });

  test('who stays within bounds is left alone, beside one who does not', async () => {
    const [inside, outside] = await Promise.all([
      run(`${hold(20, 2)}; echo done`, { memoryMib: 200, processes: 50 }),
      run(hold(300, 60), { memoryMib: 200, processes: 50 }),
    ]);
    assert.deepEqual([inside.exitCode, inside.stdout.text], [0, 'done\n']);
    assert.match(outside.exceeded ?? '', /200 MiB is the limit/);
  });

  test('a program that lives on says it in its output', async () => {
    for (const terminal of [undefined, { columns: 80, rows: 24 }]) {
      // Of a length that it learns of while it runs: of another it would make the whole before it prints anything.
      const argv = ['perl', '-e', '$| = 1; print "up\\n"; $held = "x" x (shift() << 20); sleep 60', '200'];
      const bounds = { memoryMib: 100 };
      const request = { argv, cwd: '/', bounds, ...(terminal !== undefined && { terminal }) };
      const running = await exec.open(request, never);
      const pieces: string[] = [];
      for (const stream of [running.stdout, running.stderr])
        for await (const piece of stream) pieces.push(new TextDecoder().decode(piece));
      const { exceeded, signal } = await running.ended;
      assert.match(pieces.join(''), /^up\s+\[It was ended: it used \d+ MiB of memory.*\]\n$/);
      assert.match(exceeded ?? '', /100 MiB is the limit/);
      assert.equal(signal, 'SIGKILL');
    }
  });
});
