import assert from 'node:assert/strict';
import { it } from 'node:test';
import { composePrompt } from './prompt.ts';

const INSTRUCTIONS = {
  system: 'SYSTEM',
  append: ['APPENDED'],
  files: [{ path: '/w/AGENTS.md', text: 'Use tabs.\n' }],
  environment: ['Date: 2026-01-02'],
};

it('composes the prompt in its fixed order', () => {
  assert.equal(
    composePrompt(INSTRUCTIONS, [], ['EXTENSION']),
    'SYSTEM\n\nEXTENSION\n\nAPPENDED\n\n<project_instructions path="/w/AGENTS.md">\nUse tabs.\n</project_instructions>\n\nDate: 2026-01-02',
  );
});

it('is the same text for the same input, since caches live on it', () => {
  const { system: _, ...builtIn } = INSTRUCTIONS;
  assert.equal(composePrompt(builtIn, []), composePrompt({ ...builtIn }, []));
  assert.ok(Buffer.byteLength(composePrompt({ append: [], files: [], environment: [] }, [])) < 1500);
});
