import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOutput } from '../core/tool.ts';
import { plainText } from '../parts/process/sanitizer.ts';
import { fitResult } from './result.ts';

const kept: string[] = [];
const options = {
  callId: 'c1',
  plain: async (text: string) => plainText(text),
  redact: (text: string) => text.replaceAll('hunter2', '[redacted]'),
  spill: async (_callId: string, text: string) => {
    kept.push(text);
    return '/spill/c1';
  },
};

test('what drives a terminal or turns text around does not reach the model', async () => {
  const { content } = await fitResult(
    textOutput('\u001b]0;title\u0007\u001b[31mred\u001b[0m\u202e a\r\nb\u0000'),
    options,
  );
  assert.deepEqual(content, [{ type: 'text', text: 'red a\nb' }]);
});

test('a secret that control characters are strewn into is found all the same', async () => {
  const { content } = await fitResult(textOutput('hun\u0000ter\u001b[1m2'), options);
  assert.deepEqual(content, [{ type: 'text', text: '[redacted]' }]);
});

test('a display has a size', async () => {
  const lines = Array.from({ length: 10_000 }, () => 'x'.repeat(1000));
  const display = { kind: 'matches', title: 't', count: 10_000, truncated: false, lines } as const;
  const fitted = await fitResult(textOutput('', display), options);
  assert.ok(JSON.stringify(fitted.display).length < 600_000);
  assert.deepEqual({ ...fitted.display, lines: [] }, { ...display, lines: [] });
});

test('a result that cannot be kept is shown all the same', async () => {
  const spill = () => Promise.reject(new Error('no space left'));
  const { content } = await fitResult(textOutput('y\n'.repeat(100_000)), { ...options, spill });
  const [block] = content;
  assert.match(
    block?.type === 'text' ? block.text : '',
    /^y\n(?:.|\n)*left out here; it could not be kept\]\ny\n/,
  );
});

test('of a text without end a bounded part is kept, and the result says so', async () => {
  const { content } = await fitResult(textOutput('y\n'.repeat(40_000_000)), options);
  const [block] = content;
  assert.match(
    block?.type === 'text' ? block.text : '',
    /left out here; the first 67108864 characters are in \/spill\/c1\]/,
  );
  assert.equal(kept.at(-1)?.length, 64 * 1024 * 1024);
});
