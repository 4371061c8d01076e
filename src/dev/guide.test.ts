// The guide is part of the product: its examples run, and its tables list what the code knows.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { converse, post, WIRE_NAMES } from '../../test/support/wire-client.ts';
import { startFakeProvider } from './fake-provider.ts';
import { FAULTS, parseScenario, REPLY } from './parse-scenario.ts';

const GUIDE = new URL('../../docs/guide/fake-provider.md', import.meta.url);
const guide = await readFile(GUIDE, 'utf8');
const examples = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => text);
const [hello = '', scripts = '', faults = '', long = ''] = examples;

async function play(example: string, wire: (typeof WIRE_NAMES)[number], prompt: string) {
  const provider = await startFakeProvider({ scenario: parseScenario(example) });
  try {
    const answers = await converse(provider.url, wire, prompt, () => 'a1b2c3 first commit');
    return answers.map(({ text, calls }) => [text, ...calls.map((call) => call.json)]);
  } finally {
    await provider.close();
  }
}

/** The first column of the table under a heading. */
function rows(heading: string): readonly string[] {
  const [, section = ''] = guide.split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
}

test('there are four examples', () => assert.equal(examples.length, 4));

test('the tables list every field and every fault', () => {
  assert.deepEqual(rows('A reply'), Object.keys(REPLY));
  assert.deepEqual(rows('Faults'), Object.keys(FAULTS));
});

for (const wire of WIRE_NAMES) {
  test(`${wire}: the first example quotes a result`, async () => {
    assert.deepEqual(await play(hello, wire, 'hello'), [
      ['I look around first.', '{"command":"git log --oneline | head -3"}'],
      ['The last commits are:\na1b2c3 first commit'],
    ]);
  });

  test(`${wire}: the second example answers by the first message`, async () => {
    assert.deepEqual(await play(scripts, wire, 'a bug'), [['Fixed.']]);
    assert.deepEqual(await play(scripts, wire, 'write a test'), [['Turn 1: added.']]);
    assert.deepEqual(await play(scripts, wire, 'sing'), [['I only fix bugs and add tests.']]);
  });

  test(`${wire}: the third example fails twice and then works`, async () => {
    const provider = await startFakeProvider({ scenario: parseScenario(faults) });
    try {
      const statuses: number[] = [];
      for (let time = 0; time < 3; time++) {
        const response = await post(provider.url, wire, [{ role: 'user', content: 'x' }]);
        statuses.push(response.status);
        await response.text();
      }
      assert.deepEqual(statuses, [429, 429, 200]);
    } finally {
      await provider.close();
    }
  });

  test(`${wire}: the last example is as long as it says`, async () => {
    const [[text = ''] = []] = await play(long, wire, 'x');
    assert.equal(text.length, 360_000);
  });
}
