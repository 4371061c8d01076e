import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { commandPattern, escapeCommand, escapePath, nameGlob, pathPattern } from './pattern.ts';
import { parseRules, readRule } from './rules.ts';

const LISTS: [string, string[]][] = [
  ['Bash(git log:*),Read,Edit', ['Bash(git log:*)', 'Read', 'Edit']],
  ['Bash(git log:*) Read  Edit', ['Bash(git log:*)', 'Read', 'Edit']],
  ['Bash(npm run a, b), Read', ['Bash(npm run a, b)', 'Read']],
  ['Bash(echo (a) b),Read', ['Bash(echo (a) b)', 'Read']],
  ['Bash(echo "("),Read', ['Bash(echo "(")', 'Read']],
  ["Bash(echo it's) Read", ["Bash(echo it's)", 'Read']],
  ['Bash(find . \\( -name a \\))', ['Bash(find . \\( -name a \\))']],
  ['mcp__github__*', ['mcp__github__*']],
  [' , ', []],
];

for (const [text, expected] of LISTS)
  test(`splits ${text}`, () => {
    assert.deepEqual(
      parseRules([text], 'allow', '--allowedTools'),
      expected.map((rule) => ({ decision: 'allow', text: rule, source: '--allowedTools' })),
    );
  });

const INVALID = [
  'Bash(npm',
  'Bash(npm))',
  'Bash()',
  'Bash( )',
  '(npm)',
  'Bash(a)b',
  'mcp__x__y(z)',
  'Ba*(npm)',
  'Read(!src)',
  'Read(src/[z-a])',
  '[z-a]',
  'WebFetch(example.com)',
];

for (const text of INVALID)
  test(`refuses ${text}, naming it and where it stands`, () => {
    assert.throws(
      () => parseRules(['Read', text], 'deny', '/home/ann/settings.json:3'),
      (error) =>
        error instanceof CrabError &&
        error.code === 'usage' &&
        error.message.includes(JSON.stringify(text)) &&
        error.message.includes('/home/ann/settings.json:3'),
    );
  });

const NAMES: [string, string[], string[]][] = [
  ['Bash', ['bash', 'BASH'], ['bashful', 'read']],
  ['shell', ['bash', 'shell'], ['read']],
  ['Read', ['read'], ['grep', 'write']],
  ['Edit', ['edit', 'write'], ['read']],
  ['MultiEdit', ['edit', 'write', 'multiedit'], ['read']],
  ['Write', ['write'], ['edit']],
  ['Glob', ['find', 'glob'], ['ls']],
  ['LS', ['ls'], ['find']],
  ['WebFetch', ['web_fetch', 'webfetch', 'web-fetch'], ['web_search']],
  ['web_*', ['web_fetch', 'web_search'], ['bash']],
  ['mcp__*', ['mcp__a__b'], ['bash']],
  ['mcp__github', ['mcp__github__get', 'mcp__github'], ['mcp__githubs__get']],
  ['mcp__a_b__c', ['mcp__a_b__c'], ['mcp__ab__c']],
  ['b?sh', ['bash', 'bosh'], ['bsh']],
  ['[rw]*', ['read', 'write'], ['bash']],
  ['[!rw]*', ['bash'], ['read']],
  ['*', ['bash', 'mcp__a__b'], []],
];

for (const [rule, covered, others] of NAMES)
  test(`the name ${rule} covers ${covered.join(', ')}`, () => {
    const { covers } = readRule(rule, 'a test');
    assert.deepEqual([...covered, ...others].filter(covers), covered);
  });

test('a star alone in parentheses is the whole tool, but for paths', () => {
  const specs = ['Bash(*)', 'Bash(:*)', 'Read(**)', 'Bash(npm test)', 'Bash'].map(
    (text) => readRule(text, 'a test').spec,
  );
  assert.deepEqual(specs, [undefined, undefined, '**', 'npm test', undefined]);
});

const COMMANDS: [string, string[], string[]][] = [
  ['npm test', ['npm test'], ['npm test x', 'npm tests', 'npm']],
  ['npm run *', ['npm run', 'npm run a', 'npm run a b'], ['npm runs', 'npm', 'xnpm run a']],
  ['npm run:*', ['npm run', 'npm run a'], ['npm runs']],
  ['npm run*', ['npm run', 'npm runs', 'npm run a'], ['npm']],
  ['git * main', ['git push main', 'git a b main'], ['git main', 'git push mainly']],
  ['* --version', ['node --version'], ['node --version x']],
  ['git * main *', ['git x main', 'git x main y'], ['git x mainy']],
  ['ls \\*', ['ls *'], ['ls a', 'ls']],
  ['ls \\\\*', ['ls \\', 'ls \\a'], ['ls *']],
  ["grep 'a\\.b' f", ["grep 'a\\.b' f"], ['grep a.b f']],
];

