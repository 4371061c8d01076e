import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilePathGlob, splitGlob } from './glob.ts';

const CASES: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
  ['*.ts', ['a.ts', 'x/y/a.ts', '.ts'], ['a.tsx', 'a.ts/b']],
  ['src/*.ts', ['src/a.ts'], ['src/x/a.ts', 'y/src/a.ts']],
  ['/a.ts', ['a.ts'], ['x/a.ts']],
  ['**/*.ts', ['a.ts', 'x/y/a.ts'], ['a.js']],
  ['src/**', ['src/a', 'src/x/y'], ['src', 'a']],
  ['**', ['a', 'a/b'], []],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/x', 'b']],
  ['a/**/b/**/c', ['a/b/c', 'a/b/x/b/c', 'a/x/b/y/c'], ['a/c', 'a/b']],
  ['*.{ts,tsx}', ['a.ts', 'a.tsx'], ['a.js']],
  ['{src,test}/**/{a,b}.ts', ['src/a.ts', 'test/x/b.ts'], ['lib/a.ts']],
  ['{a,{b,c}}d', ['ad', 'cd'], ['d']],
  ['a{b', ['a{b'], ['ab']],
  ['[a-c]?.md', ['b1.md'], ['d1.md', 'b.md']],
  ['[!a-c].md', ['d.md'], ['a.md']],
  ['[]x]y', [']y', 'xy'], ['ay']],
  ['a[', ['a['], ['a']],
  ['\\*.md', ['*.md'], ['a.md']],
  ['?.md', ['😀.md'], ['ab.md']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
  ['.*', ['.env'], ['env']],
];

describe('a glob', () => {
  for (const [pattern, yes, no] of CASES)
    test(pattern, () => {
      const glob = compilePathGlob(pattern);
      for (const path of yes) assert.equal(glob(path), true, path);
      for (const path of no) assert.equal(glob(path), false, path);
    });
});

test('no pattern is slow', () => {
  const name = 'a'.repeat(255);
  assert.equal(compilePathGlob(`${'*a'.repeat(100)}b`)(name), false);
  assert.equal(
    compilePathGlob(`${'**/a/'.repeat(50)}b`)(Array.from({ length: 2000 }, () => 'a').join('/')),
    false,
  );
  assert.equal(compilePathGlob('{a,b}'.repeat(40))('x'), false);
});

test('the folders before the first wildcard are split off', () => {
  assert.deepEqual(splitGlob('src/lib/*.ts'), { base: 'src/lib', rest: '*.ts' });
  assert.deepEqual(splitGlob('/etc/*.conf'), { base: '/etc', rest: '*.conf' });
  assert.deepEqual(splitGlob('/*.conf'), { base: '/', rest: '*.conf' });
  assert.deepEqual(splitGlob('*.ts'), { base: '', rest: '*.ts' });
  assert.deepEqual(splitGlob('a/b.ts'), { base: 'a', rest: 'b.ts' });
});
