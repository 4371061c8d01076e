import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { route, suggestions } from './route.ts';

const NAMES = new Set(['help', 'tools', 'handoff', 'name', 'rename']);

describe('routing', () => {
  const cases: readonly (readonly [string, ReturnType<typeof route>])[] = [
    [',help', { to: 'command', name: 'help', args: '' }],
    ['/help  tools ', { to: 'command', name: 'help', args: 'tools' }],
    ['  ,handoff a  b\nc', { to: 'command', name: 'handoff', args: 'a  b\nc' }],
    [',git status', { to: 'shell', command: 'git status', store: true, repair: true }],
    [', ls -la', { to: 'shell', command: 'ls -la', store: true, repair: true }],
    ['!make', { to: 'shell', command: 'make', store: true, repair: false }],
    ['!help', { to: 'shell', command: 'help', store: true, repair: false }],
    ['!! man make', { to: 'shell', command: 'man make', store: false, repair: false }],
    [',echo $HOME', { to: 'shell', command: 'echo $HOME', store: true, repair: true }],
    ['/hepl', { to: 'unknown', name: 'hepl' }],
    ['/etc/hosts is odd', { to: 'model', text: '/etc/hosts is odd' }],
    ['fix it, please', { to: 'model', text: 'fix it, please' }],
    ['help', { to: 'model', text: 'help' }],
    [',', { to: 'model', text: ',' }],
    ['!', { to: 'model', text: '!' }],
  ];
  for (const [line, expected] of cases)
    it(`sends ${JSON.stringify(line)} to ${expected.to}`, () =>
      assert.deepEqual(route(line, NAMES), expected));

  it('suggests what is near to a mistyped name', () => {
    assert.deepEqual(suggestions('hepl', NAMES), ['help']);
    assert.deepEqual(suggestions('renam', NAMES), ['rename']);
    assert.deepEqual(suggestions('xyzzy', NAMES), []);
  });
});
