// `crab chat` without a terminal: prompts from a pipe, one after another, in one conversation.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { runCrab } from '../support/crab.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace } from '../support/workspace.ts';

const TOUCH = { calls: [{ name: 'bash', input: { command: 'touch made' } }] };

async function chat(stdin: string, replies: Parameters<typeof fakeProvider>[0]) {
  await using workspace = await tempWorkspace({}, { git: false });
  await using provider = await fakeProvider(replies);
  const { path: cwd, home } = workspace;
  const exit = await runCrab({ args: ['chat'], cwd, home, stdin, env: provider.env('anthropic') });
  return { ...exit, requests: provider.requests.length, made: existsSync(workspace.file('made')) };
}

const QUIET = { code: 0, signal: null, stderr: '', made: false };

test('each line is a prompt of the same conversation, without greeting and farewell', async () => {
  const { stdout, ...rest } = await chat('first\nsecond\n\nthird', [{ text: 'One.' }, { text: 'Two.' }]);
  assert.equal(stdout, 'One.\nTwo.\nDone.\n');
  assert.deepEqual(rest, { ...QUIET, requests: 3 });
});

test('no line at all is no failure', async () => {
  assert.deepEqual(await chat('', []), { ...QUIET, stdout: '', requests: 0 });
});

test('a line of the pipe is never the answer to a question', async () => {
  const { stdout, made, requests } = await chat('go\ny\n', [
    TOUCH,
    { text: 'Refused.' },
    { text: 'What yes?' },
  ]);
  assert.deepEqual([made, requests], [false, 3]);
  assert.match(stdout, /Nobody is there to ask|nobody/i);
  assert.match(stdout, /What yes\?\n$/);
});

test('a line that fails is told, the next still run, and the status remembers', async () => {
  const { stdout, code } = await chat('/nope\nhello\n', [{ text: 'Hello.' }]);
  assert.match(stdout, /There is no command \/nope\./);
  assert.match(stdout, /Hello\.\n$/);
  assert.equal(code, 2);
});
