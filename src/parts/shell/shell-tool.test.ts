import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { passLimit } from '../../../test/support/time-limit.ts';
import { toolContext } from '../../../test/support/tool-context.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { Clock, Exec, Files } from '../../core/host.ts';
import { MAX_RESULT_BYTES, MAX_RESULT_LINES } from '../../core/limits.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { ToolContext, ToolOutput } from '../../core/tool.ts';
import { createExec } from '../process/exec.ts';
import { createShellTool } from './shell-tool.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

const realExec = createExec({ env: process.env, clock });
const refused = () => Promise.reject(new Error('not for this tool'));
const tool = createShellTool();

async function place() {
  const path = await mkdtemp(join(tmpdir(), 'crab-shell-'));
  const shown: string[] = [];
  const none = { info: refused, resolve: refused, read: refused, remove: refused, list: refused };
  const files: Files = { ...none, write: (path, bytes) => writeFile(path, bytes) };
  const context = toolContext(path, {
    callId: 'call/1',
    exec: realExec,
    files,
    scratch: async () => path,
    output: (text) => void shown.push(text),
  });
  const run = (input: JsonObject, changes: Partial<ToolContext> = {}) =>
    tool.run(tool.prepare?.(input) ?? input, { ...context, ...changes });
  return { path, context, shown, run, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

function textOf({ content: [block] }: ToolOutput): string {
  return block?.type === 'text' ? block.text : '';
}

test('a result is the output, seen live as well, and the display for a screen', async () => {
  await using here = await place();
  const command = 'pwd; echo err >&2; echo out';
  const text = `${here.path}\nerr\nout`;
  assert.deepEqual(await here.run({ command }), {
    content: [{ type: 'text', text }],
    isError: false,
    display: { kind: 'command', command, cwd: here.path, exitCode: 0, output: text },
  });
  assert.equal(here.shown.join(''), `${text}\n`);
});

test('how a command ended is told when it was not well', async () => {
  await using here = await place();
  const told = async (command: string) => {
    const output = await here.run({ command });
    return [textOf(output), output.isError];
  };
  assert.deepEqual(await told('true'), ['(no output)', false]);
  assert.deepEqual(await told('echo a; exit 3'), ['a\n\nExit code 3', true]);
  assert.deepEqual(await told('false'), ['(no output)\n\nExit code 1', true]);
  assert.deepEqual(await told('kill -9 $$'), ['(no output)\n\nEnded by SIGKILL', true]);
});

test('a timeout keeps the output and says what to do', async () => {
  await using here = await place();
  const { promise: ready, resolve: begun } = Promise.withResolvers<void>();
  const context = { ...here.context, output: () => begun() };
  const call = () => tool.run({ command: 'echo begun; sleep 60', timeout: 150 }, context);
  const output = await passLimit(call, { ready, ms: 150 });
  assert.equal(output.isError, true);
  assert.equal(
    textOf(output),
    'begun\n\nTimed out after 0.15 s; the command and everything that it started were ended. If it only needs longer, ' +
      'give a larger timeout (at most 600000 ms), or do less at once; if it waits for input or never ends, run it another way.',
  );
});

test('both streams come in the order in which they were written', async () => {
  await using here = await place();
  const command = 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; echo e$i >&2; done';
  assert.equal(
    textOf(await here.run({ command })).replaceAll('\n', ' '),
    '1 e1 2 e2 3 e3 4 e4 5 e5 6 e6 7 e7 8 e8 9 e9',
  );
});

test('too many lines lose the middle, and the whole is in a file', async () => {
  await using here = await place();
  const file = join(here.path, 'bash-call_1.txt');
  const lines = textOf(await here.run({ command: 'seq 1 3000' })).split('\n');
  assert.ok(lines.length <= MAX_RESULT_LINES);
  assert.deepEqual(lines.slice(0, 2), ['1', '2']);
  assert.deepEqual(lines.slice(499, 502), ['500', '[1010 lines left out here]', '1511']);
  assert.deepEqual(lines.slice(-3), ['3000', '', `Whole output (3000 lines, 13893 bytes): ${file}`]);
  assert.equal(await readFile(file, 'utf8'), spawnSync('seq', ['1', '3000']).stdout.toString());
});

test('lines and bytes over the limit together are counted once', async () => {
  await using here = await place();
  const text = textOf(await here.run({ command: 'seq 1 100000' }));
  const lines = text.split('\n');
  assert.ok(lines.length <= MAX_RESULT_LINES);
  assert.equal(lines[500], `[${100_000 - 1990} lines left out here]`);
  assert.equal(lines[501], String(100_000 - 1490 + 1));
});

test('a long output stays within the bytes of a result, and the whole is in a file', async () => {
  await using here = await place();
  const file = join(here.path, 'bash-call_1.txt');
  const text = textOf(
    await here.run({ command: 'for ((i=0;i<1000;i++)); do printf "%0200d\\n" $i; done; exit 1' }),
  );
  assert.ok(Buffer.byteLength(text) <= MAX_RESULT_BYTES);
  assert.match(text, /\n\[\d+ lines \(\d+ bytes\) left out here\]\n/);
  assert.ok(text.endsWith(`Whole output (1000 lines, 201000 bytes): ${file}\nExit code 1`));
  assert.equal((await readFile(file)).length, 201_000);
});

test('a command runs although there is nowhere to put its output', async () => {
  await using here = await place();
  const scratch = () => Promise.reject(new Error('no space left'));
  const lines = textOf(await here.run({ command: 'seq 1 3000' }, { scratch })).split('\n');
  assert.deepEqual(lines.slice(-2), ['2999', '3000']);
});

test('a flood is shown live only in part', async () => {
  await using here = await place();
  await here.run({ command: 'yes | head -c 5000000' });
  const shown = here.shown.join('');
  assert.ok(shown.length < 1.2 * 1024 * 1024);
  assert.ok(shown.endsWith('[more output is not shown while the command runs]\n'));
});

test('commands of any form reach the shell as they are', async () => {
  await using here = await place();
  const told = async (command: string) => textOf(await here.run({ command }));
  assert.equal(
    await told('#!/bin/bash\n# first\necho "$0 $# $LINENO"'),
    'bash 0 3'.replace('bash', await told('echo $0')),
  );
  assert.equal(await told("cat <<'E'\na $b\nE"), 'a $b');
  assert.match(await told('echo (('), /syntax error[^\n]*\n[\s\S]*Exit code \d/);
  assert.match(
    await told('\nno-such-command'),
    /line 2: no-such-command: command not found\n\nExit code 127$/,
  );
  assert.equal(await told('shopt -q login_shell || echo plain'), 'plain');
});

test('a command of 200 KB runs, as the same shell as a short one', async () => {
  await using here = await place();
  const long = `x='${'ä🦀'.repeat(33_000)}'; echo \${#x} $#`;
  assert.ok(Buffer.byteLength(long) > 195_000);
  assert.equal(textOf(await here.run({ command: `LC_ALL=C.UTF-8\n${long}` })), '66000 0');
});

test('what cannot be run is refused in plain words', async () => {
  await using here = await place();
  const refusal = (message: RegExp) => (error: unknown) =>
    error instanceof ToolFailure && message.test(error.message);
  await assert.rejects(here.run({ command: ' \n' }), refusal(/^The command is empty\.$/));
  await assert.rejects(here.run({ command: 'a\0b' }), refusal(/^The command contains a NUL character\.$/));
  await assert.rejects(
    here.run({ command: `# ${'x'.repeat(256 * 1024)}` }),
    refusal(/has 262146 bytes; at most 262144/),
  );
  await assert.rejects(tool.run({ command: 'true', timeout: -1 }, here.context), refusal(/^timeout must be/));
  const identity = { ...here.context.identity, cwd: join(here.path, 'gone') };
  await assert.rejects(here.run({ command: 'true' }, { identity }), refusal(/gone does not exist\.$/));
});

test('an aborted call rejects with the reason', async () => {
  await using here = await place();
  const abort = new AbortController();
  const reason = new Error('stop');
  const output = () => abort.abort(reason);
  await assert.rejects(here.run({ command: 'echo up; sleep 60' }, { signal: abort.signal, output }), reason);
});

test('without bash commands run in sh, and the shell is looked for once', async () => {
  await using here = await place();
  const asked: string[] = [];
  const exec: Exec = (request, signal) => {
    asked.push(request.argv[0] ?? '');
    return realExec({ ...request, env: { PATH: '/nonexistent' } }, signal);
  };
  const own = createShellTool();
  for (let round = 0; round < 2; round++) {
    assert.equal(textOf(await own.run({ command: 'echo $0' }, { ...here.context, exec })), '/bin/sh');
  }
  assert.deepEqual(asked, ['/bin/sh', '/bin/sh', '/bin/sh']);
});

test('a shell of the person’s choice runs after its prefix', async () => {
  await using here = await place();
  const own = createShellTool({ program: 'sh', prefix: 'greeting=hello' });
  assert.equal(textOf(await own.run({ command: 'echo $greeting $0' }, here.context)), 'hello sh');
});

test('a call declares its command, and that it may not be repeated', async () => {
  assert.deepEqual(await tool.plan({ command: 'ls' }, '/w'), {
    access: { kind: 'command', command: 'ls', cwd: '/w' },
    parallel: false,
    repeatable: false,
  });
  assert.deepEqual(await tool.show({ command: 'ls' }), { kind: 'command', command: 'ls' });
});

test('what every request carries of the tool is small', () => {
  const { name, description, input } = tool;
  assert.ok(JSON.stringify({ name, description, input }).length <= 900);
});
