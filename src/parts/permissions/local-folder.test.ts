import assert from 'node:assert/strict';
import { mkdirSync, mkdtempDisposableSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGate } from './gate.ts';
import { hasPlainNames, isLocalFolder } from './local-folder.ts';
import { runs } from './workspace-for-test.ts';

const folder = () => mkdtempDisposableSync(join(realpathSync(tmpdir()), 'crab-names-'));

test('a folder has plain names until one begins like an option or a file of options', () => {
  for (const name of ['-oy', '--output=x', '+1', '@list']) {
    using made = folder();
    for (const plain of ['a.txt', '.hidden', 'b-c', 'd@e']) writeFileSync(join(made.path, plain), '');
    assert.equal(hasPlainNames(made.path), true);
    writeFileSync(join(made.path, name), '');
    assert.equal(hasPlainNames(made.path), false, name);
  }
});

test('what cannot be looked at has none, and is no folder', () => {
  using made = folder();
  writeFileSync(join(made.path, 'file'), '');
  for (const path of [join(made.path, 'file'), join(made.path, 'missing'), 'a\0b'])
    assert.deepEqual([hasPlainNames(path), isLocalFolder(path)], [false, false]);
});

test('a pattern is asked about once a name could be an option, and where something is written before', async () => {
  using made = folder();
  mkdirSync(join(made.path, 'docs'));
  writeFileSync(join(made.path, 'a.txt'), '');
  const gate = createGate({
    cwd: made.path,
    directories: [],
    rules: [],
    resolve: (path) => Promise.resolve(path),
  });
  const decision = async (command: string) => {
    const access = { kind: 'command', command, cwd: made.path } as const;
    return (await gate.check({ ...runs(command), access })).decision;
  };
  assert.equal(await decision('sort *.txt'), 'allow');
  assert.equal(await decision('touch ./-oa.txt; sort *.txt'), 'ask');
  assert.equal(await decision('uniq *.txt'), 'ask');
  writeFileSync(join(made.path, '-oa.txt'), '');
  assert.equal(await decision('sort *.txt'), 'ask');
  assert.equal(await decision('sort ./*.txt'), 'allow');
});
