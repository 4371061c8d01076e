import assert from 'node:assert/strict';
import { test } from 'node:test';
import { words } from './words.ts';

for (const [text, expected] of [
  ['The quick, brown fox.', ['the', 'quick', 'brown', 'fox']],
  ['Résumé naïve Straße', ['resume', 'naive', 'straße']],
  ['parseHttpUrl', ['parsehttpurl', 'parse', 'http', 'url']],
  ['HTTPServer2', ['httpserver2', 'http', 'server', '2']],
  ['MAX_RETRY_COUNT __init__', ['max_retry_count', 'max', 'retry', 'count', 'init']],
  ['src/parts/llm/sse.ts:12', ['src', 'parts', 'llm', 'sse', 'ts', '12']],
  ['e2e v1.2', ['e2e', 'e', '2', 'e', 'v1', 'v', '1', '2']],
  ['検索エンジン', ['検索', '索エ', 'エン', 'ンジ', 'ジン']],
  ['Crabを使う', ['crab', 'を使', '使う']],
  ['人', ['人']],
  ['ﬁle Ｆｕｌｌ', ['file', 'full']],
  ['... — \u0000', []],
  ['', []],
] as const) {
  test(`the words of ${JSON.stringify(text)}`, () => assert.deepEqual(words(text), expected));
}

test('a word has an end', () => {
  assert.deepEqual(words('a'.repeat(1000)), ['a'.repeat(64)]);
});
