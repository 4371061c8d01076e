// An output that takes nothing: closed, full, or with a reader that has left. The answer is on disk all the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertComplaint, messagesOf, type Setting, setting } from './bad-setting.ts';

const KEPT = ['user: hi', 'assistant: Here I am.'];
const FULL = { code: 'output-failed', says: 'The output could not be written: the disk is full.' } as const;

async function withSetting(body: (at: Setting) => Promise<void>): Promise<void> {
  await using at = await setting();
  await body(at);
}

test('a full device is told on standard error, and the answer is kept', async (t) => {
  for (const format of ['text', 'json', 'stream-json'])
    await t.test(format, () =>
      withSetting(async (at) => {
        assertComplaint(await at.shell('"$@" >/dev/full', ['--output-format', format, 'hi']), FULL);
        assert.equal(messagesOf(at)[0], KEPT[0]);
      }),
    );
});

test('help and version to a full device are told too', () =>
  withSetting(async (at) => {
    for (const flag of ['--help', '--version', '-V'])
      assertComplaint(await at.shell('"$@" >/dev/full', [flag]), FULL);
  }));

test('a reader that left ends the run quietly with status 1', async (t) => {
  // The status goes to standard error, where nothing else may be.
  const left = '{ "$@"; echo "status $?" >&2; } | true';
  for (const args of [['hi'], ['--output-format', 'stream-json', 'hi'], ['--help'], ['--version']])
    await t.test(args.join(' '), () =>
      withSetting(async (at) => {
        const exit = await at.shell(left, args);
        assert.deepEqual([exit.stdout, exit.stderr], ['', 'status 1\n']);
      }),
    );
});

test('closed outputs are no reason not to answer, and nobody else gets the text', async (t) => {
  for (const closed of ['>&-', '2>&-', '>&- 2>&-'])
    await t.test(closed, () =>
      withSetting(async (at) => {
        const exit = await at.shell(`"$@" ${closed}`, ['hi']);
        const stdout = closed === '2>&-' ? 'Here I am.\n' : '';
        assert.deepEqual(exit, { code: 0, signal: null, stdout, stderr: '' });
        assert.deepEqual(messagesOf(at), KEPT);
      }),
    );
});

test('a log that nobody takes costs no result', () =>
  withSetting(async (at) => {
    const exit = await at.shell('"$@" 2>/dev/full', ['--verbose', 'hi']);
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
    assert.equal((await at.shell('"$@" 2>/dev/full', ['--modle'])).code, 2);
  }));
