// Where a line goes by its first letters: a command, the shell or the model. What needs no model runs with no key, no
// address and no request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCrab } from '../support/crab.ts';
import {
  type Journey,
  journey,
  linesOf,
  MODELS,
  onEachWire,
  onlySession,
  resultOf,
} from '../support/journey.ts';
import { sessionFiles } from '../support/session-files.ts';
import { assistant, user } from '../support/spoken.ts';
import { tempWorkspace } from '../support/workspace.ts';

/** A run with no key and no provider. */
async function alone(args: readonly string[], files: Readonly<Record<string, string>> = {}, git = false) {
  const work = await tempWorkspace(files, { git });
  const run = (more: readonly string[]) => runCrab({ args: more, cwd: work.path, home: work.home });
  const exit = await run(args);
  return { ...exit, work, run, [Symbol.asyncDispose]: () => work[Symbol.asyncDispose]() };
}

const COMMANDS = [
  ',help',
  ',tools',
  ',handoff',
  ',new',
  ',fork',
  ',clone',
  ',tree',
  ',label',
  ',move',
  ',name',
  ',title',
  ',model',
  ',effort',
  ',fast',
  ',mode',
  ',permissions',
  ',add-dir',
  ',trust',
  ',status',
  ',usage',
  ',compact',
  ',uncompact',
  ',learn',
  ',consolidate',
  ',context',
  ',rewind',
  ',redo',
  ',history',
  ',jobs',
];

test('the list of commands needs no key, whatever letter it begins with', async () => {
  for (const line of [',help', '/help', ', help', ',?', '/?']) {
    await using exit = await alone(['-p', line]);
    assert.deepEqual({ line, code: exit.code, stderr: exit.stderr }, { line, code: 0, stderr: '' });
    const listed = [...exit.stdout.matchAll(/^ {2}(,[a-z-]+)/gm)].map(([, name]) => name);
    assert.deepEqual(listed, COMMANDS);
    assert.deepEqual(await sessionFiles(exit.work.home), [], 'and leaves no session behind');
  }
});

test('help on one command says how it is used', async () => {
  await using exit = await alone(['-p', ',help handoff']);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout },
    {
      code: 0,
      stdout:
        ',handoff [name] [summary]\nStart a fresh view for the model; what came before stays on the tape.\nAlso: ,anchor\n',
    },
  );
});

test('the tools are listed without a key, and only those that are offered', async () => {
  await using all = await alone(['-p', ',tools']);
  const names = (stdout = '') => [...stdout.matchAll(/^ {2}([a-z_]+)/gm)].map(([, name]) => name);
  const [sent, found] = all.stdout.split('Found when they are looked for:\n');
  const [first, deferred] = [names(sent), names(found)];
  for (const name of ['read', 'write', 'edit', 'grep', 'find', 'ls', 'bash', 'todo_write'])
    assert.ok(first.includes(name), `${name} is not among the first`);
  for (const name of ['task_create', 'cron_create', 'enter_worktree'])
    assert.ok(deferred.includes(name) && !first.includes(name), `${name} is not deferred`);
  const some = await all.run(['-p', ',tools', '--tools', 'Read,grep']);
  assert.deepEqual(names(some.stdout), ['read', 'grep']);
});

test('the status says why there is no model, and is a success all the same', async () => {
  await using exit = await alone(['-p', ',status', '--permission-mode', 'plan']);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  const rows = new Map(exit.stdout.split('\n').map((row) => [row.slice(0, 10).trim(), row.slice(10)]));
  assert.deepEqual(
    {
      file: rows.get('file')?.startsWith(exit.work.home),
      folder: rows.get('folder'),
      mode: rows.get('mode'),
    },
    { file: true, folder: exit.work.path, mode: 'plan' },
  );
  assert.match(rows.get('model') ?? '', /^none \(There was no API key found for anthropic or openai/);
});

test('a command that does not exist is refused with those that are near', async () => {
  await using exit = await alone(['-p', '/hepl']);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, stderr: exit.stderr },
    { code: 2, stdout: '', stderr: 'crab: There is no command /hepl. [usage]\nDid you mean /help?\n' },
  );
});

test('a command that is used wrongly is a usage error', async () => {
  for (const line of [',name', ',mode sometimes', ',help nothing']) {
    await using exit = await alone(['-p', line]);
    assert.deepEqual({ line, code: exit.code }, { line, code: 2 });
    assert.notEqual(exit.stderr, '');
  }
});

test('a shell line runs in the folder, with no key and without asking', async () => {
  await using exit = await alone(['-p', ',git status --short'], { 'a.txt': 'a\n' }, true);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, stderr: exit.stderr },
    { code: 0, stdout: '', stderr: '' },
  );
  await exit.work.write('b.txt', 'b\n');
  const dirty = await exit.run(['-p', ',git status --short']);
  assert.deepEqual(dirty, { code: 0, signal: null, stdout: '?? b.txt\n', stderr: '' });
});

test('a shell line that fails is a failure, and says so in JSON as well', async () => {
  await using exit = await alone(['-p', '!echo out; exit 3', '--output-format', 'json']);
  const { is_error, exit_code, result, error, num_turns, session_id } = resultOf(exit);
  const [session] = await sessionFiles(exit.work.home);
  assert.deepEqual(
    { code: exit.code, is_error, exit_code, num_turns, session_id, result, error: Object(error).code },
    {
      code: 1,
      is_error: true,
      exit_code: 1,
      num_turns: 0,
      session_id: session?.header.id,
      result: 'out\n\nExit code 3',
      error: 'command-failed',
    },
  );
});

