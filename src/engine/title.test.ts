import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Message, userMessage } from '../core/message.ts';
import { cleanTitle, titlePrompt } from './title.ts';

test('what a model adds to a title is taken away', () => {
  const titles: Readonly<Record<string, string>> = {
    'Fix the parser': 'Fix the parser',
    '"Fix the parser."': 'Fix the parser',
    '\n\n## Title: **Fix the parser**\n\nBecause it is about the parser.': 'Fix the parser',
    '„Den Parser reparieren“': 'Den Parser reparieren',
    '修复解析器。': '修复解析器',
    'Speed up v1.2 of `grep`': 'Speed up v1.2 of `grep',
    'red\u001b[31m and\u202e backwards\tand  wide': 'red [31m and backwards and wide',
    '\u0000\u0007': '',
    '...': '',
    ['A title that says '.padEnd(200, 'everything ')]:
      'A title that says everything everything everything everythi…',
    [`${'👍'.repeat(61)}a`]: `${'👍'.repeat(59)}…`,
  };
  assert.deepEqual(
    Object.fromEntries(Object.keys(titles).map((given) => [given, cleanTitle(given)])),
    titles,
  );
});

test('a model is told what was said, its beginning and its end, and no results', () => {
  const result: Message = {
    role: 'toolResult',
    toolCallId: 'c1',
    toolName: 'read',
    content: [{ type: 'text', text: 'a secret file' }],
    isError: false,
    timestamp: 0,
  };
  const many = Array.from({ length: 50 }, (_, at) => userMessage(`prompt ${at} ${'x'.repeat(5000)}`, 0));
  const prompt = titlePrompt([...many, result]) ?? '';
  const told = [...prompt.matchAll(/prompt (\d+)/g)].map(([, at]) => Number(at));
  assert.deepEqual(told, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
  assert.ok(prompt.length < 25_000, `${prompt.length} characters`);
  assert.ok(!prompt.includes('a secret file'));
  assert.equal(titlePrompt([result]), undefined);
  assert.equal(titlePrompt([userMessage('  ', 0)]), undefined);
});