for (const [spec, matching, others] of COMMANDS)
  test(`the command pattern ${spec}`, () => {
    const pattern = commandPattern(spec);
    assert.deepEqual([...matching, ...others].filter(pattern.matches), matching);
  });

test('an escaped command is read back as exactly that command', () => {
  for (const text of ['ls *', 'a \\* b', 'a \\\\* **', 'grep "x*" \\', 'npm run:*', 'x *', 'plain']) {
    const pattern = commandPattern(escapeCommand(text));
    assert.deepEqual(
      [pattern.exact, pattern.matches(text), pattern.matches(`${text}x`)],
      [true, true, false],
      text,
    );
  }
});

test('many stars take no long time', () => {
  const pattern = commandPattern(`${'a*'.repeat(50)}b`);
  assert.equal(pattern.matches('a'.repeat(10_000)), false);
});

const PATHS: [string, string[], string[]][] = [
  ['//etc/hosts', ['/etc/hosts'], ['/etc/hosts2', '/w/etc/hosts']],
  ['//etc/**', ['/etc/a', '/etc/a/b', '/etc'], ['/etcetera/a']],
  ['~/.ssh', ['/home/ann/.ssh', '/home/ann/.ssh/id'], ['/home/bob/.ssh', '/w/.ssh']],
  ['~/*.txt', ['/home/ann/a.txt'], ['/home/ann/b/a.txt']],
  ['/src/**', ['/w/src/a.ts', '/w/src/b/c.ts'], ['/src/a.ts', '/w/lib/src/a.ts']],
  ['./src/*.ts', ['/w/src/a.ts'], ['/w/src/b/a.ts', '/w/src/a.tsx']],
  ['src/a.ts', ['/w/src/a.ts'], ['/w/x/src/a.ts']],
  ['../lib/**', ['/lib/a'], ['/w/lib/a']],
  ['.env', ['/w/.env', '/w/a/.env'], ['/w/.envrc', '/other/.env', '/w/.ENV']],
  ['*.pem', ['/w/a.pem', '/w/b/c.pem'], ['/w/a.pem.txt']],
  ['secrets/', ['/w/secrets', '/w/a/secrets/b'], ['/w/secrets.txt']],
  ['**/gen/*', ['/w/gen/a', '/w/a/b/gen/c'], ['/w/gen', '/w/regen/a']],
  ['a/**/b', ['/w/a/b', '/w/a/x/y/b'], ['/w/a/xb']],
  ['[ab].ts', ['/w/a.ts', '/w/x/b.ts'], ['/w/c.ts']],
  ['/a\\*b', ['/w/a*b'], ['/w/axb']],
  ['/a.b', ['/w/a.b'], ['/w/axb']],
];

for (const [spec, matching, others] of PATHS)
  test(`the path pattern ${spec}`, () => {
    const pattern = pathPattern(spec, { cwd: '/w', home: '/home/ann', wide: false });
    const matches = (path: string) => pattern.matches(path, pattern.anchor);
    assert.deepEqual([...matching, ...others].filter(matches), matching);
  });

test('a pattern that restricts ignores case, and a bare name is meant everywhere', () => {
  const pattern = pathPattern('.env', { cwd: '/w', wide: true });
  const paths = ['/w/.env', '/w/.ENV', '/other/.env', '/w/.envrc'];
  assert.deepEqual(
    paths.filter((path) => pattern.matches(path, pattern.anchor)),
    ['/w/.env', '/w/.ENV', '/other/.env'],
  );
});

test('an escaped path is read back as exactly that path', () => {
  for (const name of ['a*b', 'a?b', 'a[b]c', 'a\\b', 'plain (1).txt']) {
    const pattern = pathPattern(`/${escapePath(name)}`, { cwd: '/w', wide: false });
    assert.equal(pattern.matches(`/w/${name}`, pattern.anchor), true, name);
    assert.equal(pattern.matches(`/w/${name}x`, pattern.anchor), false, name);
  }
});

test('name patterns hold their own', () => {
  assert.deepEqual(['a.b', 'axb'].filter(nameGlob('a.b')), ['a.b']);
});
