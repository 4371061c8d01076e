import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionQuestion } from '../../core/question.ts';
import { ask } from './answers.ts';

const QUESTION: PermissionQuestion = {
  kind: 'permission',
  id: 'q',
  callId: 'c',
  tool: 'computer',
  input: {},
  display: { kind: 'markdown', text: 'click' },
  reason: 'It sees everything.',
};

for (const [what, question, prompt, words] of [
  ['nothing', QUESTION, 'y / n', 'y or n'],
  [
    'the session',
    { ...QUESTION, rule: 'Computer', sessionOnly: true },
    'y / n / a (this session)',
    'y, n or a',
  ],
  [
    'the folder',
    { ...QUESTION, rule: 'Computer' },
    'y / n / a (this session) / p (always here)',
    'y, n, a or p',
  ],
] as const) {
  test(`a question whose answer is kept for ${what} offers just that`, () => {
    const asking = ask(question);
    assert.equal(asking.prompt(), `Allow computer? ${prompt} / n and why: `);
    const taken = ['y', 'a', 'p'].map((line) => asking.take(line));
    const otherwise = `Type ${words}; after n you may say why.`;
    const allowed = { kind: 'permission', allowed: true } as const;
    assert.deepEqual(taken, [
      allowed,
      words.includes('a') ? { ...allowed, remember: 'session' } : otherwise,
      words.includes('p') ? { ...allowed, remember: 'always' } : otherwise,
    ]);
  });
}
