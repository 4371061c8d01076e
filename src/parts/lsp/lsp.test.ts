// Against the servers that a project may have: the compiler of TypeScript 7, which speaks the protocol itself, and the
// older typescript-language-server, which finds no TypeScript here that it could use.

import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openProject } from '../../../test/support/lsp-project.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { textOutput } from '../../core/tool.ts';

const FILES = {
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"types":[],"allowImportingTsExtensions":true,"noEmit":true},"include":["src"]}',
  'src/greet.ts': [
    '/** Says hello. */',
    'export function greet(name: string): string {',
    '  return `hello ${name}`;',
    '}',
    'export interface Greeter { greet(name: string): string }',
    'export class Loud implements Greeter { greet(name: string) { return greet(name); } }',
    '',
  ].join('\n'),
  'src/main.ts': [
    "import { greet } from './greet.ts';",
    "const shown = /* 𝒳é */ greet('you');",
    'export function main(): number {',
    "  return greet('me') + shown;",
    '}',
    '',
  ].join('\n'),
};

test('the server of a project answers every question, in positions from 1', async () => {
  await using project = await openProject(FILES);
  const ask = (input: JsonObject) => project.ask(input);
  // In UTF-16 units, of which 𝒳 has two.
  const call = { path: 'src/main.ts', line: 2, character: 25 };
  assert.equal(
    await ask({ operation: 'go_to_definition', ...call }),
    'src/greet.ts:2:17: export function greet(name: string): string {',
  );
  assert.deepEqual((await ask({ operation: 'find_references', ...call })).split('\n').sort(), [
    'src/greet.ts:2:17: export function greet(name: string): string {',
    'src/greet.ts:6:69: export class Loud implements Greeter { greet(name: string) { return greet(name); } }',
    "src/main.ts:1:10: import { greet } from './greet.ts';",
    "src/main.ts:2:25: const shown = /* 𝒳é */ greet('you');",
    "src/main.ts:4:10: return greet('me') + shown;",
  ]);
  assert.match(
    await ask({ operation: 'hover', path: 'src/main.ts', line: 4, symbol: 'greet' }),
    /function greet\(name: string\): string[\s\S]*Says hello\./,
  );
  assert.equal(
    await ask({ operation: 'document_symbols', path: 'src/main.ts' }),
    ['1:10 variable greet', '2:7 variable shown', '3:17 function main'].join('\n'),
  );
  assert.match(
    await ask({ operation: 'workspace_symbols', path: 'src/main.ts', query: 'Loud' }),
    /^src\/greet\.ts:6:14 class Loud$/m,
  );
  assert.equal(
    await ask({ operation: 'go_to_implementation', path: 'src/greet.ts', line: 5, symbol: 'Greeter' }),
    'src/greet.ts:6:14: export class Loud implements Greeter { greet(name: string) { return greet(name); } }',
  );
  assert.match(
    await ask({ operation: 'incoming_calls', path: 'src/greet.ts', line: 2, symbol: 'greet' }),
    /^src\/main\.ts:3:17 function main, call at line 4$/m,
  );
  assert.equal(
    await ask({ operation: 'outgoing_calls', path: 'src/main.ts', line: 3, symbol: 'main' }),
    'src/greet.ts:2:17 function greet, call at line 4',
  );
  assert.equal(
    await ask({ operation: 'diagnostics', path: 'src/main.ts' }),
    "4:3 error: Type 'string' is not assignable to type 'number'. (ts 2322)",
  );
});

