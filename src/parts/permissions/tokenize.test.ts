// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's variables, not templates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenize } from './tokenize.ts';

/** A script as `before[words]redirects`, which is easier to compare than the whole object. */
function outline(text: string): string {
  return tokenize(text)
    .commands.map(({ assignments, words, redirects, before }) => {
      const body = [...assignments, ...words].map(({ value }) => value).join('|');
      const ways = redirects.map(({ operator, target }) => `${operator}${target.value}`).join(' ');
      return `${before}[${body}]${ways}`;
    })
    .join(' ');
}

const PLAIN: [string, string][] = [
  ['', ''],
  ['ls', '[ls]'],
  ['ls -l "a b" c\\ d', '[ls|-l|a b|c d]'],
  ["r''m 'a'\"b\"c", '[rm|abc]'],
  ['a && b || c; d | e & f\ng', '[a] &&[b] ||[c] ;[d] |[e] &[f] \n[g]'],
  ['a |& b', '[a] |[b]'],
  ['a ;', '[a]'],
  ['a &\n', '[a]'],
  ['\n\na\n\n', '\n[a]'],
  ['pwd # rm -rf .', '[pwd]'],
  ['echo a#b', '[echo|a#b]'],
  ['echo "a # b" # c\nls', '[echo|a # b] \n[ls]'],
  ['ls > a 2>&1 < b', '[ls]>a <b'],
  ['ls &> a', '[ls]>a'],
  ['ls >& a', '[ls]>a'],
  ['ls >| a >> "b c"', '[ls]>a >b c'],
  ['cmd 2>/dev/null 3<>f', '[cmd]>/dev/null <>f'],
  ['grep x <<< "a b"', '[grep|x]<<<a b'],
  ['A=1 B="x y" cmd C=2', '[A=1|B=x y|cmd|C=2]'],
  ['a &&\n# why\n b |\nc', '[a] &&[b] |[c]'],
  ['a \\\n b', '[a|b]'],
  ['ab\\\ncd', '[abcd]'],
  ['grep \'a$\' "b$" "c$|"', '[grep|a$|b$|c$|]'],
  ['find . -exec x {} +', '[find|.|-exec|x|{}|+]'],
  ['git show HEAD@{1}', '[git|show|HEAD@{1}]'],
  ['! grep x f', '[grep|x|f]'],
  ['echo \'$(rm a)\' "\\$(rm b)" \\`', '[echo|$(rm a)|$(rm b)|`]'],
];

for (const [text, expected] of PLAIN)
  test(`reads ${JSON.stringify(text)} without a doubt`, () => {
    assert.equal(outline(text), expected);
    assert.equal(tokenize(text).doubt, undefined);
  });

const DOUBTFUL: [string, string, string][] = [
  ['echo $x', '[echo|$x]', 'uses a variable'],
  ['echo "${x}"', '[echo|${x}]', 'uses a variable'],
  ['echo $(rm a)', '[rm|a] [echo|$(rm a)]', 'uses command substitution'],
  ['echo "a$(rm b; ls)c"', '[rm|b] ;[ls] [echo|a$(rm b; ls)c]', 'uses command substitution'],
  ['echo `rm a`', '[rm|a] [echo|`rm a`]', 'uses command substitution'],
  ['echo ${x:-$(rm a)}', '[rm|a] [echo|${x:-$(rm a)}]', 'uses a variable'],
  ['cat <(rm a)', '[rm|a] [cat]', 'uses process substitution'],
  ['(rm a)', '[rm|a]', 'uses a subshell or a function'],
  ['f() { rm a; }; f', '[f] ([rm|a] ;[] ;[f]', 'uses a subshell or a function'],
  ['{rm,a}', '[{rm,a}]', 'uses brace expansion'],
  ['echo {1..3}', '[echo|{1..3}]', 'uses brace expansion'],
  ['for f in a; do rm x; done', '[f|in|a] ;[rm|x] ;[]', 'uses the shell keyword for'],
  ['[[ a -gt b ]]', '[a|-gt|b|]]]', 'uses the shell keyword [['],
  ["$'\\x72m' a", '[rm|a]', 'uses an escaped string'],
  ['$"rm" a', '[rm|a]', 'uses a translated string'],
  ['ls ~bob/x', '[ls|~bob/x]', "names another user's home folder"],
  ['ls "a', '[ls|a]', 'has a quote that is not closed'],
  ["ls 'a", '[ls|a]', 'has a quote that is not closed'],
  ['ls \\', '[ls|]', 'ends before it is complete'],
  ['a && ', '[a]', 'is incomplete'],
  ['a && && b', '[a] &&[b]', 'is incomplete'],
  ['case a in b) c;; esac', '[a|in|b] )[c] ;[]', 'uses the shell keyword case'],
  ['ls \u0007', '[ls|\u0007]', 'holds characters that cannot be seen'],
  ['ls \u202e', '[ls|\u202e]', 'holds characters that cannot be seen'],
  ['cat <<E\n$(rm a)\nE\nls', '[cat]<<E [rm|a] \n[ls]', 'uses a here-document'],
  ["cat <<'E'\n$(rm a)\nrm b\nE\nls", '[cat]<<E \n[ls]', 'uses a here-document'],
  ['cat <<E\nrm a', '[cat]<<E', 'uses a here-document'],
];

for (const [text, expected, doubt] of DOUBTFUL)
  test(`doubts ${JSON.stringify(text)} and still reads it`, () => {
    assert.equal(outline(text), expected);
    assert.equal(tokenize(text).doubt, doubt);
  });

test('size is a doubt of its own', () => {
  assert.equal(tokenize(`echo ${'a'.repeat(9_995)}`).doubt, undefined);
  assert.equal(tokenize(`echo ${'a'.repeat(9_996)}`).doubt, 'is longer than 10000 bytes');
  assert.equal(tokenize(`echo ${'é'.repeat(5_000)}`).doubt, 'is longer than 10000 bytes');
  assert.equal(tokenize(Array(50).fill('ls').join(';')).doubt, undefined);
  assert.equal(tokenize(Array(51).fill('ls').join(';')).doubt, 'has more than 50 parts');
});

test('deep nesting neither overflows nor takes long', () => {
  for (const opening of ['(', '$(', '"$(', '`', '<(', '{ ', '\\`'])
    assert.notEqual(tokenize(opening.repeat(30_000)).doubt, undefined);
});

test('globs are noticed outside quotes only', () => {
  const words = tokenize('ls *.ts "*.ts" \'?\' \\* a[b] c').commands[0]?.words ?? [];
  assert.deepEqual(
    words.map(({ glob }) => glob),
    [false, true, false, false, false, true, false],
  );
});
