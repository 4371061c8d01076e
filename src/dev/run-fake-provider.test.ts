import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, post } from '../../test/support/wire-client.ts';
import { runFakeProvider } from './run-fake-provider.ts';

const SCRIPT = '{ "replies": [{ "text": "hi from {{cwd}}" }] }';

test('the provider says where it is, a line a request, and stops with its signal', async () => {
  const lines: string[] = [];
  const stop = new AbortController();
  const greeted = Promise.withResolvers<string>();
  const print = (line: string) => {
    lines.push(line);
    if (line === 'Ctrl-C stops it.') greeted.resolve(lines[0]?.split(' ').at(-1) ?? '');
  };
  const options = { script: SCRIPT, file: 'hi.json', port: 0, cwd: '/here', print };
  const running = runFakeProvider(options, stop.signal);
  const url = await greeted.promise;
  assert.equal((await ask(url, 'openai', [{ role: 'user', content: 'x' }])).text, 'hi from /here');
  await (await post(url, 'anthropic', [{ role: 'user', content: '' }])).text();
  await (await fetch(`${url}/`)).text();
  stop.abort();
  await running;
  assert.deepEqual(lines, [
    `fake provider on ${url}`,
    `  Anthropic wire: ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=fake crab`,
    `  OpenAI wire:    OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=fake crab`,
    `  its requests:   ${url}/__fake/requests`,
    'Ctrl-C stops it.',
    '200 POST /v1/chat/completions some-model, turn 1, 119 bytes, 100 tokens in, 10 out',
    '400 POST /v1/messages some-model, turn 1, 96 bytes: law 1 violated at messages[0].content: the text block is empty',
    '404 GET /, 0 bytes',
  ]);
  await assert.rejects(fetch(url), 'the port is closed');
});

test('a scenario that cannot be used is an error before anything is served', async () => {
  const options = {
    script: '{}',
    file: 'empty.json',
    port: 0,
    cwd: '/',
    print: () => assert.fail('nothing to say'),
  };
  await assert.rejects(runFakeProvider(options, new AbortController().signal), {
    code: 'input-malformed',
    message: 'empty.json: expected either replies or scripts at the top',
  });
});
