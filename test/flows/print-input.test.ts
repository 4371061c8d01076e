// How a prompt comes in: as an argument, behind a flag, on standard input, as both, and as a stream of JSON lines.

import assert from 'node:assert/strict';
import { journey, linesOf, onEachWire, onlySession, resultOf } from '../support/journey.ts';
import { assistant, user } from '../support/spoken.ts';

const HELLO = [{ text: 'Hello.' }];

const WAYS: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly prompt: string;
}[] = [
  { name: 'an argument', args: ['-p', 'say hello'], prompt: 'say hello' },
  { name: 'an argument alone', args: ['say hello'], prompt: 'say hello' },
  { name: 'several words', args: ['-p', 'say', 'hello', 'now'], prompt: 'say hello now' },
  { name: 'words behind --', args: ['-p', '--', '--say', '-hello'], prompt: '--say -hello' },
  { name: '--prompt', args: ['--prompt', 'say hello'], prompt: 'say hello' },
  { name: '`run` and words', args: ['run', 'say hello'], prompt: 'say hello' },
  { name: 'standard input', args: ['-p'], stdin: 'say hello\n', prompt: 'say hello\n' },
  { name: 'standard input without a flag', args: [], stdin: 'say hello', prompt: 'say hello' },
  { name: 'both', args: ['-p', 'review this'], stdin: '+ a line\n', prompt: 'review this\n\n+ a line\n' },
  {
    name: 'a flag and input',
    args: ['--prompt', 'look'],
    stdin: 'at héllo 🦀',
    prompt: 'look\n\nat héllo 🦀',
  },
  { name: 'an argument beside empty input', args: ['-p', 'say hello'], stdin: '\n \n', prompt: 'say hello' },
];

for (const { name, args, stdin, prompt } of WAYS)
  onEachWire(`${name} is the prompt`, async (wire) => {
    await using at = await journey(wire, { script: HELLO });
    const exit = await at.run(args, { stdin });
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Hello.\n', stderr: '' });
    assert.deepEqual(
      at.asked().map(({ messages }) => messages),
      [[user(prompt)]],
    );
    assert.deepEqual((await onlySession(at)).spoken, [user(prompt), assistant('Hello.')]);
  });

onEachWire('no prompt is an error that asks nobody and keeps nothing', async (wire) => {
  await using at = await journey(wire, { script: HELLO });
  const exits = [await at.run(['-p']), await at.run(['-p', ' ']), await at.run(['-p'], { stdin: '\n' })];
  assert.deepEqual(
    exits.map(({ code, stdout }) => ({ code, stdout })),
    Array(3).fill({ code: 42, stdout: '' }),
  );
  for (const { stderr } of exits) assert.match(stderr, /^crab: .+ \[input-empty\]\nGive a prompt/);
  assert.deepEqual(at.asked(), []);
  assert.deepEqual(await at.sessions(), []);
});

onEachWire('two prompts that cannot both be meant are refused', async (wire) => {
  await using at = await journey(wire, { script: HELLO });
  const both = await at.run(['--prompt', 'one', 'two']);
  const streamed = await at.run(['-p', 'one', '--input-format', 'stream-json']);
  assert.deepEqual(
    [both, streamed].map(({ code, stdout }) => ({ code, stdout })),
    [
      { code: 2, stdout: '' },
      { code: 2, stdout: '' },
    ],
  );
  assert.deepEqual(at.asked(), []);
});

const line = (content: unknown) =>
  `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`;

const TALK = { replies: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] };

onEachWire('JSON lines are prompts of one conversation, and each has its result', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  const stdin = `${line('first')}\n${line([
    { type: 'text', text: 'second,' },
    { type: 'text', text: 'in two' },
  ])}${line('third').trimEnd()}`;
  const format = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  const exit = await at.run(['-p', ...format], { stdin });
  const results = linesOf(exit).filter(({ type }) => type === 'result');
  assert.deepEqual(
    { code: exit.code, stderr: exit.stderr, said: results.map(({ result }) => result) },
    { code: 0, stderr: '', said: ['One.', 'Two.', 'Three.'] },
  );
  const { header, spoken } = await onlySession(at);
  assert.deepEqual(new Set(linesOf(exit).map(({ session_id }) => session_id)), new Set([header.id]));
  assert.deepEqual(spoken, [
    user('first'),
    assistant('One.'),
    user('second,\nin two'),
    assistant('Two.'),
    user('third'),
    assistant('Three.'),
  ]);
  assert.deepEqual(at.asked().at(-1)?.messages, spoken.slice(0, -1));
});

