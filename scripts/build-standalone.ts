// Builds `dist/standalone/crab`: one file that needs no Node, made by Bun from the same source.

import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { writeDocumentThread } from './document-thread.ts';
import { findBun } from './find-bun.ts';
import { writeGrammar } from './grammar.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TARGET = join(ROOT, 'dist/standalone', process.platform === 'win32' ? 'crab.exe' : 'crab');

const bun = findBun();
mkdirSync(dirname(TARGET), { recursive: true });
const options = ['--compile', '--bytecode', '--minify-whitespace', '--minify-syntax', '--target=bun'];
const version = `CRAB_VERSION=${JSON.stringify(manifest.version)}`;
const external = Object.keys(manifest.optionalDependencies).flatMap((name) => ['--external', name]);
// They keep their names, by which the binary finds them in itself.
const { files: assets } = writeGrammar(join(dirname(TARGET), 'grammar'));
const thread = join(dirname(TARGET), 'thread');
await writeDocumentThread(thread);
const naming = '--asset-naming=[name].[ext]';
execFileSync(
  bun,
  [
    'build',
    ...options,
    naming,
    '--define',
    version,
    ...external,
    'src/main.ts',
    join(thread, 'document-thread.js'),
    ...assets,
    '--outfile',
    TARGET,
  ],
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
