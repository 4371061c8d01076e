// Every rule that holds the house together is broken here once, in a copy of the real tree, and must be
// refused. A guard that nobody has seen fail is no guard: an allow-list with a typing error allows everything.

import assert from 'node:assert/strict';
import { join, relative } from 'node:path/posix';
import { test } from 'node:test';
import { compiledFiles, type Finding, lint, plantTree, ROOT, sourceFiles } from './planted-tree.ts';
import { PLANTED, type Room, readRooms } from './rooms.ts';

const ROOMS = readRooms();
const PURE_ROOMS = ['core', 'engine', 'faces', 'policy', 'protocol'];

const NODE_MODULES = [
  'node:child_process',
  'node:cluster',
  'node:crypto',
  'node:dgram',
  'node:fs',
  'node:fs/promises',
  'node:http',
  'node:http2',
  'node:https',
  'node:module',
  'node:net',
  'node:os',
  'node:path',
  'node:process',
  'node:string_decoder',
  'node:timers/promises',
  'node:tls',
  'node:vm',
  'node:worker_threads',
  'node:zlib',
  'fs',
  'child_process',
];
const PACKAGES = ['@lydell/node-pty', '@vscode/ripgrep', 'ajv', 'diff', 'ignore', 'picomatch'];

/** Each way to name another module, on one line. */
const FORMS: readonly ((module: string) => string)[] = [
  (module) => `import '${module}';`,
  (module) => `import { a } from '${module}';`,
  (module) => `import type { B } from '${module}';`,
  (module) => `export { c } from '${module}';`,
  (module) => `export type { D } from '${module}';`,
  (module) => `export * as e from '${module}';`,
  (module) => `export const f = import('${module}');`,
];

interface Planted {
  readonly line: string;
  /** A part of what must be said about the line. */
  readonly message: string;
}

/** Everything that a file of the room could name, from the other rooms to what npm has. */
function namesFor(room: Room): readonly string[] {
  const others = [...ROOMS.map((other) => join(other.folder, PLANTED)), `parts/other/${PLANTED}`];
  const files = others
    .map((other) => relative(room.folder, other))
    .map((path) => (path.startsWith('.') ? `${path}.ts` : `./${path}.ts`));
  return [...files, './folder/planted.ts', '../../../package.json', ...NODE_MODULES, ...PACKAGES];
}

function plantedIn(room: Room): string {
  return join('src', room.folder, `${PLANTED}.ts`);
}

