// Builds `dist/standalone/crab`: one file that needs no Node, made by Bun from the same source.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TARGET = join(ROOT, 'dist/standalone', process.platform === 'win32' ? 'crab.exe' : 'crab');

/**
 * Bun's install script moves its binary out of the platform's package to where `.bin/bun` points; where install
 * scripts do not run, a text file stands there and the binary is still in its package.
 */
function findBun(): string {
  const name = process.platform === 'win32' ? 'bun.exe' : 'bun';
  const { resolve } = createRequire(import.meta.url);
  const platform = `@oven/bun-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const candidates = [
    () => join(dirname(resolve(`${platform}/package.json`)), 'bin', name),
    () => join(dirname(resolve('bun/package.json')), 'bin', 'bun.exe'),
  ];
  for (const candidate of candidates) {
    const path = pathOf(candidate);
    if (path !== undefined && isBinary(path)) return path;
  }
  throw new Error(`no Bun for ${process.platform}-${process.arch} in node_modules; run npm ci`);
}

function pathOf(candidate: () => string): string | undefined {
  try {
    return candidate();
  } catch {
    return undefined;
  }
}

function isBinary(path: string): boolean {
  return existsSync(path) && statSync(path).size > 1024 * 1024;
}

const bun = findBun();
mkdirSync(dirname(TARGET), { recursive: true });
const options = ['--compile', '--bytecode', '--minify-whitespace', '--minify-syntax', '--target=bun'];
const version = `CRAB_VERSION=${JSON.stringify(manifest.version)}`;
const external = Object.keys(manifest.optionalDependencies).flatMap((name) => ['--external', name]);
execFileSync(
  bun,
  ['build', ...options, '--define', version, ...external, 'src/main.ts', '--outfile', TARGET],
  {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
const answer = execFileSync(TARGET, ['--version'], { encoding: 'utf8' }).trim();
const megabytes = (statSync(TARGET).size / 1024 / 1024).toFixed(1);
console.log(`${megabytes} MB  dist/standalone/crab answers --version with ${answer}`);
if (!answer.includes(manifest.version)) {
  throw new Error(`the binary says ${answer}, and package.json ${manifest.version}`);
}
