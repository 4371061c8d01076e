import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure } from '../../core/errors.ts';
import type { Clock, ExecRequest, ExecResult } from '../../core/host.ts';
import { createSecrets } from '../../core/redact.ts';
import { createExec } from './exec.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

const never = new AbortController().signal;
const exec = createExec({ env: process.env, clock });

function run(command: string, options: Partial<ExecRequest> = {}): Promise<ExecResult> {
  return exec({ argv: ['bash', '--noprofile', '--norc', '-c', command], cwd: tmpdir(), ...options }, never);
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'crab-exec-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function spillAndAbort(spillTo: string): Promise<void> {
  const abort = new AbortController();
  let last = '';
  const request: ExecRequest = {
    argv: ['bash', '-c', 'seq 1 50000; exec sleep 60'],
    cwd: tmpdir(),
    spillTo,
    onOutput: (text) => {
      last = (last + text).slice(-7);
      if (last === '\n50000\n') abort.abort(new Error('seen'));
    },
  };
  await assert.rejects(exec(request, abort.signal), { message: 'seen' });
  assert.equal((await stat(spillTo)).size, 288_894);
}

const EMPTY = { text: '', bytes: 0, lines: 0, truncated: false };

test('a result is the output, the exit code and the time', async () => {
  const { durationMs, ...result } = await run('echo out; exit 3');
  const stdout = { text: 'out\n', bytes: 4, lines: 1, truncated: false };
  assert.deepEqual(result, { exitCode: 3, signal: null, timedOut: false, stdout, stderr: EMPTY });
  assert.ok(durationMs > 0);
});

test('streams come together, or apart when asked', async () => {
  const together = await run('echo out; echo err >&2');
  assert.deepEqual(together.stdout.text.split('\n').sort(), ['', 'err', 'out']);
  const apart = await run('echo out; echo err >&2', { separate: true });
  assert.deepEqual([apart.stdout.text, apart.stderr.text], ['out\n', 'err\n']);
});

test('streams kept apart spill to files of their own', async () => {
  await using place = await folder();
  const spillTo = join(place.path, 'out');
  const keep = { head: 1, tail: 1 };
  const result = await run('echo output; echo errors >&2', { separate: true, spillTo, keep });
  assert.deepEqual([result.stdout.spilledTo, result.stderr.spilledTo], [spillTo, `${spillTo}.stderr`]);
});

test('the signal that ended a program is named', async () => {
  const { exitCode, signal } = await run('kill -SEGV $$');
  assert.deepEqual({ exitCode, signal }, { exitCode: null, signal: 'SIGSEGV' });
});

test('output arrives while the program runs, as plain text', async () => {
  const abort = new AbortController();
  const seen: string[] = [];
  const request: ExecRequest = {
    argv: ['bash', '-c', 'printf "\\e[31mready\\e[0m\\r\\n"; exec sleep 60'],
    cwd: tmpdir(),
    onOutput: (text) => {
      seen.push(text);
      abort.abort(new Error('seen'));
    },
  };
  await assert.rejects(exec(request, abort.signal), { message: 'seen' });
  assert.deepEqual(seen, ['ready\n']);
});

test('standard input is empty unless given, and need not be read', async () => {
  assert.equal((await run('cat; echo end')).stdout.text, 'end\n');
  assert.equal((await run('cat', { stdin: 'given ä' })).stdout.text, 'given ä');
  assert.equal((await run('exec true', { stdin: new Uint8Array(1024 * 1024) })).exitCode, 0);
});

test('there is no terminal to ask on', { skip: process.platform === 'win32' }, async () => {
  const { exitCode, stdout } = await run('tty; read -r line < /dev/tty');
  assert.equal(exitCode, 1);
  assert.match(
    stdout.text,
    /not a tty[\s\S]*\/dev\/tty: No such device|not a tty[\s\S]*\/dev\/tty: Device not configured/,
  );
});

