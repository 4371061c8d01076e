import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../core/schema.ts';
import { prepareShellInput } from './shell-input.ts';

const CASES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['what fits is left as it is', { command: 'ls', timeout: 5000 }, { command: 'ls', timeout: 5000 }],
  ['a script for a shell', { command: ['bash', '-lc', 'ls | wc'] }, { command: 'ls | wc' }],
  ['a vector without a shell', { command: ['git', 'log', 'a b'] }, { command: "git log 'a b'" }],
  ['seconds', { cmd: 'ls', timeout_ms: '30' }, { command: 'ls', timeout: 30_000 }],
  ['more than there is', { command: 'ls', timeout: 1e9 }, { command: 'ls', timeout: 600_000 }],
  ['no timeout', { command: 'ls', timeout: null }, { command: 'ls' }],
  ['nothing', {}, {}],
  ['a folder', { command: 'ls', workdir: "it's" }, { command: "cd 'it'\\''s' || exit\nls" }],
  ['the folder that it is in anyway', { command: 'ls', workdir: '.' }, { command: 'ls' }],
  ['background', { command: 'ls', is_background: true }, { command: 'ls', run_in_background: true }],
  ['a terminal', { command: 'ls', tty: true }, { command: 'ls', pty: true }],
  ['the sandbox of others', { command: 'ls', justification: 'x', login: true }, { command: 'ls' }],
  ['what nobody knows is not dropped', { command: 'ls', color: 1 }, { command: 'ls', color: 1 }],
  ['a vector that is none is not made one', { command: ['ls', 1] }, { command: ['ls', 1] }],
];

for (const [name, given, expected] of CASES)
  test(`repaired: ${name}`, () => assert.deepEqual(prepareShellInput(given), expected));