onEachWire('with --output-format json there is one object for each JSON line', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  const format = ['--input-format', 'stream-json', '--output-format', 'json'];
  const exit = await at.run(['-p', ...format], { stdin: line('first') + line('second') });
  assert.deepEqual(
    linesOf(exit).map(({ type, result, num_turns }) => ({ type, result, num_turns })),
    [
      { type: 'result', result: 'One.', num_turns: 1 },
      { type: 'result', result: 'Two.', num_turns: 1 },
    ],
  );
});

onEachWire('a prompt is answered while the next one has yet to be written', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  await using crab = at.start(['--input-format', 'stream-json', '--output-format', 'json']);
  crab.stdin.write(line('first'));
  assert.equal(resultOf({ stdout: await crab.waitFor('\n') })['result'], 'One.');
  crab.stdin.write(line('second'));
  assert.equal(resultOf({ stdout: await crab.waitFor('\n') })['result'], 'Two.');
  crab.stdin.end();
  assert.equal((await crab.exited).code, 0);
});

onEachWire('--replay-user-messages repeats each prompt once it is on disk', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  const format = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  await using crab = at.start([...format, '--replay-user-messages']);
  crab.stdin.write(line('first'));
  const seen = await crab.waitFor(/"isReplay":true.*\n/);
  const replay = linesOf({ stdout: seen }).at(-1) ?? {};
  const { spoken, header } = await onlySession(at);
  assert.deepEqual(spoken[0], user('first'), 'it is on disk when it is repeated');
  const { uuid, ...rest } = replay;
  assert.equal(typeof uuid, 'string');
  assert.deepEqual(rest, {
    type: 'user',
    message: { role: 'user', content: 'first' },
    parent_tool_use_id: null,
    isReplay: true,
    session_id: header.id,
  });
  crab.stdin.end(line([{ type: 'text', text: 'second' }]));
  const exit = await crab.exited;
  const prompts = linesOf(exit).filter(({ type }) => type === 'user');
  assert.deepEqual(
    prompts.map(({ message }) => (message as { content: unknown }).content),
    ['first', 'second'],
  );
});

onEachWire('a line that is no prompt ends the input; what came before it stands', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  const format = ['--input-format', 'stream-json', '--output-format', 'json'];
  const stdin = `${line('first')}{"type":"user","message":{"role":"user"}}\n${line('third')}`;
  const exit = await at.run(format, { stdin });
  assert.equal(exit.code, 42);
  assert.match(exit.stderr, /Line 2 of the input.*`message\.content`.*\[input-malformed\]/);
  assert.deepEqual(
    linesOf(exit).map(({ is_error, result }) => ({ is_error, result })),
    [
      { is_error: false, result: 'One.' },
      { is_error: true, result: '' },
    ],
  );
  assert.deepEqual((await onlySession(at)).spoken, [user('first'), assistant('One.')]);
});

onEachWire('an image in a JSON line reaches the model', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const source = { type: 'base64', media_type: 'image/png', data };
  const stdin = line([
    { type: 'text', text: 'what is this?' },
    { type: 'image', source },
  ]);
  const exit = await at.run(['--input-format', 'stream-json', '--output-format', 'json'], { stdin });
  assert.equal(exit.code, 0);
  const [request] = at.provider.requests.filter((each) => each.wire !== undefined);
  const messages = JSON.stringify(request?.body?.['messages']);
  const sent =
    wire === 'anthropic'
      ? JSON.stringify({ type: 'image', source }).slice(0, -1)
      : `data:image/png;base64,${data}`;
  assert.ok(messages.includes(sent), messages);
});
