import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realClock, toolContext } from '../../../test/support/tool-context.ts';
import type { Clock } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { KnownTool, ToolContext, ToolOutput } from '../../core/tool.ts';
import { createExec } from '../process/exec.ts';
import { createJobs } from '../process/jobs.ts';
import { createShellTools } from './shell-tools.ts';

const host = createExec({ env: process.env, clock: realClock });

async function place(clock: Clock = realClock) {
  const path = await mkdtemp(join(tmpdir(), 'crab-tasks-'));
  const jobs = createJobs({ clock, folder: async () => path });
  const offered: string[] = [];
  const known: KnownTool[] = [];
  const shown: string[] = [];
  const context = toolContext(path, {
    exec: host,
    open: host.open,
    jobs,
    tools: { list: () => known, offer: (names) => void offered.push(...names) },
    scratch: async () => path,
    output: (text) => void shown.push(text),
  });
  const tools = createShellTools({ isWindows: true });
  known.push(...tools.map(({ name, description, input }) => ({ name, description, input, ...PLAIN })));
  const call = async (name: string, input: JsonObject, more: Partial<ToolContext> = {}) => {
    const tool = tools.find((each) => each.name === name) ?? assert.fail(`there is no ${name}`);
    return tool.run(tool.prepare?.(input) ?? input, { ...context, ...more });
  };
  return {
    path,
    jobs,
    offered,
    shown,
    tools,
    call,
    say: async (name: string, input: JsonObject) => textOf(await call(name, input)),
    async [Symbol.asyncDispose]() {
      await jobs.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

function textOf({ content: [block] }: ToolOutput): string {
  return block?.type === 'text' ? block.text : '';
}

const PLAIN = { aliases: [], keywords: [], isOffered: true };

/** Without what differs from run to run. */
const steady = (text: string) => text.replaceAll(/[\d.]+ s\b/g, 'N s');

const start = (command: string, more: JsonObject = {}) => ({ command, run_in_background: true, ...more });

test('a job is announced, its tools are offered, and its output is read in parts', async () => {
  await using here = await place();
  const title = 'echo one; until test -e go; do sleep 0.02; done; echo two';
  assert.equal(
    await here.say('bash', start(title)),
    'Running in the background as job c1. You are told when it ends; task_output reads what it printed, ' +
      `task_stop ends it. The output goes to ${join(here.path, 'job-c1.txt')}`,
  );
  assert.deepEqual(here.offered, ['task_output', 'task_stop', 'task_input', 'monitor']);
  await here.say('monitor', { task_id: 'c1', pattern: 'one' });
  const running = `Job c1 has been running for N s: ${title}`;
  assert.equal(steady(await here.say('task_output', { task_id: 'c1' })), `one\n\n${running}`);
  assert.equal(steady(await here.say('task_output', { task_id: 'c1' })), `(no new output)\n\n${running}`);
  assert.equal(steady(await here.say('task_output', { task_id: 'c1', offset: 1 })), `ne\n\n${running}`);
  await writeFile(join(here.path, 'go'), '');
  const ended = `Job c1 ended after N s with exit code 0: ${title}`;
  assert.equal(steady(await here.say('task_output', { task_id: 'c1', block: true })), `two\n\n${ended}`);
  assert.deepEqual(here.jobs.ended(), [], 'who has read of the end is not told of it');
  assert.equal(steady(await here.say('task_output', {})), `${ended} (8 bytes of output)`);
});

test('lines are chosen by a pattern, also by one that takes other engines for ever', async () => {
  await using here = await place();
  await here.call('bash', start(`seq 1 30; echo 'Error: [x]'; printf '%s' ${'a'.repeat(40)}`));
  await here.say('monitor', { task_id: 'c1' });
  const filtered = async (filter: string) =>
    (await here.say('task_output', { task_id: 'c1', filter, offset: 0 })).split('\n\n')[0];
  assert.equal(await filtered('^2\\d$'), '20\n21\n22\n23\n24\n25\n26\n27\n28\n29');
  assert.equal(await filtered('^(?:1|2)[\\d]$'), Array.from({ length: 20 }, (_, at) => at + 10).join('\n'));
  assert.equal(await filtered('(?i)error: \\['), 'Error: [x]');
  assert.equal(await filtered('(a+)+$'), 'a'.repeat(40));
  assert.equal(await filtered('(a+)+b$'), '(no new output)');
  await assert.rejects(filtered('('), /^ToolFailure: The pattern \( was not understood: /);
});

test('of much output the end is shown, and where the whole is', async () => {
  await using here = await place();
  await here.call('bash', start('seq 1 100000'));
  await here.say('monitor', { task_id: 'c1' });
  const text = await here.say('task_output', { task_id: 'c1' });
  const [mark, first, ...rest] = text.split('\n');
  assert.equal(mark, `[the beginning of this is left out; the whole is in ${join(here.path, 'job-c1.txt')}]`);
  assert.match(first ?? '', /^\d+$/);
  assert.equal(rest.at(-3), '100000');
  assert.ok(Buffer.byteLength(text) < 50 * 1024 && rest.length < 2000);
  const from = await here.say('task_output', { task_id: 'c1', offset: 0 });
  assert.match(from, /\n\[more from offset 40960 on\]\n\n/);
});

test('a job is stopped with everything that it started, once', async () => {
  await using here = await place();
  await here.call('bash', start('sleep 600 & sleep 600'));
  assert.equal(
    steady(await here.say('task_stop', { shell_id: 'c1' })),
    'Job c1 was stopped after N s: sleep 600 & sleep 600',
  );
  assert.match(await here.say('task_stop', { task_id: 'c1' }), /^It was over already\. Job c1 was stopped/);
  await assert.rejects(here.say('task_stop', { task_id: 'c7' }), {
    message: 'There is no job c7: there are c1.',
  });
});

test('what cannot be started fails the call and is no news', async () => {
  await using here = await place();
  // Found here, so that only the start of the job meets the folder.
  await here.say('bash', { command: 'true' });
  const { identity } = toolContext('/no/such/folder');
  await assert.rejects(
    here.call('bash', start('true'), { identity }),
    /The working directory \/no\/such\/folder does not exist/,
  );
  assert.equal(here.jobs.list().length, 1);
  assert.deepEqual(here.jobs.ended(), []);
});

test('a terminal run is shown as it goes, ends with its program and is no news', async () => {
  await using here = await place();
  const command = 'test -t 1 && printf "\\033[1mbold\\033[0m\\n"; kill -KILL $$';
  const { content, isError, display } = await here.call('bash', { command, pty: true });
  const text = 'bold\n\nEnded by SIGKILL';
  assert.deepEqual({ content, isError }, { content: [{ type: 'text', text }], isError: true });
  assert.deepEqual(display, { kind: 'command', command, cwd: here.path, output: 'bold' });
  assert.equal(here.shown.join(''), 'bold\n');
  // The time is over as soon as it has begun, and not before.
  const monotonic = () => (here.shown.includes('begun\n') ? 1000 : 0);
  const endless = { command: 'echo begun; sleep 600', pty: true, timeout: 1 };
  const late = await here.call('bash', endless, { clock: { ...realClock, monotonic } });
  assert.equal(textOf(late), 'begun\n\nTimed out after 1 s; everything that it started was ended.');
  assert.deepEqual(here.jobs.ended(), []);
});

test('what is typed to a program is answered, also where the line is not finished', async () => {
  // Silence is what ends an answer: it lasts longer here, since a program may be kept from speaking by others.
  await using here = await place({ ...realClock, sleep: (ms, signal) => realClock.sleep(5 * ms, signal) });
  await here.call('bash', start('read -r -p "Name? " n; read -r -p "Hi $n. Age? " a', { pty: true }));
  const asked = await here.say('task_input', { session_id: 'c1', chars: 'Ada\n' });
  assert.match(asked, /Hi Ada\. Age\? \n\nJob c1 has been running/);
  const over = await here.say('task_input', { task_id: 'c1', input: '36\n' });
  assert.match(over, /Job c1 ended .* with exit code 0/);
  await here.call('bash', start('sleep 600'));
  await assert.rejects(here.say('task_input', { task_id: 'c2', input: 'x' }), {
    message: 'The job c2 reads no input.',
  });
});

test('waiting ends when a job does, when a file changes, when a command succeeds, and in any case', async () => {
  await using here = await place();
  const infos = ['missing', 'missing', 'here'];
  const info = async () =>
    infos.shift() === 'here' ? ({ kind: 'file', size: 1, modified: 1, mode: 0o644 } as const) : undefined;
  const clock = { ...realClock, sleep: (_ms: number, signal?: AbortSignal) => realClock.sleep(1, signal) };
  const files = { ...toolContext('/').files, info };
  assert.equal(textOf(await here.call('monitor', { path: 'a' }, { clock, files })), 'a was made.');
  const twice = 'test -e a && echo ready && exit 0; touch a; exit 1';
  const succeeded = await here.call('monitor', { command: twice }, { clock });
  assert.equal(textOf(succeeded), 'The command succeeded.\nready');
  const failing = 'echo no; false';
  let now = 0;
  const pass = async (ms: number) => {
    now += ms;
  };
  const passing = { ...realClock, monotonic: () => now, sleep: pass };
  const failed = textOf(
    await here.call('monitor', { command: failing, timeout: 10_000 }, { clock: passing }),
  );
  assert.equal(failed, `The command did not succeed in time: ${failing}\nno`);
  await here.call('bash', start('until test -e go; do sleep 0.02; done'));
  const early = await here.say('monitor', { task_id: 'c1', timeout: 1 });
  assert.equal(early, 'In 0.001 s it did not happen: the end of c1.');
  const slept = here.say('sleep', { seconds: 500 });
  await writeFile(join(here.path, 'go'), '');
  assert.match(await slept, /^Waited [\d.]+ s\.\nJob c1 ended after [\d.]+ s with exit code 0: until/);
  assert.match(await here.say('sleep', { duration_ms: 1 }), /^Waited [\d.]+ s\.$/);
  const stop = new AbortController();
  const stopped = here.call('sleep', { seconds: 500 }, { signal: stop.signal });
  stop.abort();
  await assert.rejects(stopped, { name: 'AbortError' });
});

test('what waiting and typing may touch is declared', async () => {
  await using here = await place();
  const plan = async (name: string, input: JsonObject) =>
    (await here.tools.find((tool) => tool.name === name)?.plan(input, '/w'))?.access;
  const command = (text: string) => ({ kind: 'command', command: text, cwd: '/w' });
  assert.deepEqual(await plan('monitor', { path: 'a' }), { kind: 'read', paths: ['/w/a'] });
  assert.deepEqual(await plan('monitor', { command: 'make' }), command('make'));
  assert.deepEqual(await plan('monitor', { task_id: 'c1' }), { kind: 'none' });
  await assert.rejects(plan('monitor', { path: 'a', command: 'b' }), /Give one of/);
  const typed = await plan('task_input', { task_id: 'c1', input: "rm 'x'" });
  assert.deepEqual(typed, command(`task_input 'rm '\\''x'\\'''`));
  // For a POSIX shell this would be one harmless word; PowerShell would run `rm`.
  const script = await plan('powershell', { command: 'echo "\\"; rm x #"' });
  assert.deepEqual(script, command(`powershell -Command 'echo "\\"; rm x #"'`));
});

test('PowerShell is handed its script whole, and its exit code is told', async () => {
  await using here = await place();
  const stub = 'for last; do :; done; printf %s "$last" | base64 -d | tr -d "\\000"; echo "$1 $2"; exit 4';
  await writeFile(join(here.path, 'powershell'), `#!/bin/sh\n${stub}\n`);
  await chmod(join(here.path, 'powershell'), 0o755);
  const env = { ...process.env, PATH: `${here.path}:${process.env['PATH']}` };
  const exec = createExec({ env, clock: realClock });
  const output = await here.call('powershell', { script: 'Get-Item "a b"' }, { exec });
  assert.equal(output.isError, true);
  assert.deepEqual(textOf(output).split('\n').slice(1), [
    'Get-Item "a b"',
    'if ($?) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }-NoLogo -NoProfile',
    '',
    'Exit code 4',
  ]);
  await assert.rejects(here.call('powershell', { command: 'x' }), {
    message: 'The program powershell was not found in PATH.',
  });
  const elsewhere = createShellTools().map(({ name }) => name);
  assert.ok(!elsewhere.includes('powershell'), 'it is for Windows alone');
});
