import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestFolder, toolNamed } from '../../../test/support/tool-folder.ts';
import type { JsonObject } from '../../core/schema.ts';
import { createFileTools } from './file-tools.ts';

const tools = createFileTools();

test('what the tools of every conversation cost in every request stays small', () => {
  const offered = tools.filter((tool) => tool.isDeferred !== true);
  const sent = offered.map(({ name, description, input }) => ({ name, description, input_schema: input }));
  const bytes = Buffer.byteLength(JSON.stringify(sent));
  assert.ok(bytes <= 3800, `${bytes} bytes`);
});

test('every name is one that models may send, and no name means two tools', () => {
  const names = tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]);
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['read', 'write', 'edit', 'grep', 'find', 'ls', 'notebook_edit', 'apply_patch', 'excerpt'],
  );
  assert.equal(new Set(names).size, names.length);
  const known = ['file.read', 'fs.read', 'file.write', 'file.list', 'file.search', 'search', 'glob'];
  for (const name of [...known, 'Read', 'Write', 'Edit', 'Grep', 'Glob', 'LS'])
    assert.ok(names.includes(name), name);
});

test('plans name the absolute path, and only reading is parallel and repeatable', async () => {
  const inputs: Readonly<Record<string, JsonObject>> = {
    read: { path: 'a/../b' },
    write: { path: 'b', content: '' },
    edit: { path: '/w/b' },
    grep: { path: 'b', pattern: 'x' },
    find: { path: 'b', pattern: '*' },
    ls: { path: './b' },
  };
  for (const [name, input] of Object.entries(inputs)) {
    const writes = name === 'write' || name === 'edit';
    const access = { kind: writes ? 'write' : 'read', paths: ['/w/b'] };
    const plan = await toolNamed(tools, name).plan(input, '/w');
    assert.deepEqual(plan, { access, parallel: !writes, repeatable: !writes }, name);
    await assert.rejects(toolNamed(tools, name).plan({ ...input, path: '~/b' }, '/w'), {
      name: 'ToolFailure',
    });
  }
});

test('a call is shown before it runs without looking at any file', async () => {
  assert.deepEqual(await toolNamed(tools, 'read').show({ path: 'a', offset: 3 }), {
    kind: 'file',
    path: 'a',
    firstLine: 3,
  });
  assert.deepEqual(await toolNamed(tools, 'write').show({ path: 'a', content: 'x\ny' }), {
    kind: 'file',
    path: 'a',
    text: 'x\ny',
    lines: 2,
  });
  assert.deepEqual(await toolNamed(tools, 'edit').show({ path: 'a', old_string: 'x\n', new_string: 'y\n' }), {
    kind: 'diff',
    path: 'a',
    diff: '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n',
    added: 1,
    removed: 1,
  });
  const matches = (title: string) => ({ kind: 'matches', title, count: 0, truncated: false, lines: [] });
  assert.deepEqual(await toolNamed(tools, 'grep').show({ pattern: 'x', glob: '*.ts' }), matches('x in *.ts'));
  assert.deepEqual(await toolNamed(tools, 'find').show({ pattern: '*.ts' }), matches('*.ts'));
  assert.deepEqual(await toolNamed(tools, 'ls').show({}), matches(''));
});

test('arguments under the names of other agents are understood', () => {
  const prepared = (name: string, input: JsonObject) => toolNamed(tools, name).prepare?.(input);
  assert.deepEqual(prepared('read', { file_path: 'a' }), { path: 'a' });
  assert.deepEqual(
    prepared('grep', { query: 'x', include: '*.ts', '-i': true, output_mode: 'files_with_matches' }),
    {
      pattern: 'x',
      glob: '*.ts',
      ignore_case: true,
      output: 'files',
    },
  );
  assert.deepEqual(prepared('find', { query: '*.ts', directory: 'src' }), { pattern: '*.ts', path: 'src' });
  assert.deepEqual(prepared('ls', { dir_path: 'src' }), { path: 'src' });
});

test('ripgrep is looked for once, on the PATH and then in the package, and done without', async () => {
  const asked: string[] = [];
  await using folder = await createTestFolder({
    exec: async ({ argv: [program = ''] }) => {
      asked.push(program.replace(/.*\//, '…/'));
      throw new (await import('../../core/errors.ts')).ToolFailure('no such program');
    },
  });
  const grep = toolNamed(createFileTools(), 'grep');
  await Promise.all([grep.run({ pattern: 'x' }, folder.context), grep.run({ pattern: 'y' }, folder.context)]);
  await grep.run({ pattern: 'z' }, folder.context);
  assert.deepEqual(asked, ['rg', '…/rg']);
});

test('a search that is given up while ripgrep is looked for does not end the others', async () => {
  const controller = new AbortController();
  let started = 0;
  await using folder = await createTestFolder({
    exec: (_, signal) =>
      new Promise((_settle, reject) => {
        started++;
        if (!signal.aborted && started === 1) signal.addEventListener('abort', () => reject(signal.reason));
        else reject(new Error('unexpected'));
        controller.abort(new Error('given up'));
      }),
  });
  const grep = toolNamed(createFileTools(), 'grep');
  const first = grep.run({ pattern: 'x' }, { ...folder.context, signal: controller.signal });
  await assert.rejects(first, /given up/);
});

test('a name that no file can have is an error before anybody is asked', async () => {
  const path = `a/${'ä'.repeat(128)}`;
  const plan = async () => toolNamed(createFileTools({ ripgrep: null }), 'write').plan({ path }, '/code');
  await assert.rejects(plan(), {
    name: 'ToolFailure',
    message: `${path.slice(0, 100)}…: a name in a path has at most 255 bytes.`,
  });
});