test('keys of providers stay with the host; a call can add and remove variables', async () => {
  const own = createExec({
    env: { PATH: process.env['PATH'], KEPT: 'k', GONE: 'g', OPENAI_API_KEY: 's3cret' },
    clock,
  });
  const request = { argv: ['env'], cwd: tmpdir(), env: { ADDED: 'a', GONE: undefined } };
  const text = (await own(request, never)).stdout.text;
  assert.doesNotMatch(text, /s3cret|GONE/);
  assert.match(text, /^KEPT=k$/m);
  assert.match(text, /^ADDED=a$/m);
  assert.match(text, /^CRAB=1$/m);
});

test('an aborted signal starts nothing', async () => {
  const reason = new Error('stop');
  const request = { argv: ['/nonexistent'], cwd: '/' };
  await assert.rejects(exec(request, AbortSignal.abort(reason)), reason);
});

test('what cannot be started is said in plain words', async () => {
  await using place = await folder();
  const file = join(place.path, 'file');
  const script = join(place.path, 'script');
  await writeFile(file, 'text');
  await writeFile(script, '#!/nonexistent/interpreter\n', { mode: 0o755 });
  const gone = join(place.path, 'gone');
  const cases: readonly (readonly [ExecRequest, RegExp])[] = [
    [{ argv: [], cwd: '/' }, /^There is no program to run\.$/],
    [
      { argv: ['no-such-program-here'], cwd: '/' },
      /^The program no-such-program-here was not found in PATH\.$/,
    ],
    [{ argv: [gone], cwd: '/' }, /^The program .*\/gone does not exist\.$/],
    [{ argv: [file], cwd: '/' }, /file cannot be run: it is a folder, or not executable\.$/],
    [
      { argv: [script], cwd: '/' },
      /script exists, but the interpreter that its first line names does not\.$/,
    ],
    [{ argv: ['true'], cwd: gone }, /^The working directory .*\/gone does not exist\.$/],
    [{ argv: ['true'], cwd: file }, /^The working directory .*\/file is not a folder\.$/],
    [{ argv: ['true'], cwd: join(file, 'x') }, /lies under something that is not a folder\.$/],
    [{ argv: ['echo', 'a\0b'], cwd: '/' }, /NUL/],
    [{ argv: ['true'], cwd: '/\0' }, /NUL/],
    [
      { argv: ['true'], cwd: '/', env: { A: '\0' } },
      /^The environment variable "A" contains a NUL character\.$/,
    ],
    [
      { argv: ['true', 'x'.repeat(4 << 20)], cwd: '/' },
      /^The command is too long for this system \(4194308 bytes\)/,
    ],
    [{ argv: ['true'], cwd: '/', env: { A: 'x'.repeat(3 << 20) } }, /too long for this system/],
  ];
  for (const [request, message] of cases) {
    await assert.rejects(exec(request, never), (error) => {
      assert.ok(error instanceof ToolFailure);
      assert.match(error.message, message);
      return true;
    });
  }
});

