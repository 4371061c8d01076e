import assert from 'node:assert/strict';
import { mkdirSync, mkdtempDisposableSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGate } from './gate.ts';
import { matchedLinks } from './matched-links.ts';
import { runs } from './workspace-for-test.ts';

function folders() {
  const made = mkdtempDisposableSync(join(tmpdir(), 'crab-links-'));
  const root = realpathSync(made.path);
  const inside = join(root, 'in [side]');
  for (const folder of ['in [side]', 'in [side]/docs', 'in [side]/src', 'out']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'out/secret.txt'), 'x');
  writeFileSync(join(inside, 'docs/a.md'), 'x');
  writeFileSync(join(inside, 'src/a.ts'), 'x');
  symlinkSync('../../out/secret.txt', join(inside, 'docs/link.md'));
  symlinkSync('../out', join(inside, 'away'));
  symlinkSync('a.md', join(inside, 'docs/same.md'));
  return { inside, remove: () => made.remove(), [Symbol.dispose]: () => made.remove() };
}

test('a pattern stands for the links that it matches, and for what lies behind one', () => {
  using made = folders();
  const { inside } = made;
  const of = (pattern: string) => matchedLinks(inside, pattern)?.map((path) => path.slice(inside.length));
  assert.deepEqual(of('src/*'), []);
  assert.deepEqual(of('docs/l*'), ['/docs/link.md']);
  assert.deepEqual(of('d*/link.md'), ['/docs/link.md']);
  assert.deepEqual(of('*/secret.txt'), ['/away/secret.txt']);
  assert.deepEqual(of('*/missing'), []);
  assert.deepEqual(of('nowhere/*'), []);
  assert.deepEqual(of('**')?.toSorted(), ['/away', '/docs/link.md', '/docs/same.md']);
});

test('a command that opens what a pattern stands for is asked about where a link leads out', async () => {
  using made = folders();
  const { inside } = made;
  const gate = createGate({
    cwd: inside,
    directories: [],
    rules: [],
    resolve: (path) => Promise.resolve(realpathSync(path)),
  });
  const decisions = async (...commands: readonly string[]) =>
    Promise.all(
      commands.map(async (command) => {
        const request = { ...runs(command), access: { kind: 'command', command, cwd: inside } } as const;
        return (await gate.check(request)).decision;
      }),
    );
  assert.deepEqual(
    await decisions(
      'cat src/*',
      'ls docs/*',
      'cat docs/s*',
      'for f in docs/*; do echo $f; done',
      'grep -r x .',
      'grep -R x src',
    ),
    Array.from({ length: 6 }, () => 'allow'),
  );
  assert.deepEqual(
    await decisions(
      'cat docs/*',
      'head */secret.txt',
      'cat < docs/l*',
      'for f in docs/*; do cat $f; done',
      'cd docs && cat l*',
      'grep -R x .',
      'grep -Rn x docs',
      'rg -L x',
      'diff -r docs src',
    ),
    Array.from({ length: 9 }, () => 'ask'),
  );
});
