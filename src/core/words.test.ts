import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from './seeded.ts';
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

const JOINT =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[_$]+/u;

/** What a word is, as patterns, for text in scripts with spaces. */
function defined(text: string): string[] {
  const fold = (word: string) =>
    word
      .toLowerCase()
      .normalize('NFD')
      .replace(/\p{M}+/gu, '')
      .slice(0, 64);
  return [...text.normalize('NFKC').matchAll(/[\p{L}\p{N}\p{M}_$]+/gu)].flatMap(([run]) => {
    const whole = fold(run.replace(/^[_$]+|[_$]+$/g, ''));
    const parts = run.split(JOINT).map(fold);
    return whole === '' ? [] : [whole, ...parts.filter((part) => part !== '' && part !== whole)];
  });
}

test('scanning by hand finds what the patterns find', () => {
  const random = seeded(11);
  const plain = [...'abcXYZ019_$ .-/\n', 'a'.repeat(70)];
  const any = [...plain, ...'éßİΩыЫ…½ﬁＡ😀\u0000', '\u0301', '\u0338', '=', '\ud800'];
  for (let round = 0; round < 20_000; round++) {
    const letters = round % 2 === 0 ? plain : any;
    const text = Array.from(
      { length: 1 + Math.floor(random() * 14) },
      () => letters[Math.floor(random() * letters.length)],
    ).join('');
    assert.deepEqual(words(text), defined(text), JSON.stringify(text));
  }
});
