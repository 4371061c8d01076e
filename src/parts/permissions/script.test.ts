// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's variables, not templates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGrammar } from './grammar.ts';
import { readScript } from './read-script.ts';

const grammar = await loadGrammar();

function read(text: string) {
  return readScript(text, grammar, {
    cwd: '/w',
    folders: ['/w'],
    piped: false,
    posix: false,
    home: '/home/ann',
  });
}

/** A script as `[words]redirects`, with a bar before what gets its input from another command. */
function outline(text: string): string {
  return read(text)
    .commands.map(({ assignments, words, redirects, piped }) => {
      const body = [...assignments, ...words].map(({ value }) => value).join('|');
      const ways = redirects.map(({ operator, target }) => `${operator}${target.value}`).join(' ');
      return `${piped ? '|' : ''}[${body}]${ways}`;
    })
    .join(' ');
}

const PLAIN: [string, string][] = [
  ['', ''],
  ['ls', '[ls]'],
  ['ls -l "a b" c\\ d', '[ls|-l|a b|c d]'],
  ["r''m 'a'\"b\"c", '[rm|abc]'],
  ['a && b || c; d | e & f\ng', '[a] [b] [c] [d] |[e] [f] [g]'],
  ['a |& b', '[a] |[b]'],
  ['a ;', '[a]'],
  ['a &\n', '[a]'],
  ['\n\na\n\n', '[a]'],
  ['pwd # rm -rf .', '[pwd]'],
  ['echo a#b', '[echo|a#b]'],
  ['echo "a # b" # c\nls', '[echo|a # b] [ls]'],
  ['ls > a 2>&1 < b', '[ls]>a <b'],
  ['ls &> a', '[ls]>a'],
  ['ls >& a', '[ls]>a'],
  ['ls >| a >> "b c"', '[ls]>a >b c'],
  ['> a rm b', '[rm|b]>a'],
  ['ls > a b', '[ls|b]>a'],
  ['grep x <<< "a b"', '[grep|x]<<<a b'],
  ['A=1 B="x y" cmd C=2', '[A=1|B=x y|cmd|C=2]'],
  ['a &&\n# why\n b |\nc', '[a] [b] |[c]'],
  ['a \\\n b', '[a|b]'],
  ['ls | a | b\nc && d', '[ls] |[a] |[b] [c] [d]'],
  ['grep \'a$\' "b$" "c$|"', '[grep|a$|b$|c$|]'],
  ['find . -exec x {} +', '[find|.|-exec|x|{}|+]'],
  ['git show HEAD@{1}', '[git|show|HEAD@{1}]'],
  ['! grep x f', '[grep|x|f]'],
  ['echo \'$(rm a)\' "\\$(rm b)" \\`', '[echo|$(rm a)|$(rm b)|`]'],
  ['echo $x "${y}"', '[echo|$x|${y}]'],
  ['echo $(rm a)', '[rm|a] [echo|$(rm a)]'],
  ['echo "a$(rm b; ls)c"', '[rm|b] [ls] [echo|a$(rm b; ls)c]'],
  ['echo `rm a`', '[rm|a] [echo|`rm a`]'],
  ['echo ${x:-$(rm a)}', '[rm|a] [echo|${x:-$(rm a)}]'],
  ['cat <(rm a) > >(tee b)', '[rm|a] |[tee|b] [cat|/dev/stdin]>/dev/stdin'],
  ['(rm a)', '[rm|a]'],
  ['{ rm a; } > b', '[rm|a] []>b'],
  ['echo a{b,{c}{d,e}}', '[echo|ab|a{c}d|a{c}e]'],
  ['echo {1..3} a{b,"c d"}', '[echo|1|2|3|ab|ac d]'],
  ["$'\\x72m' a", '[rm|a]'],
  ['x=rm; $x a', '[x=rm] [rm|a]'],
  ['x="rm a"; $x; "$x"', '[x=rm a] [rm|a] [rm a]'],
  ['x=a; true && x=b; cat $x', '[x=a] [true] [x=b] [cat|a] [cat|b]'],
  ['true && x=b; cat $x', '[true] [x=b] [cat|$x]'],
  ['cat | x=a; cat $x', '[cat] |[x=a] [cat|$x]'],
  ['cat ~/a "$HOME" $PWD', '[cat|~/a|/home/ann|/w]'],
  ['rm${IFS}a', '[rm|a]'],
  ['for f in a *.ts; do rm "$f"; done', '[rm|a] [rm|*.ts]'],
  ['n=0; while true; do n=$((n+1)); done; echo $n', '[n=0] [true] [n=0] [echo|0]'],
  ['x=a; while true; do x=$x$x; done; echo $x', '[x=a] [true] [x=$x$x] [echo|$x]'],
  ['if true; then rm a; elif b; then c; else d; fi', '[true] [rm|a] [b] [c] [d]'],
  ['case a in b|"c d") e;; *) f;; esac', '[e] [f]'],
  ['[[ a -gt 2 && -f b ]]', '[[[|a|-gt|2|&&|-f|b|]]]'],
  ['[ -n "$x" ] && a', '[[|-n|$x|]] [a]'],
  ['cat <<E\n$(rm a)\nE\nls', '[rm|a] [cat]<<$(rm a)\n [ls]'],
  ["cat <<'E'\n$(rm a)\nrm b\nE\nls", '[cat]<<$(rm a)\nrm b\n [ls]'],
  ['cat <<E | sh\na\nE', '[cat]<<a\n |[sh]'],
];