test('what changes on disk, in any way, is known to the next question', async () => {
  await using project = await openProject(FILES);
  const diagnostics = { operation: 'diagnostics', path: 'src/main.ts' };
  assert.match(await project.ask(diagnostics), /2322/);
  await project.ask({ operation: 'document_symbols', path: 'src/greet.ts' });
  await writeFile(project.at('src/greet.ts'), 'export function greet(name: string): number { return 1; }\n');
  assert.match(await project.ask(diagnostics), /^\[Nothing/);
  await rename(project.at('src/greet.ts'), project.at('src/moved.ts'));
  assert.match(await project.ask(diagnostics), /Cannot find module/);
  await writeFile(project.at('src/main.ts'), FILES['src/main.ts'].replace('greet.ts', 'moved.ts'));
  assert.match(await project.ask(diagnostics), /^\[Nothing/);
});

test('questions that cannot be asked say what is wrong with them', async () => {
  await using project = await openProject({ ...FILES, 'notes.txt': 'x', 'big.ts': ' '.repeat(3 << 20) });
  const failure = async (input: JsonObject) => {
    const error: unknown = await project.ask(input).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ToolFailure, String(error));
    return error.message;
  };
  const hover = { operation: 'hover', path: 'src/main.ts' };
  assert.equal(await failure(hover), 'hover needs line, and character or symbol.');
  assert.equal(
    await failure({ ...hover, line: 99, character: 1 }),
    'src/main.ts has 6 lines; line 99 is not there.',
  );
  assert.equal(
    await failure({ ...hover, line: 5, character: 9 }),
    'Line 5 of src/main.ts has 1 characters; character 9 is not there. The line is: }',
  );
  assert.match(
    await failure({ ...hover, line: 4, symbol: 'nope' }),
    /"nope" is not in line 4 .*return greet/,
  );
  assert.match(await failure({ ...hover, path: 'notes.txt' }), /no language server for \.txt files/);
  assert.match(await failure({ ...hover, path: 'src/none.ts' }), /none\.ts does not exist/);
  assert.match(await failure({ operation: 'diagnostics', path: 'big.ts' }), /has 3145728 bytes/);
});

test('a server must be allowed once in a conversation, and only reads from then on', async () => {
  await using project = await openProject(FILES);
  const input = { operation: 'document_symbols', path: 'src/main.ts' };
  const { tool, cwd } = project;
  const read = { kind: 'read', paths: [project.at('src/main.ts')] };
  assert.deepEqual((await tool.plan(input, cwd)).access, {
    kind: 'external',
    server: 'tsc --lsp -stdio',
    does: 'starts the language server tsc --lsp -stdio, which reads the project and may run what belongs to it',
  });
  await project.ask(input);
  assert.deepEqual((await tool.plan(input, cwd)).access, read);
  assert.equal((await tool.plan({ ...input, path: 'x.py' }, cwd)).access.kind, 'external');
  const other = await project.newTool();
  assert.equal((await other.plan(input, cwd)).access.kind, 'external');
});

test('files that a rule keeps from the model are neither asked about nor shown', async () => {
  await using project = await openProject(FILES, {
    withheld: async () => (path) => path.endsWith('greet.ts'),
  });
  const call = { path: 'src/main.ts', line: 2, character: 25 };
  assert.equal(
    await project.ask({ operation: 'go_to_definition', ...call }),
    '[Nothing: go to definition src/main.ts:2:25]',
  );
  assert.doesNotMatch(await project.ask({ operation: 'find_references', ...call }), /greet\.ts:/);
  await assert.rejects(
    project.ask({ operation: 'document_symbols', path: 'src/greet.ts' }),
    /A permission rule keeps src\/greet\.ts/,
  );
});

test('the names that other agents use for it are understood', async () => {
  await using project = await openProject(FILES);
  assert.deepEqual(
    project.tool.prepare?.({ operation: 'goToDefinition', filePath: 'a.ts', line: 1, character: 2 }),
    { operation: 'go_to_definition', path: 'a.ts', line: 1, character: 2 },
  );
  const names = ['findReferences', 'documentSymbol', 'workspaceSymbol', 'prepareCallHierarchy', 'hover'];
  assert.deepEqual(
    names.map((operation) => project.tool.prepare?.({ operation })['operation']),
    ['find_references', 'document_symbols', 'workspace_symbols', 'incoming_calls', 'hover'],
  );
});

test('a project without a server of use is told why, and what to install', async () => {
  await using project = await openProject(FILES, {}, { typescript: { enabled: false } });
  const error = await project.ask({ operation: 'diagnostics', path: 'src/main.ts' }).catch((one) => one);
  assert.match(error.message, /^No language server for .*main\.ts could be started\./);
  assert.match(
    error.message,
    /typescript-language-server: .* refused initialize: .*provides no tsserver\.js/,
  );
  assert.match(error.message, /`npm install --global typescript-language-server typescript@5`/);
});

async function edited(project: Awaited<ReturnType<typeof openProject>>, text: string): Promise<string> {
  const path = project.at('src/main.ts');
  await writeFile(path, text);
  const call = {
    id: 'edit-1',
    tool: 'edit',
    input: { path },
    access: { kind: 'write', paths: [path] },
    identity: project.context.identity,
  } as const;
  const output = await project.extension.afterCall?.(call, textOutput('Edited.'), project.context);
  return (output?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test('after an edit the model hears of the errors that are new', async () => {
  await using project = await openProject(FILES);
  const fixed = FILES['src/main.ts'].replace('main(): number', 'main(): string');
  assert.equal(await edited(project, 'const early: number = "";\n'), '', 'no server runs yet');
  await writeFile(project.at('src/main.ts'), fixed);
  await project.ask({ operation: 'document_symbols', path: 'src/main.ts' });
  assert.equal(
    await edited(project, `${fixed}const a: number = 'x';\n`),
    [
      'Edited.',
      'typescript finds errors in src/main.ts:',
      "  6:7 error: Type 'string' is not assignable to type 'number'. (ts 2322)",
    ].join('\n'),
  );
  assert.equal(await edited(project, `\n${fixed}const a: number = 'x';\n`), '', 'it only moved');
  assert.match(
    await edited(project, `${fixed}const a: number = 'x';\nconst b: number = 'y';\n`),
    /^Edited\.\ntypescript finds errors in src\/main\.ts:\n {2}7:7 error: .*\(ts 2322\)$/,
  );
  assert.equal(await edited(project, fixed), '');
});

test('where the settings say so, an edit starts the server', async () => {
  await using project = await openProject(FILES, {}, { typescript: { startOnEdit: true } });
  assert.match(await edited(project, 'const early: number = "";\n'), /1:7 error: Type 'string'/);
});

test('nothing of a server is left when the conversation ends', async () => {
  const project = await openProject(FILES);
  await project.ask({ operation: 'document_symbols', path: 'src/main.ts' });
  assert.equal(project.running().length, 1);
  await project[Symbol.asyncDispose]();
  assert.deepEqual(project.running(), []);
});