test('a folder that may not be entered is named', { skip: process.getuid?.() !== 0 }, async () => {
  await using place = await folder();
  await chmod(place.path, 0o755);
  const closed = join(place.path, 'closed');
  await mkdir(closed, { mode: 0o700 });
  process.setegid?.(65534);
  process.seteuid?.(65534);
  try {
    const message = `The working directory ${closed} cannot be entered: permission denied.`;
    await assert.rejects(exec({ argv: ['/bin/true'], cwd: closed }, never), { message });
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
});

test('a folder that is deleted while a command runs harms only that command', async () => {
  await using place = await folder();
  const inside = join(place.path, 'inside');
  await mkdir(inside);
  assert.equal((await run('rm -r "$PWD"; echo still', { cwd: inside })).stdout.text, 'still\n');
  await assert.rejects(run('true', { cwd: inside }), ToolFailure);
});

test('failed starts and finished calls leave no file descriptor open', {
  skip: process.platform !== 'linux',
}, async () => {
  await using place = await folder();
  const count = async () => (await readdir('/proc/self/fd')).length;
  await run('true');
  await exec({ argv: ['no-such-program-here'], cwd: '/' }, never).catch(() => {});
  const before = await count();
  for (let round = 0; round < 20; round++) {
    await run('echo x; sleep 9 & true');
    await spillAndAbort(join(place.path, String(round)));
    await exec({ argv: ['no-such-program-here'], cwd: '/' }, never).catch(() => {});
  }
  for (let tries = 0; (await count()) > before && tries < 1000; tries++) await sleep(10);
  assert.ok((await count()) <= before);
});

test('what a finished command still writes through a filter is read', async () => {
  const { stdout } = await run('exec > >(tee /dev/null) 2>&1; seq 1 20000');
  assert.equal(stdout.lines, 20_000);
});

test('nothing is lost of what was written just before the end', async () => {
  for (let round = 0; round < 20; round++) {
    const { stdout } = await run('sleep 5 & seq 1 30000');
    assert.equal(stdout.lines, 30_000);
  }
});

test('200 MB, and a line of 100 MB, take bounded memory and are counted to the byte', async () => {
  await using place = await folder();
  const before = process.memoryUsage().rss;
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 5);
  try {
    const many = await run('yes | head -c 200000000', { spillTo: join(place.path, 'many') });
    assert.deepEqual([many.stdout.bytes, many.stdout.lines], [200_000_000, 100_000_000]);
    const line = await run('head -c 100000000 /dev/zero | tr "\\0" x', { spillTo: join(place.path, 'line') });
    assert.deepEqual([line.stdout.bytes, line.stdout.lines], [100_000_000, 1]);
    const binary = await run('head -c 20000000 /dev/urandom');
    assert.equal(binary.stdout.bytes, 20_000_000);
    assert.ok(binary.stdout.text.isWellFormed());
    assert.ok(Buffer.byteLength(binary.stdout.text) < 33 * 1024);
  } finally {
    clearInterval(watch);
  }
  assert.equal((await stat(join(place.path, 'many'))).size, 64 * 1024 * 1024);
  assert.ok(peak - before < 64 * 1024 * 1024, `${peak - before} bytes more`);
});

test('an endless writer is stopped by its timeout', async () => {
  const result = await run('yes', { timeoutMs: 1500 });
  assert.deepEqual([result.timedOut, result.exitCode, result.signal], [true, null, 'SIGTERM']);
  assert.match(result.stdout.text, /^y\ny\n[\s\S]*left out here\]\n/);
});

test('a secret is taken out of all output, shown, kept and spilled, also where a pipe cuts it in two', async () => {
  await using at = await folder();
  const secrets = createSecrets();
  secrets.add(['the-secret-of-this-test']);
  const filtered = createExec({ env: process.env, clock, filter: secrets.filter });
  const spillTo = join(at.path, 'spilled.txt');
  let seen = '';
  const command =
    'for i in $(seq 5000); do printf the-secret-; printf of-this-test; done; sleep 0.1; printf the-sec; sleep 0.1; printf ret-of-this-test; echo the-secret-of-this-test >&2';
  const request: ExecRequest = {
    argv: ['bash', '-c', command],
    cwd: tmpdir(),
    spillTo,
    onOutput: (text) => {
      seen += text;
    },
  };
  const { stdout } = await filtered(request, never);
  assert.equal(stdout.spilledTo, spillTo);
  const kept = await readFile(spillTo, 'utf8');
  // The two streams come in any order.
  assert.equal(kept.replace('\n', '').replaceAll('[redacted]', '.'), '.'.repeat(5002));
  assert.equal(seen, kept);
  assert.doesNotMatch(stdout.text, /secret/);
});

test('a program that is run to be told a secret is heard as it is', async () => {
  const secrets = createSecrets();
  secrets.add(['the-secret-of-this-test']);
  const { unfiltered } = createExec({ env: process.env, clock, filter: secrets.filter });
  const { stdout } = await unfiltered({ argv: ['echo', 'the-secret-of-this-test'], cwd: tmpdir() }, never);
  assert.equal(stdout.text, 'the-secret-of-this-test\n');
});
