import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Risk } from '../../core/permission.ts';
import { createPathScope } from './path-scope.ts';
import { riskOf } from './risk.ts';
import { survey } from './survey.ts';
import { CWD, HOME, runs } from './workspace-for-test.ts';

async function risk(command: string): Promise<Risk> {
  const scope = createPathScope({ roots: [CWD], resolve: (path) => Promise.resolve(path), home: HOME });
  return riskOf(runs(command), await survey(runs(command), { cwd: CWD, scope, home: HOME }));
}

const TABLE: [string, Risk][] = [
  ['ls', { effect: 'read-only', word: 'reads', severity: 0, reasons: ['`ls` only reads'] }],
  [
    'ls; touch a',
    { effect: 'mutating', word: 'writes', severity: 1, reasons: ['`touch a` makes or dates files'] },
  ],
  [
    'cat /etc/hosts',
    { effect: 'read-only', word: 'outside', severity: 2, reasons: ['/etc/hosts is outside the workspace'] },
  ],
  [
    'frob',
    {
      effect: 'mutating',
      word: 'unknown',
      severity: 2,
      reasons: ['`frob` runs a program that is not known to be harmless'],
    },
  ],
  [
    'sudo ls && rm -rf a && ls',
    {
      effect: 'dangerous',
      word: 'danger',
      severity: 3,
      reasons: [
        '`sudo ls` runs with the rights of another user',
        '`rm -rf a` deletes without asking or with everything below',
      ],
    },
  ],
];

for (const [command, expected] of TABLE)
  test(`the risk of ${command}`, async () => {
    assert.deepEqual(await risk(command), expected);
  });

test('what cannot be read is told as the doubt', async () => {
  const { word, reasons } = await risk('ls "a');
  assert.equal(word, 'unknown');
  assert.match(reasons.join(), /cannot be read/);
});
