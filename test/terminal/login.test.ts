// A key that is typed at a terminal: nothing of it is seen, and it works.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminal } from './terminal.ts';

const ASK = /Key for anthropic \(it is not shown\):/;

test('a key that is typed, mistyped and pasted is not shown, and is the one that is sent', async () => {
  await using at = await terminal({ env: { ANTHROPIC_API_KEY: '' } });
  await at.shell('$crab auth login anthropic --store file');
  await at.waitFor(ASK);
  await at.type('wrong');
  await at.key('C-u');
  await at.type('typed-key-1x');
  await at.key('BSpace', 'Left');
  await at.paste('-and-pasted');
  await at.key('Enter');
  const screen = await at.waitFor('The key of anthropic is stored');
  for (const text of ['wrong', 'typed', 'pasted', '*']) assert.ok(!screen.includes(text), screen);
  await at.shell('$crab "hi"');
  await at.waitFor('Here I am.');
  assert.equal(at.provider.requests[0]?.headers['x-api-key'], 'typed-key-1-and-pasted');
});

test('Ctrl-C at the key leaves the terminal as it was, and stores nothing', async () => {
  await using at = await terminal({ env: { ANTHROPIC_API_KEY: '' } });
  await at.shell('$crab auth login anthropic; echo status $?');
  await at.waitFor(ASK);
  await at.type('half-a-key');
  await at.key('C-c');
  await at.waitFor('status 130');
  await at.shell('echo shown; $crab auth status');
  const screen = await at.waitFor('No credential: anthropic');
  assert.match(screen, /^shown$/m);
  assert.ok(!screen.includes('half-a-key'));
});
