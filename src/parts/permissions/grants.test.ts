// What a person allowed is never asked about again: over many calls that are put together by chance from pieces that
// quote, chain, redirect, point elsewhere and mean something to patterns.

import assert from 'node:assert/strict';
import { normalize } from 'node:path';
import { test } from 'node:test';
import type { GateRequest } from '../../core/permission.ts';
import { seeded } from '../../core/seeded.ts';
import { createGate, type PermissionGate } from './gate.ts';
import { asks, CWD, HOME, runs } from './workspace-for-test.ts';

const WORDS = [
  'make',
  'npm run',
  'frob',
  'cat',
  'git commit -m',
  'touch',
  'grep -r',
  'timeout 9 npm',
  'A=1 tool',
];
const ARGUMENTS = [
  'x',
  '"a b"',
  "'*'",
  '*.ts',
  '\\*',
  'a\\ b',
  '"(x"',
  ')',
  '[a-z]',
  '$HOME',
  '$(date)',
  '`id`',
  '> out',
  '2>&1',
  '~/x',
  '../y',
  '/etc/hosts',
  'ü',
  '.env',
  ':*',
  '# no',
  '"',
  '--flag=v',
  'a,b',
];
const JOINTS = [' && ', ' | ', '; ', ' || ', '\n', ' & '];
const PATHS = [
  'a.ts',
  'a b.ts',
  '[x].ts',
  '*.ts',
  '..',
  '/etc/hosts',
  'link/x',
  '.env',
  'ü/(y)',
  '\\back',
  '~/x',
];
const HOSTS = ['https://a.example/x?y=1', 'http://[::1]:80/', 'https://A.example./', 'nonsense'];

function gateOf(): PermissionGate {
  return createGate({
    cwd: CWD,
    directories: [],
    rules: [],
    // One link, to show that the grant is of where it leads.
    resolve: async (path) => normalize(path).replace(`${CWD}/link`, '/elsewhere'),
    home: HOME,
  });
}

function someRequest(pick: <T>(from: readonly T[]) => T, below: (limit: number) => number): GateRequest {
  const mode = pick(['default', 'acceptEdits', 'trustProject'] as const);
  const kind = below(10);
  if (kind < 6) {
    const part = () => [pick(WORDS), ...Array.from({ length: below(4) }, () => pick(ARGUMENTS))].join(' ');
    const parts = Array.from({ length: 1 + below(3) }, part);
    return runs(
      parts.reduce((text, next) => `${text}${pick(JOINTS)}${next}`),
      mode,
    );
  }
  const paths = Array.from({ length: 1 + below(2) }, () => {
    const path = pick(PATHS);
    return path.startsWith('/') ? path : normalize(`${CWD}/${path}`);
  });
  if (kind < 7) return asks('edit', { kind: 'write', paths }, mode);
  if (kind < 8) return asks('read', { kind: 'read', paths }, mode);
  if (kind < 9) return asks('web_fetch', { kind: 'network', url: pick(HOSTS) }, mode);
  return asks('mcp__srv__tool_x', { kind: 'external', server: 'srv' }, mode);
}

/** How many were asked about and granted; every grant that did not stick. */
async function campaign(
  count: number,
  grantOf: (rule: string) => string,
): Promise<{ readonly granted: number; readonly again: readonly string[] }> {
  const random = seeded(7);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const again: string[] = [];
  let granted = 0;
  for (let round = 0; round < count; round++) {
    const request = someRequest(pick, below);
    const gate = gateOf();
    if ((await gate.check(request)).decision !== 'ask') continue;
    const rule = await gate.grantFor(request);
    if (rule === undefined) continue;
    granted += 1;
    const text = grantOf(rule.text);
    // In this conversation, and in the next one, which knows the text alone.
    for (const each of [gate, gateOf()]) {
      each.allow({ ...rule, text });
      const { decision, reason } = await each.check(request);
      if (decision !== 'allow') again.push(`${JSON.stringify(request.access)} by ${text}: ${reason}`);
    }
  }
  return { granted, again };
}

test('a call that was allowed is not asked about again', async () => {
  const { granted, again } = await campaign(3_000, (rule) => rule);
  assert.deepEqual([...new Set(again)].slice(0, 5), []);
  assert.ok(granted > 1_000, `only ${granted} were granted`);
});

test('a grant that is written wrongly is found', async () => {
  const { again } = await campaign(300, (rule) => rule.replaceAll('\\', ''));
  assert.ok(again.length > 0);
});

test('a grant for several files is never one for a wide folder, nor for a secret among them', async () => {
  const ruleOf = async (...paths: readonly string[]) => {
    const gate = gateOf();
    const request = asks('edit', { kind: 'write', paths });
    await gate.check(request);
    return (await gate.grantFor(request))?.text;
  };
  assert.deepEqual(
    [
      await ruleOf(`${CWD}/a.ts`, '/etc/hosts'),
      await ruleOf('/srv/a', '/srv/b'),
      await ruleOf(`${CWD}/.env`, `${CWD}/a.ts`),
      await ruleOf(`${CWD}/src/a`, `${CWD}/src/b`),
    ],
    [undefined, undefined, undefined, 'Edit(/src)'],
  );
});
