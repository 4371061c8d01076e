// Many calls in one message: they run side by side, are told as they end, and reach the model in call order.

import assert from 'node:assert/strict';
import { journey, linesOf, onEachWire, onlySession } from '../support/journey.ts';
import { assistant, call, result, user } from '../support/spoken.ts';

const COUNT = 20;
const numbers = Array.from({ length: COUNT }, (_, at) => at + 1);
const FILES = Object.fromEntries(numbers.map((n) => [`file-${n}.txt`, `I am ${n}\n`.repeat(n)]));
const reads = numbers.map((n) => ({ name: 'read', input: { path: `file-${n}.txt` } }));

const contentOf = (n: number) => Array.from({ length: n }, (_, at) => `${at + 1}\tI am ${n}`).join('\n');
const expected = [
  user('read them'),
  assistant('All of them.', ...numbers.map((n) => call(`call_1_${n}`, 'read', { path: `file-${n}.txt` }))),
  ...numbers.map((n) => result(`call_1_${n}`, contentOf(n))),
];

onEachWire('twenty reads in one message come back in call order', async (wire) => {
  const script = [{ text: 'All of them.', calls: reads }, { text: 'Done.' }];
  await using at = await journey(wire, { script, files: FILES });
  const exit = await at.run(['-p', 'read them']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Done.\n', stderr: '' });
  assert.equal(at.asked().length, 2, 'in one step');
  assert.deepEqual(at.asked()[1]?.messages, expected);
  const { spoken } = await onlySession(at);
  const byId = (said: (typeof spoken)[number]) => (said.role === 'result' ? said.id : '');
  const onTape = spoken.slice(2, 2 + COUNT);
  assert.deepEqual(new Set(onTape.map(byId)), new Set(expected.slice(2).map(byId)), 'each once on the tape');
});

onEachWire(
  'a resumed conversation has them in call order as well, whatever order they ended in',
  async (wire) => {
    const script = [{ text: 'All of them.', calls: reads }, { text: 'Done.' }];
    await using at = await journey(wire, { script, files: FILES });
    await at.run(['-p', 'read them']);
    await at.run(['-p', 'more', '--continue']);
    assert.deepEqual(at.asked()[2]?.messages, [...expected, assistant('Done.'), user('more')]);
  },
);

onEachWire('a command waits for the calls before it, and those behind wait for it', async (wire) => {
  const wait = (name: string) => ({
    name: 'bash',
    input: { command: `test ! -e busy && touch busy && cat ${name} && rm busy` },
  });
  const calls = [...reads.slice(0, 3), wait('file-1.txt'), wait('file-2.txt'), ...reads.slice(3, 6)];
  await using at = await journey(wire, { script: [{ calls }, { text: 'Done.' }], files: FILES });
  const args = ['-p', 'go', '--dangerously-skip-permissions', '--output-format', 'stream-json'];
  const exit = await at.run(args);
  assert.equal(exit.code, 0);
  const told = linesOf(exit).flatMap(({ type, message }) =>
    type === 'user' ? (message as { content: { tool_use_id: string; is_error: boolean }[] }).content : [],
  );
  assert.deepEqual(
    told.filter(({ is_error }) => is_error),
    [],
  );
  const order = told.map(({ tool_use_id }) => Number(tool_use_id.split('_')[2]));
  assert.deepEqual(order.slice(0, 3).toSorted(), [1, 2, 3], 'what stands before a command ends before it');
  assert.deepEqual(order.slice(3, 5), [4, 5], 'commands run one by one');
  assert.deepEqual(order.slice(5).toSorted(), [6, 7, 8], 'and what stands behind them after them');
});
