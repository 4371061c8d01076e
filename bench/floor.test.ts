// The floor is only worth something while it does the work: the same requests, every tool, all of the answer.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FakeProvider, startFakeProvider } from '../src/dev/fake-provider.ts';
import type { Reply } from '../src/dev/scenario.ts';

const FLOOR = fileURLToPath(new URL('floor.cjs', import.meta.url));

async function play(
  replies: readonly Reply[],
  opening?: object,
): Promise<{ readonly output: string; readonly provider: FakeProvider }> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-floor-'));
  const cwd = folder.path;
  await writeFile(join(cwd, 'one.txt'), 'first €\n');
  await writeFile(join(cwd, 'two.txt'), 'second\n');
  if (opening) await writeFile(join(cwd, 'opening.json'), JSON.stringify(opening));
  const provider = await startFakeProvider({ scenario: { replies } });
  try {
    const env = {
      PATH: process.env['PATH'],
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'fake',
      ...(opening && { FLOOR_REQUEST: join(cwd, 'opening.json') }),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [FLOOR, 'Do it.'], { cwd, env });
    assert.deepEqual(provider.violations, []);
    return { output: stdout, provider };
  } finally {
    await provider.close();
  }
}

test('an answer is printed as it comes, complete and in order', async () => {
  const pieces = Array.from({ length: 5_000 }, (_, index) => `${index} ä\n`);
  const { output } = await play([{ text: pieces }]);
  assert.equal(output, `${pieces.join('')}\n`);
});

test('calls are run and their results sent back in the order of the calls', async () => {
  const read = (path: string) => ({ name: 'read', input: { path } });
  const shell = { name: 'bash', input: { command: 'echo out; echo error >&2; exit 3' } };
  const { output, provider } = await play([
    { text: 'Looking.', calls: [shell, read('one.txt'), read('two.txt')] },
    { calls: [read('two.txt')] },
    { text: 'Done.' },
  ]);
  assert.equal(output, 'Looking.Done.\n');
  const result = (id: string, text: string) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text }],
  });
  const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
  assert.deepEqual(provider.requests.at(-1)?.body?.['messages'], [
    { role: 'user', content: [{ type: 'text', text: 'Do it.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        call('call_1_1', 'bash', shell.input),
        call('call_1_2', 'read', { path: 'one.txt' }),
        call('call_1_3', 'read', { path: 'two.txt' }),
      ],
    },
    {
      role: 'user',
      content: [
        result('call_1_1', 'out\nerror\n'),
        result('call_1_2', 'first €\n'),
        result('call_1_3', 'second\n'),
      ],
    },
    { role: 'assistant', content: [call('call_2_1', 'read', { path: 'two.txt' })] },
    { role: 'user', content: [result('call_2_1', 'second\n')] },
  ]);
});

test('a benchmark may give it the beginning of each request', async () => {
  const opening = { model: 'm', max_tokens: 7, stream: true, system: [{ type: 'text', text: 'Be brief.' }] };
  const { provider } = await play([{ text: 'Yes.' }], opening);
  assert.deepEqual(provider.requests[0]?.body, {
    ...opening,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Do it.' }] }],
  });
});
