// What `npm publish ./dist` would send, installed the way a user installs it, without a network.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from './planted-tree.ts';

const run = promisify(execFile);

/** A folder with the package in its `node_modules`. */
export async function installPackage(): Promise<AsyncDisposable & { readonly path: string }> {
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