for (const [text, expected] of PLAIN)
  test(`reads ${JSON.stringify(text)} without a doubt`, () => {
    assert.equal(outline(text), expected);
    assert.equal(read(text).doubt, undefined);
  });

/** The text, a command that has to be found in it all the same, and the doubt. */
const DOUBTFUL: [string, string, RegExp][] = [
  ['cd() { rm a; }; cd b', '|[rm|a]', /defines a function/],
  ['$"rm" a', '[rm|a]', /translated string/],
  ['ls ~bob/x', '[ls|~bob/x]', /home folder/],
  ['ls "a; rm b', '|[rm|b]', /cannot be read/],
  ["ls 'a; rm b", '|[rm|b]', /cannot be read/],
  ['r\\\nm a', '[rm|a]', /cannot be read in full/],
  ['cat \\ /etc/x', '[cat|/etc/x]', /cannot be read in full/],
  ['a && && rm b', '|[rm|b]', /cannot be read/],
  ['ls \u0007; rm b', '[rm|b]', /cannot be seen/],
  ['ls \u202e; rm b', '[rm|b]', /cannot be seen/],
  ['ls\r; rm b', '[rm|b]', /cannot be read in full/],
  ['ls\u00a0; rm b', '[rm|b]', /cannot be seen/],
  ['cat <<E\n`rm a`\nE', '|[rm|a]', /here-document/],
  ['cat <<E\nrm a', '|[rm|a]', /cannot be read/],
  ['echo ${a[$(rm b)]}', '|[rm|b]', /computes an index/],
  ['echo ${x@P}; rm b', '[rm|b]', /a way that is not known/],
  ['echo ${!x}; rm b', '[rm|b]', /a way that is not known/],
  ['echo $((x + 1)); rm b', '[rm|b]', /computes with a variable/],
  ['echo $AWS_SECRET_ACCESS_KEY; rm b', '[rm|b]', /hold a secret/],
  ['echo $((1 + $(rm a)))', '[rm|a]', /computes with a variable/],
  ['{rm,a}', '[rm|a]', /cannot be read/],
  ['echo {1..1000}; rm b', '[rm|b]', /brace expansion/],
];

for (const [text, found, doubt] of DOUBTFUL)
  test(`doubts ${JSON.stringify(text)} and still finds ${found}`, () => {
    assert.match(read(text).doubt ?? '', doubt);
    assert.ok(outline(text).includes(found), outline(text));
  });

test('size is a doubt of its own', () => {
  assert.equal(read(`echo ${'a'.repeat(9_995)}`).doubt, undefined);
  assert.equal(read(`echo ${'a'.repeat(9_996)}`).doubt, 'is longer than 10000 bytes');
  assert.equal(read(`echo ${'é'.repeat(5_000)}`).doubt, 'is longer than 10000 bytes');
  assert.equal(read(Array(50).fill('ls').join(';')).doubt, undefined);
  assert.equal(read(Array(51).fill('ls').join(';')).doubt, 'has more than 50 parts');
});

test('deep nesting neither overflows nor takes long', () => {
  for (const opening of ['(', '$(', '"$(', '`', '<(', '{ ', '\\`'])
    assert.notEqual(read(opening.repeat(30_000)).doubt, undefined);
});

test('globs are noticed outside quotes only', () => {
  const words = read('ls *.ts "*.ts" \'?\' \\* a[b] c').commands[0]?.words ?? [];
  assert.deepEqual(
    words.map(({ glob }) => glob),
    [false, true, false, false, false, true, false],
  );
});
