// What `npm publish ./dist` would send, installed the way a user installs it, without a network.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from './planted-tree.ts';

const run = promisify(execFile);

/** A folder with the package in its `node_modules`. */
async function install(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-package-'));
  const cwd = folder.path;
  await run('npm', ['pack', join(ROOT, 'dist'), '--pack-destination', cwd], { cwd });
  const tarballs = (await readdir(cwd)).filter((file) => file.endsWith('.tgz'));
  assert.deepEqual(tarballs, [`${manifest.name}-${manifest.version}.tgz`]);
  await writeFile(join(cwd, 'package.json'), '{ "private": true }');
  const quiet = ['--offline', '--omit=optional', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quiet, ...tarballs.map((file) => `./${file}`)], { cwd });
  return folder;
}

test('the installed command starts and says its version', async () => {
  await using folder = await install();
  const { stdout } = await run(join(folder.path, 'node_modules/.bin/crab'), ['--version'], {
    cwd: folder.path,
  });
  assert.ok(stdout.includes(manifest.version), stdout);
});

test('the package needs nothing, runs no script on install and holds no source', async () => {
  await using folder = await install();
  const installed = join(folder.path, 'node_modules', manifest.name);
  const { default: published } = await import(join(installed, 'package.json'), { with: { type: 'json' } });
  assert.deepEqual(
    [published.dependencies, published.devDependencies, published.scripts, published.optionalDependencies],
    [
      undefined,
      undefined,
      undefined,
      { '@vscode/ripgrep': manifest.optionalDependencies['@vscode/ripgrep'] },
    ],
  );
  const files = await readdir(installed, { recursive: true });
  assert.deepEqual(files.filter((file) => !/\.c?js$/.test(file)).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.txt',
    'package.json',
  ]);
  assert.ok(files.includes('crab.cjs'));
});
