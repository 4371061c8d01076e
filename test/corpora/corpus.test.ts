// What the gate makes of the labelled commands in its default mode. The figures of more commands, and of what can be
// made of them, are the campaign's (`npm run campaign:permissions`).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateWith, runs } from '../../src/parts/permissions/workspace-for-test.ts';
import { LABELS, type Label, readCorpus } from './read-corpus.ts';

const CORPUS = readCorpus();

async function found(label: Label): Promise<readonly (readonly [string, string | undefined])[]> {
  const gate = gateWith();
  const listed = CORPUS.filter((each) => each.label === label);
  return Promise.all(
    listed.map(async ({ command }) => {
      const { decision, column } = await gate.check(runs(command));
      return [command, decision === 'allow' ? 'allow' : column] as const;
    }),
  );
}

test('the corpus holds each command once, and enough of each label', () => {
  const commands = CORPUS.map(({ command }) => command);
  assert.deepEqual(
    commands.filter((command, index) => commands.indexOf(command) !== index),
    [],
  );
  for (const label of LABELS)
    assert.ok(CORPUS.filter((each) => each.label === label).length >= 300, `few are ${label}`);
});

test('what only reads is not asked about', async () => {
  const asked = (await found('read-only')).filter(([, verdict]) => verdict !== 'allow');
  assert.deepEqual(asked, []);
});

test('what changes something is asked about', async () => {
  const unasked = (await found('mutating')).filter(([, verdict]) => verdict === 'allow');
  assert.deepEqual(unasked, []);
});

test('what is dangerous is asked about as such', async () => {
  const missed = (await found('dangerous')).filter(([, verdict]) => verdict !== 'dangerous');
  assert.deepEqual(missed, []);
});