function isAllowed(room: Room, name: string): boolean {
  return room.allowed.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '[^/]+')}$`).test(name));
}

/** File → what is planted in it, one violation a line. */
function plantedImports(): Map<string, readonly Planted[]> {
  const files = new Map<string, readonly Planted[]>();
  for (const room of ROOMS) {
    const forbidden = namesFor(room).filter((name) => !isAllowed(room, name));
    const lines = forbidden.flatMap((name) => FORMS.map((form) => form(name)));
    files.set(
      plantedIn(room),
      lines.map((line) => ({ line, message: room.message })),
    );
  }
  return files;
}

const WAYS_AROUND: readonly Planted[] = [
  "export const a = require('node:fs');",
  "export let b: import('../runtime/other.ts').Other;",
  'export const c = import(`node:fs`);',
  "export const d = import('node:' + 'fs');",
  "export const e = process.getBuiltinModule('node:fs');",
  'export const f = createRequire(import.meta.url);',
  "export const g = import.meta.resolve('node:fs');",
].map((line) => ({ line, message: 'which the import rule can read' }));

const GLOBALS: readonly Planted[] = [
  "export const a = fetch('http://localhost');",
  "export const b = new WebSocket('ws://localhost');",
].map((line) => ({ line, message: 'Do not use the global variable' }));

const IMPURITIES: readonly Planted[] = [
  'export const a = Math.random();',
  'export const b = Math.random;',
  "export const c = Math['random']();",
  'export const { random } = Math;',
  'const d = Math;',
  'export const e = Date.now();',
  'export const f = [1].map(Date.now);',
  'export const g = new Date();',
  'export const h = Date();',
  'export const i = Temporal.Now;',
  'export const j = globalThis.process;',
  "export const k = new Function('return process')();",
].map((line) => ({ line, message: 'a pure room is handed its clock' }));

const EFFECTS = [
  'process.exit(1);',
  "fetch('http://localhost');",
  'setTimeout(() => {}, 1);',
  'setImmediate(() => {});',
  "console.log('said');",
  'export const a = crypto.randomUUID();',
  'export const b = performance.now();',
  "export const c = Buffer.from('x');",
  "export const d = new WebSocket('ws://localhost');",
  "import { readFileSync } from 'node:fs';",
  "export const e = await import('node:child_process');",
  "export const f = require('node:fs');",
  'export const g = globalThis.process;',
];

/** The lines of `planted` that nothing, or something else, was said about. */
function unrefused(
  planted: ReadonlyMap<string, readonly Planted[]>,
  findings: readonly Finding[],
): readonly string[] {
  const said = new Map<string, string>();
  for (const { file, line, message } of findings) {
    const key = `${file}:${line}`;
    said.set(key, `${said.get(key) ?? ''}${message}\n`);
  }
  return [...planted].flatMap(([file, lines]) =>
    lines
      .filter(({ message }, at) => !said.get(`${file}:${at + 1}`)?.includes(message))
      .map(({ line }) => `${file}: ${line}`),
  );
}

function textOf(planted: ReadonlyMap<string, readonly Planted[]>): Map<string, string> {
  return new Map([...planted].map(([file, lines]) => [file, lines.map(({ line }) => `${line}\n`).join('')]));
}

test('no room imports what is not on its list, in any form', async () => {
  const planted = plantedImports();
  await using tree = await plantTree(textOf(planted));
  const { findings } = await tree.lint();
  assert.deepEqual(unrefused(planted, findings), []);
  assert.equal(planted.size, ROOMS.length);
});

test('every room imports what is on its list', async () => {
  const files = ROOMS.map((room): [string, string] => [
    plantedIn(room),
    namesFor(room)
      .filter((name) => isAllowed(room, name))
      .flatMap((name) => FORMS.map((form) => `${form(name)}\n`))
      .join(''),
  ]);
  await using tree = await plantTree(new Map(files));
  const { findings } = await tree.lint();
  const refused = findings.filter(({ rule }) => rule === 'lint/style/noRestrictedImports');
  assert.deepEqual(refused, []);
});

test('there is no way around the import rule', async () => {
  const planted = new Map([
    [`src/parts/files/${PLANTED}.ts`, WAYS_AROUND],
    [`src/runtime/${PLANTED}.ts`, GLOBALS],
  ]);
  await using tree = await plantTree(textOf(planted));
  const { findings } = await tree.lint();
  assert.deepEqual(unrefused(planted, findings), []);
});

test('a pure room takes neither time nor chance from the language', async () => {
  const planted = new Map(PURE_ROOMS.map((room) => [`src/${room}/${PLANTED}.ts`, IMPURITIES]));
  await using tree = await plantTree(textOf(planted));
  const { findings } = await tree.lint();
  assert.deepEqual(unrefused(planted, findings), []);
});

test('a pure room that reaches outside does not compile', async () => {
  const planted = new Map(
    PURE_ROOMS.map((room) => [`src/${room}/${PLANTED}.ts`, EFFECTS.map((line) => ({ line, message: '' }))]),
  );
  await using tree = await plantTree(textOf(planted));
  const findings = await tree.compile('tsconfig.pure.json');
  assert.deepEqual(unrefused(planted, findings), []);
});

test('a type error anywhere does not compile', async () => {
  await using tree = await plantTree(
    new Map([[`src/runtime/${PLANTED}.ts`, 'export const a: string = 1;\n']]),
  );
  const findings = await tree.compile('tsconfig.json');
  const planted = findings.filter(({ file }) => file === `src/runtime/${PLANTED}.ts`);
  assert.deepEqual(planted, [
    {
      file: `src/runtime/${PLANTED}.ts`,
      line: 1,
      rule: 'TS2322',
      message: "Type 'number' is not assignable to type 'string'.",
    },
  ]);
});

test('the rules of the whole tree are on', async () => {
  await using tree = await plantTree(
    new Map([
      ['src/core/planted-a.ts', "import { b } from './planted-b.ts';\nexport const a = () => b;\n"],
      ['src/core/planted-b.ts', "import { a } from './planted-a.ts';\nexport const b = () => a;\n"],
      ['src/core/PlantedName.ts', 'export const a = 1;\n'],
      ['src/core/planted-default.ts', 'export default 1;\n'],
      ['src/core/planted-bang.ts', 'export const a = (b?: string) => b!.length;\n'],
      ['src/core/planted-any.ts', 'export const a = (b: any) => b;\n'],
      ['src/core/planted-all.ts', "export * from './ids.ts';\n"],
      ['src/core/planted-type.ts', "import { Tool } from './tool.ts';\nexport const a = (b: Tool) => b;\n"],
    ]),
  );
  const { findings } = await tree.lint();
  const planted = findings.filter(
    ({ file }) => file.startsWith('src/core/planted') || file.includes('Planted'),
  );
  const refused = new Set(planted.map(({ file, rule }) => `${file} ${rule}`));
  assert.deepEqual([...refused].sort(), [
    'src/core/PlantedName.ts lint/style/useFilenamingConvention',
    'src/core/planted-a.ts lint/suspicious/noImportCycles',
    'src/core/planted-all.ts lint/performance/noReExportAll',
    'src/core/planted-any.ts lint/suspicious/noExplicitAny',
    'src/core/planted-b.ts lint/suspicious/noImportCycles',
    'src/core/planted-bang.ts lint/style/noNonNullAssertion',
    'src/core/planted-default.ts lint/style/noDefaultExport',
    'src/core/planted-type.ts lint/style/useImportType',
  ]);
});

test('the linter reads every file of the source', async () => {
  const { filesChecked } = await lint(ROOT);
  const files = sourceFiles('src');
  assert.ok(files.length > 0);
  assert.equal(filesChecked, files.length);
});

test('the compiler reads every file, and every file of a pure room without Node’s types', async () => {
  const typescript = ['src', 'test', 'scripts', 'bench']
    .flatMap(sourceFiles)
    .filter((file) => file.endsWith('.ts'));
  const ours = typescript.filter((file) => file !== 'src/core/web.d.ts');
  const compiled = await compiledFiles('tsconfig.json');
  assert.deepEqual(
    compiled.filter((file) => file.endsWith('.ts')),
    ours.sort(),
  );
  const pure = PURE_ROOMS.flatMap((room) => sourceFiles(`src/${room}`));
  assert.ok(pure.length > 0);
  assert.deepEqual(
    await compiledFiles('tsconfig.pure.json'),
    pure.filter((file) => !file.endsWith('.test.ts')).sort(),
  );
});
