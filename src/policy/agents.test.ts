import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Declaration } from '../core/agent.ts';
import { SANDBOX_OFF } from '../core/sandbox.ts';
import { asAgent, promptFor } from './agents.ts';

const DECLARED: Declaration = {
  agent: { name: 'crab', defaults: { model: 'a/default' } },
  mode: 'acceptEdits',
  rules: [],
  directories: [],
  sandbox: SANDBOX_OFF,
  withoutTools: [],
  limits: { turns: 5, budget: { runUsd: 1, dayUsd: 9 } },
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: true,
};

test('a definition becomes part of the declaration, and bounds only narrow', () => {
  const agent = { name: 'scout', model: 'a/own', tools: ['read'] };
  const limits = { turns: 9, runUsd: 0.5, maxTokens: 100 };
  const made = asAgent(DECLARED, { agent, description: 'd', prompt: 'You scout.', mode: 'plan', limits });
  assert.deepEqual(made, {
    ...DECLARED,
    agent: { ...agent, defaults: { model: 'a/default' } },
    mode: 'plan',
    modeCeiling: 'plan',
    limits: { turns: 5, maxTokens: 100, budget: { runUsd: 0.5, dayUsd: 9 } },
    instructions: { ...DECLARED.instructions, system: 'You scout.' },
  });
});

test('what the person says with a command wins where both choose', () => {
  const given = { ...DECLARED, agent: { name: 'crab', model: 'a/flag', tools: ['ls'] }, onlyTools: ['ls'] };
  const told = { ...given, instructions: { ...DECLARED.instructions, system: 'Mine.' } };
  const made = asAgent(told, {
    agent: { name: 's', model: 'a/own', tools: ['ls', 'read'] },
    description: '',
    prompt: 'No.',
  });
  assert.deepEqual(made.agent, { name: 's', model: 'a/flag', tools: ['ls', 'read'] });
  assert.deepEqual([made.onlyTools, made.instructions.system, made.mode], [['ls'], 'Mine.', 'acceptEdits']);
});

test('a guest is addressed by the name of an agent, and by nothing else', () => {
  const agents = ['scout', 'Plan'];
  assert.deepEqual(promptFor('@scout what is this?', agents), { text: 'what is this?', guest: 'scout' });
  assert.deepEqual(promptFor(' @PLAN: two\nlines', agents), { text: 'two\nlines', guest: 'Plan' });
  for (const text of ['@src/a.ts is odd', '@other x', '@scout', 'ask @scout now', 'a@scout b'])
    assert.deepEqual(promptFor(text, agents), { text });
});
