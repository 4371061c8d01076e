import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import { createMatcher } from './pattern-matcher.ts';
import { literalPattern, parsePattern } from './pattern-syntax.ts';

function matches(pattern: string, line: string, ignoreCase = false): boolean {
  return createMatcher(parsePattern(pattern, { ignoreCase }))(line);
}

/** Pattern, lines that match, lines that do not. */
const CASES: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
  ['abc', ['abc', 'xabcx'], ['ab', 'acb', '']],
  ['', ['', 'a'], []],
  ['^a.c$', ['abc', 'a😀c'], ['abbc', 'xabc', 'ac']],
  ['a|bc|', ['x'], []],
  ['^(?:a|bc){2,3}$', ['aa', 'abca', 'bcbcbc'], ['a', 'aaaa', 'ab']],
  ['^a{3}$', ['aaa'], ['aa', 'aaaa']],
  ['^a{2,}$', ['aa', 'aaaa'], ['a']],
  ['(a*)*b', ['b', 'aab'], ['a']],
  ['\\bcat\\b', ['cat', 'a cat.', 'cat-dog'], ['cats', 'écat', '_cat']],
  ['\\Bat', ['cat'], ['at', ' at']],
  ['\\<at', ['at', ' at'], ['cat']],
  ['at\\>', ['cat'], ['cats']],
  ['^\\w+$', ['größe_1'], ['a-b', '']],
  ['^\\d$', ['7', '٣'], ['a']],
  ['^\\s$', [' ', '\u00a0', '\t'], ['a']],
  ['^[^a-c\\d]$', ['d', 'é'], ['a', '7']],
  ['^[\\w-]+$', ['a-b'], ['a b']],
  ['^[]a-]$', [']', 'a', '-'], ['b']],
  ['^[[:alpha:]_]+$', ['ab_'], ['é', '7']],
  ['^[^\\W_]$', ['a', 'é'], ['_', '-']],
  ['^\\p{Greek}\\pL$', ['αb'], ['ab']],
  ['^\\P{Lu}$', ['a'], ['A']],
  ['\\x41\\u0042\\x{43}', ['ABC'], ['abc']],
  ['(?i)ab(?-i)c', ['ABc'], ['ABC']],
  ['(?i:a)b', ['Ab'], ['AB']],
  ['(?P<word>a)(?<next>b)', ['ab'], ['a']],
  ['a\\.\\*\\/\\-\\"', ['a.*/-"'], ['ab*/-"']],
  ['x}]', ['x}]'], ['x']],
  ['a+?b', ['aab'], ['b']],
  ['$^', [''], ['a']],
];

describe('a pattern', () => {
  for (const [pattern, yes, no] of CASES)
    test(pattern, () => {
      for (const line of yes) assert.equal(matches(pattern, line), true, JSON.stringify(line));
      for (const line of no) assert.equal(matches(pattern, line), false, JSON.stringify(line));
    });
});

test('case is folded as Unicode has it', () => {
  assert.equal(matches('straße', 'STRAßE', true), true);
  assert.equal(matches('[α-ω]', 'Σ', true), true);
  assert.equal(matches('[^a]', 'A', true), false);
  assert.equal(createMatcher(literalPattern('a.b', { ignoreCase: true }))('xA.Bx'), true);
});

test('patterns that take a backtracking engine for ever end at once', () => {
  const line = `${'a'.repeat(50_000)}!`;
  for (const pattern of [
    '(a+)+$',
    '^(a|a)*$',
    '(a*)*b',
    '(.*)*x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    'a*a*a*a*a*a*a*b',
  ])
    assert.equal(matches(pattern, line), false, pattern);
});

test('a pattern that needs too much work is refused instead of waited for', () => {
  assert.throws(() => matches('(?:a?){1000}(?:a?){1000}(?:a?){1000}', ''), {
    name: 'ToolFailure',
    message: /too large/,
  });
  // Which of the last 900 characters were an a: every one of them makes a state of its own.
  const matcher = createMatcher(parsePattern('a.{900}$', { ignoreCase: false }));
  const next = seeded(3);
  const random = Array.from({ length: 200_000 }, () => (next() < 0.5 ? 'a' : 'b')).join('');
  assert.throws(() => matcher(random), { name: 'ToolFailure', message: /too costly/ });
});

test('what could mean something else is refused, with the place', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['a(b', /at character 4: a \( without its \)/],
    ['a)b', /at character 2: a \) without its \(/],
    ['interface{}', /at character 10: a \{ here must begin a count/],
    ['(?=a)', /look-around is not supported/],
    ['(a)\\1', /back-references are not supported/],
    ['[a&&b]', /operations on classes/],
    ['a\\nb', /one line at a time/],
    ['\\q', /\\q is not supported/],
    ['a{5,2}', /begins higher than it ends/],
    ['a{5000}', /at most 1000/],
    [`${'('.repeat(300)}a${')'.repeat(300)}`, /nested too deep/],
  ];
  for (const [pattern, message] of cases)
    assert.throws(() => parsePattern(pattern, { ignoreCase: false }), { name: 'ToolFailure', message });
});
