import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Risk } from '../core/permission.ts';
import type { PermissionQuestion } from '../core/question.ts';
import { questionText } from './question-text.ts';

const QUESTION: PermissionQuestion = {
  kind: 'permission',
  id: 'q',
  callId: 'c',
  tool: 'bash',
  input: {},
  display: { kind: 'command', command: 'ls' },
  reason: 'The mode asks.',
  rule: 'Bash(ls)',
};

const BODY = '  ls\n  because The mode asks.\n';

for (const [risk, title] of [
  [{ effect: 'read-only', word: 'outside', severity: 2, reasons: [] }, ' [read-only: outside]'],
  [{ effect: 'dangerous', word: 'danger', severity: 3, reasons: [] }, ' [dangerous]'],
  [undefined, ''],
] as const satisfies readonly [Risk | undefined, string][]) {
  test(`a question says what the call does at a glance:${title || ' nothing known'}`, () => {
    const question = { ...QUESTION, ...(risk !== undefined && { risk }) };
    assert.equal(
      questionText(question, false),
      `? bash wants to run${title}:\n${BODY}  a and p allow Bash(ls)\n`,
    );
  });
}

test('what is kept for the session alone is offered for no longer', () => {
  const question = { ...QUESTION, sessionOnly: true } as const;
  assert.equal(questionText(question, false), `? bash wants to run:\n${BODY}  a allows Bash(ls)\n`);
});
