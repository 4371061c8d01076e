// Conversations that begin with a prepared one: what was said in it is there, how it was set up holds, and neither the
// template nor the session that it was made from changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journey, linesOf } from '../support/journey.ts';
import { assistant, user } from '../support/spoken.ts';

test('a conversation is prepared once and begun often', async () => {
  await using at = await journey('anthropic', {
    script: [{ text: 'I know the rules.' }, { text: 'Fine.' }, { text: 'Fine, too.' }],
  });
  const template = (...args: readonly string[]) => at.run(['session', 'template', ...args]);
  await at.run(['-p', 'Learn the rules of review.', '--name', 'teacher']);
  const setUp = ['--append-system-prompt', 'Review only.', '--permission-mode', 'plan'];
  const saved = await template('save', 'review', 'teacher', ...setUp);
  assert.equal(saved.stdout, 'Saved review with 2 messages: crab --template review\n');
  assert.equal(
    (await template('list')).stdout,
    'review                2 messages, anthropic/claude-sonnet-4-5, mode plan, 1 instruction\n',
  );
  assert.match(
    (await template('show', 'review')).stdout,
    /^template +review\n[\s\S]*› Learn the rules of review\.\n/,
  );
  assert.match((await at.run(['session', 'list'])).stdout, /^[^\n]* teacher\n$/, 'it is no session');

  for (const prompt of ['Review a.ts.', 'Review b.ts.']) {
    const exit = await at.run(['-p', '--template', 'review', '--output-format', 'stream-json', prompt]);
    assert.equal(exit.code, 0, exit.stderr);
    const [init] = linesOf(exit);
    assert.equal(init?.['permissionMode'], 'plan');
    const asked = at.asked().at(-1);
    assert.deepEqual(asked?.messages, [
      user('Learn the rules of review.'),
      assistant('I know the rules.'),
      user(prompt),
    ]);
    assert.match(String(asked?.system), /Review only\./);
  }
  assert.equal((await at.sessions()).filter(({ path }) => !path.includes('templates')).length, 3);
  const exit = await at.run([
    '-p',
    '--template',
    'review',
    '--permission-mode',
    'default',
    '--verbose',
    'Go on.',
  ]);
  assert.equal(exit.code, 0, 'what the command line says wins');

  assert.match((await template('delete', 'review')).stdout, /^Deleted review; /);
  assert.equal((await template('list')).stdout, 'There is no template.\n');
  assert.equal((await template('restore', 'review')).stdout, 'Restored review.\n');
});

test('a template without messages is a way to begin', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Yes.' }] });
  const saved = await at.run([
    ...['session', 'template', 'save', 'brief', '--no-messages'],
    ...['--append-system-prompt', 'Answer in one word.', '--effort', 'low'],
  ]);
  assert.equal(saved.stdout, 'Saved brief with 0 messages: crab --template brief\n');
  const exit = await at.run(['-p', '--template', 'brief', '--no-session', 'Is it so?']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 0, stdout: 'Yes.\n' });
  assert.match(String(at.asked().at(-1)?.system), /Answer in one word\./);
  assert.deepEqual(at.asked().at(-1)?.messages, [user('Is it so?')]);
});

test('what was allowed in a session does not come along', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Hello.' }] });
  await at.run(['-p', 'hi']);
  await at.run(['-p', '-c', ',permissions allow Bash(make *)']);
  await at.run(['session', 'template', 'save', 'plain']);
  const shown = await at.run(['session', 'template', 'show', 'plain', '--json']);
  const { path } = JSON.parse(shown.stdout) as { readonly path: string };
  const text = await at.work.read(path);
  assert.match(text, /hi/);
  assert.doesNotMatch(text, /make/);
});

test('what cannot be meant is refused with what can', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Hello.' }] });
  const refusals = [
    [['-p', '--template', 'x', 'hi'], /There is no template called "x"\. \[usage\]\nMake one with/],
    [['-p', '--template', 'x', '--continue', 'hi'], /--template and --continue cannot be used together/],
    [['session', 'template'], /The form is `crab session template save\|list\|show\|delete\|restore/],
    [['session', 'template', 'save', '../x', '--no-messages'], /"\.\.\/x" cannot be the name of a template/],
    [['session', 'template', 'save', 'x'], /There is no session of /],
    [['session', 'template', 'save', 'x', '--no-messages', '--effort', 'much'], /--effort much is not known/],
    [['session', 'template', 'show', 'x'], /There is no template called "x"/],
    [['session', 'template', 'restore', 'x'], /No template called "x" was deleted/],
  ] as const;
  for (const [args, message] of refusals) {
    const exit = await at.run(args);
    assert.ok(exit.code !== 0, args.join(' '));
    assert.match(exit.stderr, message);
  }
  await at.run(['session', 'template', 'save', 'x', '--no-messages']);
  const again = await at.run(['session', 'template', 'save', 'x', '--no-messages']);
  assert.match(again.stderr, /There is a template called x already\. \[usage\]\nUse --force/);
  assert.equal((await at.run(['session', 'template', 'save', 'x', '--no-messages', '--force'])).code, 0);
});
