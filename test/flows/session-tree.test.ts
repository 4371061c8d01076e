// Going back, forking and labelling, in a conversation and from the command line: what the model sees then, and what
// of it a later process finds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Journey, journey, onEachWire, onlySession } from '../support/journey.ts';
import { assistant, user } from '../support/spoken.ts';

const TALK: readonly Reply[] = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];

const lastAsked = (at: Journey) => at.asked().at(-1)?.messages;

/** Lines of a conversation over a pipe. */
function chat(at: Journey, lines: readonly string[], args: readonly string[] = []) {
  return at.run(['chat', ...args], { stdin: `${lines.join('\n')}\n` });
}

onEachWire('going back leaves what was said out of the model’s sight, and on the tape', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  await at.run(['-p', 'first']);
  const session = await onlySession(at);
  const target = session.entries.findLast(({ type }) => type === 'message')?.id ?? '';
  await at.run(['-c', '-p', 'wrong way']);
  const exit = await chat(at, [`,move ${target} It led nowhere.`, 'second try'], ['-c']);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  const told =
    '<branch_summary>\nThe conversation was on another branch and came back here. What happened there:\nIt led nowhere.\n</branch_summary>';
  assert.deepEqual(lastAsked(at), [user('first'), assistant('One.'), user(`${told}\nsecond try`)]);
  assert.deepEqual(
    (await onlySession(at)).spoken.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
  );
  await at.run(['-c', '-p', ',move start']);
  await at.run(['-c', '-p', 'afresh']);
  assert.deepEqual(lastAsked(at), [user('afresh')]);
});

test('a model tells what happened on the branch that is left, when it is asked to', async () => {
  const edit = { calls: [{ name: 'write', input: { path: 'wrong.ts', content: 'x' } }] };
  await using at = await journey('anthropic', {
    script: {
      scripts: [
        { when: 'branch that is left', replies: [{ text: '## Progress\nStreaming failed.' }] },
        { when: 'first', replies: [{ text: 'One.' }, edit, { text: 'Two.' }, { text: 'Three.' }] },
      ],
    },
  });
  await at.run(['-p', 'first']);
  const target = (await onlySession(at)).entries.findLast(({ type }) => type === 'message')?.id ?? '';
  await at.run(['-c', '-p', '--permission-mode', 'acceptEdits', 'wrong way']);
  const moved = await at.run(['-c', '-p', `,move ${target} ? the stream`]);
  assert.equal(
    moved.stdout,
    `The next line goes on from ${target}. It is told:\n## Progress\nStreaming failed.\n`,
  );
  const asked = JSON.stringify(at.asked().at(-1)?.messages);
  assert.match(asked, /\[User\]: wrong way/);
  assert.doesNotMatch(asked, /first|Tool result/);
  assert.match(asked, /Look above all at: the stream/);
  const { entries } = await onlySession(at);
  const summary = entries.find(({ type }) => type === 'branch_summary');
  assert.deepEqual(summary?.type === 'branch_summary' && summary.details, {
    readFiles: [],
    modifiedFiles: [at.work.file('wrong.ts')],
  });
  await at.run(['-c', '-p', 'go on']);
  assert.match(JSON.stringify(lastAsked(at)), /Streaming failed/);
  const again = await at.run(['-c', '-p', ',move nothing-such ?']);
  assert.match(again.stderr, /No entry has the label or id/);
});

onEachWire('a fork goes on in a file of its own, which says where it comes from', async (wire) => {
  await using at = await journey(wire, { script: TALK });
  await at.run(['-p', 'first']);
  const { path, header } = await onlySession(at);
  const exit = await at.run(['-p', 'more', '--resume', header.id, '--fork']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 0, stdout: 'Two.\n' });
  const [old, forked] = await at.sessions();
  assert.deepEqual(old?.spoken, [user('first'), assistant('One.')]);
  assert.deepEqual(forked?.spoken, [...(old?.spoken ?? []), user('more'), assistant('Two.')]);
  assert.deepEqual(
    { parent: forked?.header.parentSession, sender: forked?.header.sender },
    { parent: path, sender: `cli:${forked?.header.id}` },
  );
  await at.run(['-p', 'on', '--continue']);
  assert.equal((await at.sessions())[1]?.spoken.length, 6);
});

test('what was forbidden stays so on every branch', async () => {
  await using at = await journey('anthropic', { script: TALK });
  const held = async (lines: readonly string[], args: readonly string[] = []) =>
    (await chat(at, lines, args)).stdout.match(/^deny {3}Bash\(git push \*\)/gm)?.length;
  const rule = ',permissions deny Bash(git push *)';
  assert.equal(await held(['hello', rule, ',move start', ',permissions']), 1);
  assert.equal(await held([',permissions', 'again', ',rewind 1', ',permissions'], ['-c']), 2);
});

test('a fork needs something to copy', async () => {
  await using at = await journey('openai', { script: TALK });
  const exit = await at.run(['-p', 'x', '--fork']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 2, stdout: '' });
  assert.match(exit.stderr, /--fork needs --continue, --resume or --session/);
  const empty = await at.run(['-p', ',fork']);
  assert.match(empty.stderr, /There is nothing to copy/);
  assert.deepEqual(await at.sessions(), []);
});

onEachWire(
  'in a conversation a fork takes the session’s place, and the tree shows both ways',
  async (wire) => {
    await using at = await journey(wire, { script: TALK });
    const exit = await chat(at, ['first', ',label good', ',fork', 'second', ',move good', 'third', ',tree']);
    assert.equal(exit.code, 0, exit.stderr);
    const [old, forked] = await at.sessions();
    assert.deepEqual(old?.spoken, [user('first'), assistant('One.')]);
    assert.deepEqual(lastAsked(at), [user('first'), assistant('One.'), user('third')]);
    assert.match(exit.stdout, new RegExp(`Going on in a fork, ${forked?.header.id}`));
    const shape = exit.stdout
      .split('\n')
      .flatMap((line) => /[●○◆].*$/.exec(line)?.[0].replace(/ \w{8}/, '') ?? []);
    assert.deepEqual(shape, [
      '● user: first',
      '● [good] assistant: One.',
      '○ user: second',
      '○ assistant: Two.',
      '● user: third',
      '◆ assistant: Two.',
    ]);
  },
);

test('a conversation that is kept nowhere can be forked and gone back in as well', async () => {
  await using at = await journey('anthropic', { script: TALK });
  const exit = await chat(
    at,
    ['first', ',label here', ',clone', 'second', ',move here', 'third'],
    ['--no-session'],
  );
  assert.equal(exit.code, 0, exit.stderr);
  assert.deepEqual(lastAsked(at), [user('first'), assistant('One.'), user('third')]);
  assert.deepEqual(await at.sessions(), []);
});

test('an entry that is not there is an error that changes nothing', async () => {
  await using at = await journey('openai', { script: TALK });
  await at.run(['-p', 'first']);
  const before = await onlySession(at);
  for (const line of [',move nowhere', ',fork nowhere', ',label x nowhere']) {
    const exit = await at.run(['-c', '-p', line]);
    assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 9, stdout: '' }, line);
    assert.match(exit.stderr, /No entry has the label or id "nowhere" in session .*\[entry-unknown\]/);
  }
  assert.deepEqual(await onlySession(at), before);
});
