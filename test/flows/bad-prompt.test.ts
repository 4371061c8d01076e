// What arrives as the prompt or on standard input and cannot be one. Whatever was sent, nothing reaches a model or a
// disk until it has been read to its end and found good.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertComplaint, assertRefused, type Complaint, messagesOf, setting } from './bad-setting.ts';

const MIB = 1024 * 1024;
const STREAM = ['--input-format', 'stream-json'];

const userLine = (content: unknown) =>
  `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`;

const EMPTY: Complaint = { code: 'input-empty', says: 'The prompt is empty.' };
const MISSING: Complaint = { code: 'input-empty', says: 'There is no prompt.' };
const malformed = (says: string | RegExp): Complaint => ({ code: 'input-malformed', says });

type Row = readonly [what: string, args: readonly string[], stdin: string | Uint8Array, complaint: Complaint];

const ROWS: readonly Row[] = [
  ['an empty argument', [''], '', EMPTY],
  ['blanks', [' \t\n '], '', EMPTY],
  ['an empty --prompt', ['--prompt', ''], 'text that must not be taken for it', EMPTY],
  ['no prompt at all', ['-p'], '', MISSING],
  ['blanks on standard input', ['-p'], ' \n\n', MISSING],
  [
    'more than 8 MiB on standard input',
    ['-p', 'hi'],
    'a'.repeat(8 * MIB + 1),
    { code: 'input-too-large', says: 'Standard input holds more than 8388608 bytes.' },
  ],
  [
    'more than 8 MiB together with the argument',
    ['-p', 'hi'],
    'a'.repeat(8 * MIB),
    { code: 'input-too-large', says: /^The prompt has 8388612 bytes; the limit is 8388608\.$/ },
  ],
  [
    'binary',
    ['-p', 'hi'],
    Uint8Array.of(0x7f, 0x45, 0, 1),
    { code: 'input-not-text', says: 'Standard input is binary: it holds NUL bytes.' },
  ],
  [
    'bytes that are not UTF-8',
    ['-p'],
    Uint8Array.of(0x61, 0xff, 0xfe),
    { code: 'input-not-text', says: 'Standard input is not valid UTF-8.' },
  ],
  ['a line that is not JSON', STREAM, '{"type":"user"', malformed(/^Line 1 of the input is not JSON: /)],
  ['a line that is no object', STREAM, '\n\n[]\n', malformed(/^Line 3 of the input: the line must be/)],
  ['another type', STREAM, '{"type":"usr"}\n', malformed('Line 1 of the input: `type` must be "user".')],
  ['no message', STREAM, '{"type":"user"}\n', malformed('Line 1 of the input: `message` must be an object.')],
  [
    'a block of another type',
    STREAM,
    userLine([{ type: 'text', text: 'a' }, { type: 'video' }]),
    malformed('Line 1 of the input: `message.content[1].type` must be "text", "image" or "document".'),
  ],
  [
    'an empty content',
    STREAM,
    userLine(''),
    { code: 'input-empty', says: /^Line 1 of the input: `message.content`/ },
  ],
  [
    'a line of bytes that are not UTF-8',
    STREAM,
    Buffer.concat([Buffer.from('{"type":"user'), Uint8Array.of(0xff), Buffer.from('"}\n')]),
    { code: 'input-not-text', says: 'Line 1 of the input is not UTF-8.' },
  ],
  [
    'a prompt of more than 8 MiB in a line',
    STREAM,
    userLine('a'.repeat(8 * MIB + 1)),
    { code: 'input-too-large', says: 'The prompt has 8388609 bytes; the limit is 8388608.' },
  ],
];

test('what cannot be a prompt is refused, and reaches neither the model nor the disk', async (t) => {
  await using at = await setting();
  for (const [what, args, stdin, complaint] of ROWS)
    await t.test(what, async () => assertRefused(await at.run(args, { stdin }), complaint, at));
});

test('a prompt of exactly 8 MiB is taken', async () => {
  await using at = await setting();
  const exit = await at.run(['-p', '--no-session'], { stdin: 'a'.repeat(8 * MIB) });
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
});

const ENDLESS: readonly (readonly [line: string, args: readonly string[], complaint: Complaint])[] = [
  ['yes | "$@"', ['-p'], { code: 'input-too-large', says: /more than 8388608 bytes/ }],
  ['"$@" </dev/zero', ['-p'], { code: 'input-too-large', says: /more than 8388608 bytes/ }],
  ['tr "\\0" a </dev/zero | "$@"', STREAM, { code: 'input-too-large', says: /longer than 32 MiB/ }],
  ['yes | "$@"', STREAM, { code: 'input-malformed', says: /^Line 1 of the input is not JSON/ }],
  ['"$@" </', ['-p'], { code: 'input-not-text', says: 'Standard input is a folder.' }],
  ['"$@" <&-', ['-p'], MISSING],
];

test('standard input that never ends, or is none, is refused in time', async (t) => {
  await using at = await setting();
  for (const [line, args, complaint] of ENDLESS)
    await t.test(line, async () => assertRefused(await at.shell(line, args), complaint, at));
});

test('a prompt does not wait for a closed, an infinite or a silent standard input', async (t) => {
  await using at = await setting();
  const good = { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' };
  for (const line of ['"$@" <&-', '"$@" </dev/zero', '"$@" </dev/null'])
    await t.test(line, async () => assert.deepEqual(await at.shell(line, ['--no-session', 'hi']), good));
  await t.test('an open pipe that nobody writes to', async () => {
    await using crab = at.start(['--no-session', 'hi']);
    const warning = 'crab: nothing came on standard input; going on without it (use < /dev/null to say so)\n';
    assert.deepEqual(await crab.exited, { ...good, stderr: warning });
  });
});

test('what was asked before a bad line is answered and kept', async () => {
  await using at = await setting();
  const exit = await at.run(STREAM, { stdin: `${userLine('first')}{"type":1}\n${userLine('never')}` });
  assertComplaint({ ...exit, stdout: '' }, malformed('Line 2 of the input: `type` must be "user".'));
  assert.equal(exit.stdout, 'Here I am.\n');
  assert.deepEqual(messagesOf(at), ['user: first', 'assistant: Here I am.']);
});

test('the complaint about a line is a result line too where results are lines', async () => {
  await using at = await setting();
  const exit = await at.run([...STREAM, '--output-format', 'stream-json'], { stdin: 'x\n' });
  const lines = exit.stdout.trimEnd().split('\n');
  const { type, is_error, exit_code, error } = JSON.parse(lines[0] ?? '');
  assert.deepEqual(
    [lines.length, type, is_error, exit_code, error.code],
    [1, 'result', true, 42, 'input-malformed'],
  );
});

test('an environment of a hundred thousand bytes in one variable changes nothing', async () => {
  await using at = await setting();
  const env = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`HUGE_${n}`, 'x'.repeat(100_000)]));
  const exit = await at.run(['--no-session', 'hi'], { env });
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
});
