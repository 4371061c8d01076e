// A language server through the whole program: asked about, started once, heard after edits, and gone at the end.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FlowWire, journey, onEachWire, resultOf } from '../support/journey.ts';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

const FILES = {
  'tsconfig.json': '{"compilerOptions":{"strict":true,"types":[],"noEmit":true},"include":["src"]}',
  'src/sum.ts': 'export function sum(a: number, b: number): number {\n  return a + b;\n}\n',
  'src/main.ts': "import { sum } from './sum';\nexport const four = sum(2, 2);\n",
};

const DEFINITION = { operation: 'goToDefinition', filePath: 'src/main.ts', line: 2, character: 21 };

async function project(wire: FlowWire) {
  const at = await journey(wire, {
    script: [
      { calls: [{ name: 'lsp', input: DEFINITION }] },
      {
        calls: [
          {
            name: 'edit',
            input: { path: 'src/sum.ts', old_string: 'return a + b', new_string: 'return `${a + b}`' },
          },
        ],
      },
      { calls: [{ name: 'lsp', input: { operation: 'diagnostics', path: 'src/main.ts' } }] },
      { text: 'Done.' },
    ],
    files: FILES,
  });
  await symlink(MODULES, join(at.work.path, 'node_modules'));
  return at;
}

/** What the model was told, in order. */
function results(asked: readonly { readonly messages: readonly unknown[] }[]): string {
  return JSON.stringify(asked.at(-1)?.messages);
}

/** Ids of the processes that work in a folder. */
async function workingIn(folder: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => '')));
  return ids.filter((_, at) => folders[at] === folder).map(Number);
}

onEachWire(
  'the model asks a language server, and hears of the errors that its edit brought',
  async (wire) => {
    await using at = await project(wire);
    const allowed = ['--allowedTools', 'lsp', '--permission-mode', 'acceptEdits'];
    const exit = await at.run(['-p', 'look', '--output-format', 'json', ...allowed]);
    assert.equal(exit.code, 0, exit.stderr);
    assert.equal(resultOf(exit)['result'], 'Done.');
    const told = results(at.asked());
    assert.ok(told.includes('src/sum.ts:1:17: export function sum(a: number, b: number): number {'), told);
    assert.match(
      told,
      /typescript finds errors in src\/sum\.ts:\\n {2}2:3 error: Type 'string' is not assignable to type 'number'\. \(ts 2322\)/,
    );
    assert.match(told, /\[Nothing: diagnostics src\/main\.ts\]/);
    const planted = spawn('sleep', ['60'], { cwd: at.work.path });
    assert.deepEqual(await workingIn(at.work.path), [planted.pid]);
    planted.kill();
  },
);

onEachWire('where nobody can be asked, no server is started', async (wire) => {
  await using at = await project(wire);
  const exit = await at.run(['-p', 'look', '--permission-mode', 'acceptEdits']);
  assert.equal(exit.code, 7, exit.stderr);
  const told = results(at.asked());
  assert.match(told, /starts the language server tsc --lsp -stdio/);
  assert.doesNotMatch(told, /finds errors/);
});
