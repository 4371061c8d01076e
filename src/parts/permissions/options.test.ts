import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions } from './options.ts';
import { textWord } from './script.ts';

const LIST = '-a -b -n: -c? -f@ -o> -# --all --max: --color? --from@ --to>';

function read(line: string, leading = false) {
  const words = line.split(' ').map(textWord);
  const { seen, operands, reads, writes, unknown } = readOptions(words, LIST, leading);
  const values = (list: readonly { readonly value: string }[]) => list.map(({ value }) => value).join(' ');
  return [
    [...seen].map(([name, word]) => (word === undefined ? name : `${name}=${word.value}`)).join(' '),
    values(operands),
    values(reads),
    values(writes),
    unknown,
  ];
}

const CASES: [string, (string | undefined)[]][] = [
  ['-a x -b y', ['-a -b', 'x y', '', '', undefined]],
  ['-abn5 x', ['-a -b -n=5', 'x', '', '', undefined]],
  ['-n 5 x', ['-n=5', 'x', '', '', undefined]],
  ['-ab5', ['-a -b', '', '', '', '-5']],
  ['-20 x', ['-#=-20', 'x', '', '', undefined]],
  ['-cx y', ['-c=x', 'y', '', '', undefined]],
  ['-f p -oq', ['-f=p -o=q', '', 'p', 'q', undefined]],
  ['--all --max=3 --max 4 x', ['--all --max=4', 'x', '', '', undefined]],
  ['--color x', ['--color', 'x', '', '', undefined]],
  ['--color=always x', ['--color=always', 'x', '', '', undefined]],
  ['--from=p --to q', ['--from=p --to=q', '', 'p', 'q', undefined]],
  ['--all=x', ['', '', '', '', '--all']],
  ['--al', ['', '', '', '', '--al']],
  ['--max', ['', '', '', '', '--max']],
  ['-n', ['', '', '', '', '-n']],
  ['-x', ['', '', '', '', '-x']],
  ['-- -x --y', ['', '-x --y', '', '', undefined]],
  ['- -a', ['-a', '-', '', '', undefined]],
];

for (const [line, expected] of CASES)
  test(`options of ${line}`, () => {
    assert.deepEqual(read(line), expected);
  });

test('the options of a program that runs another end at its first operand', () => {
  assert.deepEqual(read('-a x -z y', true), ['-a', 'x -z y', '', '', undefined]);
  assert.deepEqual(read('-a -- x -z', true), ['-a', 'x -z', '', '', undefined]);
});

test('a word with a blank in it is no option of the list', () => {
  assert.equal(readOptions([textWord('-a -b')], LIST).unknown, '- ');
});
