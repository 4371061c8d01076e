import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Declaration } from '../core/agent.ts';
import { PERMISSION_MODES, stricterMode } from '../core/permission.ts';
import { BUILTIN_AGENTS, findProfile, peersOf } from './peers.ts';
import { isInScope, scopeBlock, unknownTools } from './scope.ts';

const bash = { name: 'bash', aliases: ['Bash'] };
const scope = (agent: Partial<Declaration['agent']>, more: Partial<Declaration> = {}) => ({
  agent: { name: 'a', ...agent },
  withoutTools: [],
  ...more,
});

test('what is not named is outside, by every name', () => {
  assert.equal(isInScope(bash, scope({})), true);
  assert.equal(isInScope(bash, scope({ tools: [] })), false);
  assert.equal(isInScope(bash, scope({ tools: ['Bash'] })), true);
  assert.equal(isInScope(bash, scope({ tools: ['ba*'] })), true);
  assert.equal(isInScope(bash, scope({ tools: ['b', 'as', '*x', 'b.sh', 'mcp__*'] })), false);
  assert.equal(isInScope(bash, scope({ tools: ['bash'] }, { withoutTools: ['Bash'] })), false);
  assert.equal(isInScope(bash, scope({ tools: ['bash'] }, { onlyTools: ['read'] })), false);
  assert.equal(isInScope(bash, scope({}, { onlyTools: ['bash'] })), true);
  assert.equal(isInScope(bash, scope({ tools: ['bash'], withoutTools: ['Ba*'] })), false);
});

test('a grant of what there is not is told, once', () => {
  const unknown = (agent: Partial<Declaration['agent']>) => unknownTools({ name: 'a', ...agent }, [bash]);
  assert.deepEqual(unknown({ tools: ['Bash', 'ba*', '*'] }), []);
  assert.deepEqual(unknown({ tools: ['bush', 'mcp__git__*', 'mcp__git__log'] }), [
    'bush',
    'mcp__git__*',
    'mcp__git__log',
  ]);
  assert.deepEqual(unknown({ tools: ['mcp__own__*'], mcps: { own: { command: 'x' } } }), []);
  assert.deepEqual(unknown({ withoutTools: ['mcp__*', 'bush'] }), ['bush']);
});

test('an agent without bounds is told of none', () => {
  assert.equal(scopeBlock({ name: 'crab' }, [bash]), '');
  assert.match(
    scopeBlock({ name: 'a', tools: ['x'], skills: ['check-feeds', 'summarize'] }, [bash]),
    /\ntools: bash\nskills: check-feeds, summarize\n/,
  );
});

test('agents of the declaration stand before those that Crab brings, and nobody is his own peer', () => {
  const explore = { agent: { name: 'explore' }, description: 'mine', prompt: '' };
  const declaration = { agent: { name: 'worker' }, agents: [explore] };
  assert.deepEqual(
    peersOf(declaration).map(({ name, description }) => [name, description.split(' ')[0]]),
    [
      ['explore', 'mine'],
      ['crab', 'the'],
      ['general-purpose', 'for'],
      ['plan', 'works'],
    ],
  );
  assert.equal(findProfile(declaration, 'Explore'), explore);
  assert.equal(
    findProfile({}, 'Plan'),
    BUILTIN_AGENTS.find(({ agent }) => agent.name === 'plan'),
  );
  assert.throws(() => findProfile({}, 'exlore'), { code: 'agent-unknown', hint: 'Did you mean explore?' });
});

test('none of the agents that Crab brings has a grant of its own', () => {
  assert.ok(BUILTIN_AGENTS.every(({ borrows }) => borrows === true));
});

test('of two modes the stricter one holds, whichever comes first', () => {
  for (const one of PERMISSION_MODES)
    for (const other of PERMISSION_MODES) assert.equal(stricterMode(one, other), stricterMode(other, one));
  assert.equal(stricterMode('dontAsk', 'acceptEdits'), 'dontAsk');
  assert.equal(stricterMode('bypassPermissions', 'plan'), 'plan');
  assert.equal(stricterMode('default', undefined), 'default');
});
