// Every provider of Chat Completions through the built program, by its own variables and nothing else: what a person
// sets is what decides where the prompt goes and with which key.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { ProviderRow } from '../../src/parts/llm/provider-row.ts';
import { PROVIDERS } from '../../src/parts/llm/providers.ts';
import { type Loopback, type Received, sendStream, serve, sse } from '../../src/parts/llm/testing.ts';
import { type CrabExit, runCrab } from '../support/crab.ts';
import { resultOf } from '../support/journey.ts';
import { tempWorkspace } from '../support/workspace.ts';

const ROWS = PROVIDERS.filter(({ dialect }) => dialect.wire === 'openai-completions');

const USAGE = { prompt_tokens: 50, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 40 } };

function answer(...contents: readonly string[]): string {
  const piece = (delta: object, finish_reason: string | null = null) => ({
    id: 'c1',
    model: 'm1',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const said = contents.map((content) => piece({ content }));
  return sse(...said, piece({}, 'stop'), { id: 'c1', choices: [], usage: USAGE }, '[DONE]');
}

/** The variables of one provider: its address, and a key if it takes any. */
function variablesOf({ auth, baseUrlKey = '' }: ProviderRow, server: Loopback): Record<string, string> {
  const key = auth.kind === 'key' ? auth.variables[0]?.name : undefined;
  return { [baseUrlKey]: `${server.url}/base`, ...(key !== undefined && { [key]: 'the-key' }) };
}

/** Servers of one's own are asked beside it what they know of the model. */
function isPrompt({ path }: Received): boolean {
  return path.endsWith('/chat/completions');
}

function keyIn({ headers }: Received): string | undefined {
  return headers.authorization?.replace(/^Bearer /, '') ?? headers['api-key']?.toString();
}

async function ask(env: Record<string, string>, ...args: readonly string[]): Promise<CrabExit> {
  await using work = await tempWorkspace({ 'a.txt': 'one\n' }, { git: false });
  return await runCrab({ args: ['--no-session', ...args], cwd: work.path, home: work.home, env });
}

test('each provider answers to its own variables', async (t) => {
  await using server = await serve((response) => sendStream(response, answer('Here ', 'I am.')));
  for (const row of ROWS)
    await t.test(row.name, async () => {
      const before = server.received.length;
      const id = row.defaultModel ?? 'some-model';
      const exit = await ask(
        variablesOf(row, server),
        '-m',
        `${row.name}/${id}`,
        '-p',
        'hi',
        '--output-format',
        'json',
      );
      const { result, usage, is_error } = resultOf(exit);
      assert.deepEqual(
        { code: exit.code, stderr: exit.stderr, result, is_error },
        { code: 0, stderr: '', result: 'Here I am.', is_error: false },
      );
      const { input_tokens, output_tokens, cache_read_input_tokens } = usage as Record<string, number>;
      assert.deepEqual([input_tokens, output_tokens, cache_read_input_tokens], [10, 9, 40]);
      const [request, ...more] = server.received.slice(before).filter(isPrompt);
      assert.ok(request);
      assert.deepEqual(more, []);
      const takesKey = row.auth.kind === 'key' && row.auth.variables.length > 0;
      assert.equal(keyIn(request), takesKey ? 'the-key' : undefined);
      assert.match(request.path, /^\/base(?:\/openai\/v1)?\/chat\/completions$/);
      assert.equal(JSON.parse(request.body).model, id);
    });
});

test('a local server needs no key, and its first model is taken', async (t) => {
  await using server = await serve((response, { method }) => {
    if (method === 'GET') response.end(JSON.stringify({ data: [{ id: 'first' }, { id: 'second' }] }));
    else sendStream(response, answer('Here I am.'));
  });
  for (const { name, baseUrlKey = '' } of ROWS.filter(({ keyless }) => keyless))
    await t.test(name, async () => {
      const before = server.received.length;
      assert.deepEqual(await ask({ [baseUrlKey]: server.url }, 'hi'), {
        code: 0,
        signal: null,
        stdout: 'Here I am.\n',
        stderr: '',
      });
      const [list, ...more] = server.received.slice(before);
      const prompts = more.filter(isPrompt);
      assert.deepEqual(
        [list, ...prompts].map((request) => [
          request?.method,
          request?.body === '' ? undefined : JSON.parse(request?.body ?? '').model,
          request?.headers.authorization,
        ]),
        [
          ['GET', undefined, undefined],
          ['POST', 'first', undefined],
        ],
      );
    });
});

function inTurn(...answers: readonly string[]): (response: ServerResponse, request: Received) => void {
  let turn = 0;
  return (response, request) => {
    if (isPrompt(request)) sendStream(response, answers[turn++] ?? answer('Too much.'));
    else response.writeHead(404).end();
  };
}

test('a tool call that a local model prints is run, and its result goes back', async () => {
  const printed = [
    '<think>Hm.</think>\n\nI look.\n<tool_',
    'call>\n{"name": "ls", "arguments"',
    ': {"path": "."}}\n</tool_call>',
  ];
  await using server = await serve(inTurn(answer(...printed), answer('There is a.txt.')));
  const exit = await ask({ OLLAMA_BASE_URL: server.url }, '-m', 'ollama/qwen3', 'look');
  assert.deepEqual([exit.code, exit.stdout], [0, 'There is a.txt.\n'], exit.stderr);
  const [, second] = server.received.filter(isPrompt);
  const [, , said, result] = JSON.parse(second?.body ?? '').messages;
  assert.deepEqual(said, {
    role: 'assistant',
    content: 'I look.\n',
    reasoning: 'Hm.',
    tool_calls: [
      { id: result.tool_call_id, type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } },
    ],
  });
  assert.match(result.content, /a\.txt/);
});

test('the same text from a hosted model is only text', async () => {
  const printed = '<tool_call>{"name":"ls","arguments":{"path":"."}}</tool_call>';
  await using server = await serve(inTurn(answer(printed)));
  const exit = await ask({ GROQ_BASE_URL: server.url, GROQ_API_KEY: 'k' }, 'look');
  assert.deepEqual(exit, { code: 0, signal: null, stdout: `${printed}\n`, stderr: '' });
});
