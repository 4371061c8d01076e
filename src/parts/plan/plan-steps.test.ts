import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planSteps } from './plan-steps.ts';

const texts = (markdown: string) => planSteps(markdown).map(({ number, text }) => `${number} ${text}`);

test('numbered items and check boxes are the steps, in the order of the file', () => {
  const markdown =
    '# Plan\n\n- a remark\n\n1. One\n   - below one\n2. Two\n\n## Then\n\n- [ ] Three\n- [x] Four\n';
  assert.deepEqual(texts(markdown), ['1 One', '2 Two', '3 Three', '4 Four']);
});

test('bullets are the steps where nothing else is, and code is none', () => {
  assert.deepEqual(texts('- One\n  - below\n* Two\n```\n- not this\n1. nor this\n```\n+ Three'), [
    '1 One',
    '2 Two',
    '3 Three',
  ]);
  assert.deepEqual(texts('No list here.\n2024 was a year.\n'), []);
});
