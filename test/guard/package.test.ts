// What is in the package, and that it starts.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { installPackage } from './install-package.ts';

const run = promisify(execFile);

test('the installed command starts and says its version', async () => {
  await using folder = await installPackage();
  const { stdout } = await run(join(folder.path, 'node_modules/.bin/crab'), ['--version'], {
    cwd: folder.path,
  });
  assert.ok(stdout.includes(manifest.version), stdout);
});

test('the package needs nothing, runs no script on install and holds no source', async () => {
  await using folder = await installPackage();
  const installed = join(folder.path, 'node_modules', manifest.name);
  const { default: published } = await import(join(installed, 'package.json'), { with: { type: 'json' } });
  assert.deepEqual(
    [published.dependencies, published.devDependencies, published.scripts, published.optionalDependencies],
    [
      undefined,
      undefined,
      undefined,
      {
        '@lydell/node-pty': manifest.optionalDependencies['@lydell/node-pty'],
        '@vscode/ripgrep': manifest.optionalDependencies['@vscode/ripgrep'],
      },
    ],
  );
  const files = (await readdir(installed, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)));
  assert.deepEqual(files.filter((file) => !/\.c?js$|^client\/types\/.*\.d\.ts$/.test(file)).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.txt',
    'client/package.json',
    'package.json',
    'tree-sitter-bash.wasm.gz',
    'web-tree-sitter.wasm.gz',
  ]);
  assert.ok(files.includes('crab.cjs'));
});
