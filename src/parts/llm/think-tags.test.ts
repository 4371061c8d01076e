import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ThinkTags } from './think-tags.ts';

function splitOf(...pieces: readonly string[]): { thinking: string; text: string } {
  const tags = new ThinkTags();
  const all = [
    ...pieces.map((piece) => (tags.done ? { thinking: '', text: piece } : tags.push(piece))),
    tags.end(),
  ];
  return {
    thinking: all.map(({ thinking }) => thinking).join(''),
    text: all.map(({ text }) => text).join(''),
  };
}

for (const [what, answer, expected] of [
  ['DeepSeek, Qwen', '<think>\nHm <b>.</think>\n\nYes.', { thinking: 'Hm <b>.', text: 'Yes.' }],
  ['blank lines first', '\n <think>Hm.</think>Yes.', { thinking: 'Hm.', text: 'Yes.' }],
  ['Magistral', '[THINK]Hm.[/THINK]Yes.', { thinking: 'Hm.', text: 'Yes.' }],
  ['Seed', '<seed:think>Hm.</seed:think>Yes.', { thinking: 'Hm.', text: 'Yes.' }],
  ['nothing thought', '<think></think>Yes.', { thinking: '', text: 'Yes.' }],
  ['no end', '<think>Hm.', { thinking: 'Hm.', text: '' }],
  ['no tags', 'Yes <think>no</think>.', { thinking: '', text: 'Yes <think>no</think>.' }],
  ['a beginning of a tag', '<thi', { thinking: '', text: '<thi' }],
  ['a second pair', '<think>a</think>b<think>c</think>', { thinking: 'a', text: 'b<think>c</think>' }],
  ['nothing', '', { thinking: '', text: '' }],
] as const) {
  test(`thinking in tags: ${what}, however it is cut`, () => {
    assert.deepEqual(splitOf(answer), expected);
    for (let cut = 0; cut <= answer.length; cut++)
      assert.deepEqual(
        trimmed(splitOf(answer.slice(0, cut), answer.slice(cut))),
        trimmed(expected),
        `at ${cut}`,
      );
    assert.deepEqual(trimmed(splitOf(...answer)), trimmed(expected), 'a character at a time');
  });
}

/** A line break before the closing tag may have been passed on before the tag came. */
function trimmed({ thinking, text }: { thinking: string; text: string }): object {
  return { thinking: thinking.trim(), text };
}
