// A run that was recorded happens again without its provider: the same words, the same tools, the same session file to
// the byte.

import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { journey, onEachWire, onlySession } from '../support/journey.ts';
import { sessionFiles } from '../support/session-files.ts';

const READS: readonly Reply[] = [
  { calls: [{ name: 'read', input: { path: 'notes.txt' } }], fault: { status: 529 }, times: 1 },
  { text: 'It says hello.' },
];

const FILES = { 'notes.txt': 'hello\n' };

/** Without the provider: every address leads nowhere. */
const NOWHERE = {
  ANTHROPIC_API_KEY: undefined,
  OPENAI_API_KEY: undefined,
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
  OPENAI_BASE_URL: 'http://127.0.0.1:1',
};

onEachWire('a recorded run is played back without provider and key, byte for byte', async (wire) => {
  await using at = await journey(wire, { script: READS, files: FILES });
  const tape = at.work.file('talk.cassette');
  const first = await at.run(['-p', 'what do my notes say?', '--record', tape]);
  assert.deepEqual({ code: first.code, stdout: first.stdout }, { code: 0, stdout: 'It says hello.\n' });
  const recorded = await onlySession(at);
  const asked = at.asked().length;

  const home = at.work.file('elsewhere');
  await mkdir(home);
  const again = await at.run(['-p', 'what do my notes say?', '--replay', tape], { home, env: NOWHERE });
  assert.deepEqual({ code: again.code, stdout: again.stdout }, { code: 0, stdout: 'It says hello.\n' });
  assert.equal(at.asked().length, asked);
  const [replayed] = await sessionFiles(home);
  assert.equal(await readFile(replayed?.path ?? '', 'utf8'), await readFile(recorded.path, 'utf8'));
});

onEachWire('a recording holds no key and is for its owner alone', async (wire) => {
  const secret = 'sk-recorded-0123456789abcdef';
  await using at = await journey(wire, { script: [{ text: `Your key is ${secret}.` }] });
  const tape = at.work.file('talk.cassette');
  const env = { [wire === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY']: secret };
  await at.run(['-p', `my key is ${secret}`, '--record', tape], { env });
  const text = await readFile(tape, 'utf8');
  assert.ok(text.includes('Your key is [redacted].'), text);
  assert.ok(!text.includes(secret));
  assert.equal((await stat(tape)).mode & 0o777, 0o600);
});

test('another prompt gets the recorded answer and a word about it; a further one is refused', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'One.' }] });
  const tape = at.work.file('talk.cassette');
  await at.run(['-p', 'one', '--record', tape]);
  const other = await at.run(['-p', 'two', '--no-session', '--replay', tape], { env: NOWHERE });
  assert.equal(other.stdout, 'One.\n');
  assert.match(other.stderr, /request 1 is not the recorded one/);
  const lines = ['one', 'two'].map((content) =>
    JSON.stringify({ type: 'user', message: { role: 'user', content } }),
  );
  const more = await at.run(['-p', '--input-format', 'stream-json', '--no-session', '--replay', tape], {
    env: NOWHERE,
    stdin: `${lines.join('\n')}\n`,
  });
  assert.equal(more.code, 8);
  assert.match(
    more.stderr,
    /The recording has no answer for request 2: POST .*\/v1\/messages\. \[provider-protocol\]/,
  );
});

test('a session that is kept already is not written a second time', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'One.' }] });
  const tape = at.work.file('talk.cassette');
  await at.run(['-p', 'one', '--record', tape]);
  const again = await at.run(['-p', 'one', '--replay', tape]);
  assert.equal(again.stdout, 'One.\n');
  assert.match(
    again.stderr,
    /session [0-9A-Z]{26} of the recording is kept already; this replay leaves no other/,
  );
  await onlySession(at);
});

test('what is no recording is refused, and no file is written over', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'One.' }], files: FILES });
  for (const [name, text, message] of [
    ['empty', '', /empty is empty\./],
    ['text', 'hello', /text:1 is not a JSON object\./],
    ['other', '{"type":"session"}', /other is no recording\./],
    [
      'newer',
      '{"type":"cassette","version":9,"time":1,"seed":1,"env":{}}',
      /a recording of version 9; this is 1\./,
    ],
    [
      'broken',
      '{"type":"cassette","version":1,"time":1,"seed":1,"env":{}}\n{"type":"x"}',
      /broken:2 is no line/,
    ],
  ] as const) {
    await writeFile(at.work.file(name), text);
    const exit = await at.run(['-p', 'hi', '--replay', join('.', name)]);
    assert.equal(exit.code, 2, exit.stderr);
    assert.match(exit.stderr, message);
  }
  const over = await at.run(['-p', 'hi', '--record', 'notes.txt']);
  assert.equal(over.code, 2);
  assert.match(over.stderr, /--record: .*notes\.txt is there already\./);
  assert.equal(await readFile(at.work.file('notes.txt'), 'utf8'), FILES['notes.txt']);
  assert.equal(at.asked().length, 0);
});
