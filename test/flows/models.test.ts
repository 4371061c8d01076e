// Which models there are, through the program: a server that somebody started is found with nothing set up, and
// `crab models` says what can be asked.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { test } from 'node:test';
import { type CrabExit, runCrab } from '../support/crab.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { resultOf } from '../support/journey.ts';
import { tempWorkspace } from '../support/workspace.ts';

/** Nobody listens there: port 1 takes root to listen at, and no usual server does. */
const NOBODY = '127.0.0.1:1';

async function crab(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<CrabExit> {
  await using work = await tempWorkspace({}, { git: false });
  return await runCrab({ args, cwd: work.path, home: work.home, env: { OLLAMA_HOST: NOBODY, ...env } });
}

/** Ollama as far as anybody asks it, whose window cuts what is longer. */
async function ollama(counted: number): Promise<{ host: string; server: Server } & AsyncDisposable> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const said = SAID[`${request.method} ${request.url}`];
      if (said !== undefined) response.end(JSON.stringify(said));
      else if (request.url === '/v1/chat/completions') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of answer(counted)) response.write(`data: ${JSON.stringify(event)}\n\n`);
        response.end('data: [DONE]\n\n');
      } else response.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    host: `127.0.0.1:${port}`,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SAID: Readonly<Record<string, object>> = {
  'GET /v1/models': { data: [{ id: 'nomic-embed-text' }, { id: 'qwen3:4b' }] },
  'GET /api/ps': { models: [{ model: 'qwen3:4b', context_length: 512 }] },
  'POST /api/show': { capabilities: ['completion', 'tools'] },
};

function answer(counted: number): readonly object[] {
  return [
    { id: 'c1', choices: [{ delta: { role: 'assistant', content: 'Hello from here.' } }] },
    { id: 'c1', choices: [{ delta: {}, finish_reason: 'stop' }] },
    { id: 'c1', choices: [], usage: { prompt_tokens: counted, completion_tokens: 3 } },
  ];
}

test('a server that was started by hand is found and used with no configuration', async () => {
  await using server = await fakeProvider([{ text: 'Found me.' }]);
  const exit = await crab(['-p', 'hello'], { OLLAMA_HOST: `127.0.0.1:${server.port}` });
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 0, stdout: 'Found me.\n' }, exit.stderr);
  assert.match(exit.stderr, /No key is set, so \S+ is asked, which ollama serves on this machine\./);
  const asked = server.requests.find(({ wire }) => wire !== undefined) ?? assert.fail('nothing was asked');
  assert.equal(asked.headers['authorization'], undefined);
});

test('a prompt that the server cut is told of, and costs nothing', async () => {
  await using server = await ollama(258);
  const exit = await crab(['-p', 'hello', '--output-format', 'json'], { OLLAMA_HOST: server.host });
  assert.equal(exit.code, 0, exit.stderr);
  const result = resultOf(exit);
  assert.deepEqual([result['result'], result['total_cost_usd']], ['Hello from here.', 0]);
  const text = await crab(['-p', 'hello'], { OLLAMA_HOST: server.host });
  assert.match(
    text.stderr,
    /ollama at \S+ read 258 tokens of a prompt of at least [\d,]+, because its context window has 512: .* cut off\./,
  );
});

test('with no key and no server it fails as ever, and names what would help', async () => {
  const exit = await crab(['-p', 'hello'], {});
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 3, stdout: '' });
  assert.match(exit.stderr, /\[auth-missing\]/);
});

test('crab models shows what can be asked, and who cannot be', async () => {
  await using server = await ollama(10);
  const env = { OLLAMA_HOST: server.host, ANTHROPIC_API_KEY: 'sk-1' };
  const exit = await crab(['models'], env);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  assert.match(
    exit.stdout,
    /^anthropic {2}https:\/\/api\.anthropic\.com\n {4}model +window +output {2}price/,
  );
  assert.match(exit.stdout, /^ {2}\* claude-sonnet-5-5 +1M +128k {2}\$2 \/ \$10 /m);
  assert.match(exit.stdout, /^ {4}qwen3:4b +- +- {2}free$/m);
  assert.doesNotMatch(exit.stdout, /nomic-embed/);
  assert.match(
    exit.stdout,
    /\nNot usable yet\n(?: {2}.*\n)* {2}openai \(\d+ models\): There was no API key found for openai/,
  );
  const one = await crab(['models', 'SONNET-4-5'], env);
  assert.deepEqual(one.stdout.match(/claude-\S+/g), ['claude-sonnet-4-5']);
  const none = await crab(['models', 'no such model'], env);
  assert.deepEqual([none.code, none.stdout], [0, 'No model has "no such model" in its name.\n']);
});

test('crab models --json is one array, with everything', async () => {
  await using server = await ollama(10);
  const exit = await crab(['models', '--json', '--provider=ollama'], { OLLAMA_HOST: server.host });
  assert.equal(exit.code, 0, exit.stderr);
  assert.deepEqual(JSON.parse(exit.stdout), [
    {
      provider: 'ollama',
      api: 'openai-completions',
      base_url: `http://${server.host}/v1`,
      local: true,
      usable: true,
      models: [
        {
          id: 'qwen3:4b',
          name: 'ollama/qwen3:4b',
          default: true,
          source: 'server',
          price: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
        },
      ],
    },
  ]);
  const all = JSON.parse((await crab(['models', '--json'], {})).stdout);
  assert.ok(all.length >= 2);
  assert.deepEqual(
    all.filter(({ usable }: { usable: boolean }) => usable),
    [],
  );
  const tiered = await crab(['models', 'google/gemini-2.5-pro', 'more'], {});
  assert.equal(tiered.code, 2);
});

test('crab models refuses what it does not know, and says what there is', async () => {
  const provider = await crab(['models', '--provider', 'nobody'], {});
  assert.equal(provider.code, 2);
  assert.match(provider.stderr, /There is no provider "nobody"\. \[usage\]\nThere are .*anthropic, .*openai/);
  assert.match((await crab(['models', '--provider'], {})).stderr, /--provider needs a value/);
  assert.match((await crab(['models', '--jsno'], {})).stderr, /Unknown flag --jsno/);
  const help = await crab(['models', '--help'], {});
  assert.deepEqual([help.code, help.stdout.startsWith('Usage: crab models')], [0, true]);
});
