// What ARCHITECTURE.md says about the rooms, what biome.json enforces and what lies in `src` are one thing.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dirname } from 'node:path/posix';
import { test } from 'node:test';
import { ROOT, sourceFiles } from './planted-tree.ts';
import { readRooms } from './rooms.ts';

const HEADING = '| room | may import |';

/** Where each effect is imported. A room that needs one and is not here is handed it (core/host). */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': ['parts/process', 'parts/sandbox'],
  'node:cluster': [],
  'node:dgram': [],
  'node:fs': [
    'cli',
    'disk',
    'hosts/daemon',
    'hosts/remote',
    'parts/agents',
    'parts/auth',
    'parts/config',
    'parts/files',
    'parts/history',
    'parts/llm',
    'parts/memory',
    'parts/permissions',
    'parts/process',
    'parts/sandbox',
    'parts/schedule',
    'parts/search',
    'parts/tape',
    'parts/usage',
  ],
  'node:fs/promises': [
    'cli',
    'hosts/daemon',
    'parts/auth',
    'parts/files',
    'parts/process',
    'parts/sandbox',
    'parts/tape',
    'parts/usage',
  ],
  'node:http': ['cli', 'dev', 'hosts/remote', 'parts/auth', 'parts/browser', 'parts/llm', 'parts/web'],
  'node:http2': ['parts/sandbox'],
  'node:https': ['dev', 'hosts/remote', 'parts/auth', 'parts/browser', 'parts/llm', 'parts/web'],
  'node:net': [
    'client',
    'hosts/daemon',
    'hosts/remote',
    'parts/browser',
    'parts/llm',
    'parts/sandbox',
    'parts/web',
  ],
  'node:sqlite': ['parts/search'],
  'node:tls': ['hosts/remote', 'parts/llm'],
  'node:vm': [],
  'node:worker_threads': ['parts/documents'],
};

/** The launcher starts another Node before there is a room that could. */
const LAUNCHER = 'crab.cjs';

function tableOf(markdown: string): Map<string, readonly string[]> {
  const lines = markdown.split('\n');
  const start = lines.indexOf(HEADING);
  assert.notEqual(start, -1, `ARCHITECTURE.md has no table \`${HEADING}\``);
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return new Map(
    rows.slice(0, end === -1 ? rows.length : end).map((row) => {
      const [, room = '', mayImport = ''] = row.split('|').map((cell) => cell.trim());
      return [room, mayImport === 'nothing' ? [] : mayImport.split(', ').sort()];
    }),
  );
}

/** Node's modules that a text names: `node:fs` as a string anywhere, `fs` where something is imported. */
function modulesNamed(text: string): readonly string[] {
  const named = [...text.matchAll(/['"`](node:[a-z_/0-9]+)['"`]/g)].map(([, name = '']) => name);
  const bare = text.matchAll(/(?:from|import|require)\s*\(?\s*['"`]([a-z_/0-9]+)['"`]/g);
  return [...named, ...[...bare].map(([, name = '']) => `node:${name}`)];
}

/** `parts/llm` for `src/parts/llm/sse.ts`; the file's own name for one beside the rooms. */
function roomOf(file: string): string {
  const folder = dirname(file).replace(/^src\/?/, '');
  return folder === '' ? file.replace('src/', '') : folder;
}

function effectsOutOfPlace(file: string, text: string): readonly string[] {
  const room = roomOf(file);
  const named = modulesNamed(text);
  return Object.entries(EFFECTS)
    .filter(([effect, rooms]) => named.includes(effect) && !rooms.includes(room))
    .map(([effect]) => `${file} names ${effect}`);
}

test('the table of rooms in ARCHITECTURE.md is the one in biome.json', async () => {
  const table = tableOf(await readFile(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));
  const rules = new Map(readRooms().map((room) => [room.name, [...room.mayImport].sort()]));
  assert.deepEqual(table, rules);
});

test('every folder of the source is a room', () => {
  const rooms = readRooms().map(({ name }) => new RegExp(`^src/${name.replace('*', '[^/]+')}$`));
  const folders = new Set(sourceFiles('src').map((file) => dirname(file)));
  folders.delete('src');
  assert.ok(folders.size > 0);
  const homeless = [...folders].filter((folder) => !rooms.some((room) => room.test(folder)));
  assert.deepEqual(homeless, []);
});

test('each effect may be imported in the rooms named here and in no other', () => {
  const allowed = Object.keys(EFFECTS).map((effect) => [
    effect,
    readRooms()
      .filter((room) => room.mayImport.includes(effect))
      .map((room) => room.name)
      .sort(),
  ]);
  assert.deepEqual(Object.fromEntries(allowed), EFFECTS);
});

test('no file names an effect that is not its room’s', async () => {
  const files = sourceFiles('src').filter((file) => !file.endsWith('.test.ts') && file !== `src/${LAUNCHER}`);
  assert.ok(files.length > 0);
  for (const file of files) {
    assert.deepEqual(effectsOutOfPlace(file, await readFile(join(ROOT, file), 'utf8')), []);
  }
});

for (const [file, text] of [
  ['src/engine/planted.ts', "import { readFile } from 'node:fs/promises';"],
  ['src/parts/files/planted.ts', 'export const a = await import("node:child_process");'],
  ['src/parts/tape/planted.ts', "import { request } from 'node:http';"],
  ['src/channels/print/planted.ts', 'import { writeFile } from `node:fs`;'],
  ['src/main.ts', "import { spawn } from 'child_process';"],
] as const) {
  test(`an effect out of place is found in ${file}`, () => {
    assert.equal(effectsOutOfPlace(file, text).length, 1);
  });
}