test('standard output holds what a shell line printed, once', async () => {
  for (const [line, code, stdout] of [
    ['!echo out; exit 3', 1, 'out\n'],
    ['!exit 3', 1, ''],
    [',true', 0, ''],
    ['!!echo out; echo err >&2', 0, 'out\nerr\n'],
  ] as const) {
    await using exit = await alone(['-p', line]);
    assert.deepEqual({ line, code: exit.code, stdout: exit.stdout }, { line, code, stdout });
  }
});

test('a path and a question that begin with a slash are for the model', async () => {
  await using exit = await alone(['-p', '/etc/hosts holds what?']);
  assert.equal(exit.code, 3, 'and that needs a key');
  assert.match(exit.stderr, /\[auth-missing\]/);
  assert.deepEqual(await sessionFiles(exit.work.home), [], 'without one nothing is written');
});

const SCRIPT = { replies: [{ text: 'One.' }, { text: 'Two.' }] };

onEachWire(
  'after a handoff the model starts at the anchor, and the tape keeps what came before',
  async (wire) => {
    await using at = await journey(wire, { script: SCRIPT });
    await at.run(['-p', 'a long story']);
    const anchor = await at.run(['-p', ',handoff half-time The story was long.', '--continue']);
    assert.deepEqual(anchor, {
      code: 0,
      signal: null,
      stdout: 'Anchor half-time is set; the model starts from here.\n',
      stderr: '',
    });
    assert.equal(at.asked().length, 1, 'no model was asked for it');
    await at.run(['-p', 'go on', '--continue']);
    const summary = '<handoff name="half-time">\nThe story was long.\n</handoff>';
    assert.deepEqual(at.asked().at(-1)?.messages, [user(`${summary}\ngo on`)]);
    const { spoken } = await onlySession(at);
    assert.deepEqual(spoken, [user('a long story'), assistant('One.'), user('go on'), assistant('One.')]);
  },
);

onEachWire('a handoff without a summary leaves nothing to the model', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  await at.run(['-p', 'a long story']);
  await at.run(['-p', '/anchor', '--continue']);
  await at.run(['-p', 'go on', '--continue']);
  assert.deepEqual(at.asked().at(-1)?.messages, [user('go on')]);
});

const block = (at: Journey, command: string, output: string, exitCode = 0) =>
  `<command cwd="${at.work.path}" exit_code="${exitCode}">\n$ ${command}\n${output}\n</command>`;

onEachWire('a ,line that fails is handed to the model with what it printed', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'There is no such file.' }] });
  const exit = await at.run(['-p', ',cat missing.txt']);
  assert.equal(exit.code, 0, exit.stderr);
  assert.match(exit.stdout, /There is no such file\.\n$/);
  const output = 'cat: missing.txt: No such file or directory\n\nExit code 1';
  assert.deepEqual(at.asked()[0]?.messages, [user(block(at, 'cat missing.txt', output, 1))]);
  assert.deepEqual((await onlySession(at)).spoken.at(-1), assistant('There is no such file.'));
});

onEachWire('a ,line that succeeds asks no model and is kept for the next prompt', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  assert.equal((await at.run(['-p', ',echo seen'])).stdout, 'seen\n');
  assert.deepEqual(at.asked(), []);
  await at.run(['-p', 'what was that?', '--continue']);
  assert.deepEqual(at.asked()[0]?.messages, [user(`${block(at, 'echo seen', 'seen')}\nwhat was that?`)]);
});

onEachWire('!line is kept for the next prompt, also when it fails, and !!line is not', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  const failed = await at.run(['-p', '!echo kept; exit 2']);
  assert.equal(failed.code, 1);
  const silent = await at.run(['-p', '!!echo hidden', '--continue']);
  assert.deepEqual({ code: silent.code, stdout: silent.stdout }, { code: 0, stdout: 'hidden\n' });
  assert.deepEqual(at.asked(), []);
  await at.run(['-p', 'and?', '--continue']);
  const kept = block(at, 'echo kept; exit 2', 'kept\n\nExit code 2', 2);
  assert.deepEqual(at.asked()[0]?.messages, [user(`${kept}\nand?`)]);
});

onEachWire('a known command is never run by the shell, and an unknown ,line always is', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  const known = await at.run(['-p', ',model']);
  assert.deepEqual(known.stdout, `The model is ${wire}/${MODELS[wire]}.\n`);
  assert.deepEqual((await at.run(['-p', ',true'])).code, 0);
  assert.deepEqual(at.asked(), []);
});

onEachWire('commands, shell lines and prompts share one conversation', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT });
  const prompts = ['hello', ',mode plan', ',echo seen', ',handoff', 'again', ',new', 'afresh'];
  const stdin = prompts
    .map((content) => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
    .join('');
  const exit = await at.run(['--input-format', 'stream-json', '--output-format', 'stream-json'], { stdin });
  const results = linesOf(exit).filter(({ type }) => type === 'result');
  assert.deepEqual(
    { code: exit.code, errors: results.map(({ is_error }) => is_error) },
    { code: 0, errors: Array(prompts.length).fill(false) },
  );
  assert.deepEqual(
    at.asked().map(({ messages }) => messages),
    [[user('hello')], [user('again')], [user('afresh')]],
  );
  assert.deepEqual(
    linesOf(exit).flatMap(({ permissionMode }) => (permissionMode === undefined ? [] : [permissionMode])),
    ['default', 'plan', 'plan'],
  );
  assert.equal((await at.sessions()).length, 2);
});
