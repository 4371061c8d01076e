import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Declaration } from '../../core/agent.ts';
import type { OpenRequest } from '../../core/platform.ts';
import { SANDBOX_OFF } from '../../core/sandbox.ts';
import { joinNotices } from './join.ts';

const OPENED: Declaration = {
  agent: { name: 'crab' },
  mode: 'default',
  rules: [{ decision: 'deny', text: 'Bash(rm *)', source: 'config.toml:1' }],
  directories: [],
  sandbox: SANDBOX_OFF,
  withoutTools: [],
  limits: {},
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: true,
};

function request(changes: Partial<Declaration> = {}, opened = OPENED): OpenRequest {
  const declaration = { ...opened, ...changes };
  return { agent: 'crab', cwd: '/work', session: { kind: 'new' }, declaration, commands: [] };
}

test('whoever declares the same joins, and is told nothing', () => {
  assert.deepEqual(joinNotices(request(), request()), []);
});

test('what allows more is no reason to stay out, and is told', () => {
  const allowed = { decision: 'allow', text: 'Bash', source: '--allowedTools' } as const;
  const told = ['the session is in use: it goes on as it was opened, in /work and mode default'];
  assert.deepEqual(
    joinNotices(request({ rules: [...OPENED.rules, allowed], mode: 'acceptEdits' }), request()),
    told,
  );
});

test('whatever restricts further is named, and joining is refused', () => {
  const lost = (changes: Partial<Declaration>, opened: Partial<Declaration> = {}) => {
    try {
      joinNotices(request(changes, { ...OPENED, ...opened }), request(opened));
      return 'joined';
    } catch (error) {
      return error instanceof Error ? error.message.replace(/^.*asks for: /, '') : String(error);
    }
  };
  const asking = { decision: 'ask', text: 'Bash', source: '--ask' } as const;
  assert.deepEqual(
    [
      lost({ rules: [...OPENED.rules, asking] }),
      lost({ mode: 'plan' }),
      lost({ mode: 'dontAsk' }),
      lost({ modeCeiling: 'acceptEdits' }),
      lost({ modeCeiling: 'acceptEdits' }, { modeCeiling: 'default' }),
      lost({ onlyTools: ['read'] }),
      lost({ onlyTools: ['read', 'grep'] }, { onlyTools: ['read'] }),
      lost({ agent: { name: 'crab', tools: ['read'] } }),
      lost({ withoutTools: ['bash'] }),
      lost({ limits: { budget: { runUsd: 1 } } }),
      lost({ sandbox: { ...SANDBOX_OFF, mode: 'required' } }),
    ],
    [
      'ask Bash.',
      'mode plan (it is in default).',
      'mode dontAsk (it is in default).',
      'no mode beyond acceptEdits.',
      'joined',
      'no tools but read.',
      'joined',
      'no tools but read.',
      'no bash.',
      'a budget of 1 USD.',
      'that sandbox.',
    ],
  );
});
