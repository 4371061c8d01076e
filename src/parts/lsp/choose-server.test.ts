import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { suite, test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';
import { createTestFolder } from '../../../test/support/tool-folder.ts';
import { createExec } from '../process/exec.ts';
import { configuredRows, findProgram, findRoot, rowsFor } from './choose-server.ts';
import { SERVERS, type ServerRow } from './server-table.ts';

const ROW: ServerRow = {
  name: 'fake',
  command: ['fake-server', '--stdio'],
  languages: { '.fake': 'fake' },
  roots: ['fake.lock', 'fake.toml'],
  probe: { args: ['--version'], output: /^2/ },
};

const { signal } = new AbortController();

async function folder(files: Readonly<Record<string, string>>) {
  const made = await createTestFolder({ exec: createExec({ env: process.env, clock: realClock }) });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(made.at(path)), { recursive: true });
    await writeFile(made.at(path), text);
    if (text.startsWith('#!')) await chmod(made.at(path), 0o755);
  }
  return made;
}

suite('which server is asked', () => {
  test('every known server has a name of its own and endings that begin with a dot', () => {
    assert.equal(new Set(SERVERS.map(({ name }) => name)).size, SERVERS.length);
    for (const { languages } of SERVERS)
      for (const ending of Object.keys(languages)) assert.match(ending, /^\.[a-z]+$/);
  });

  test('a person’s own stand first, change what they name, and turn off what they will', () => {
    const rows = configuredRows(
      {
        vue: { command: ['vue-server'], extensions: { '.vue': 'vue' }, startOnEdit: true },
        fake: { env: { A: '1' }, initializationOptions: { fast: true } },
        gone: { enabled: false },
      },
      [{ ...ROW, name: 'gone' }, ROW],
    );
    assert.deepEqual(rows, [
      { name: 'vue', command: ['vue-server'], languages: { '.vue': 'vue' }, roots: [], startOnEdit: true },
      { ...ROW, env: { A: '1' }, initializationOptions: { fast: true } },
    ]);
    assert.deepEqual(rowsFor('/x/a.vue', rows), [rows[0]]);
    assert.throws(
      () => configuredRows({ nothing: { startOnEdit: true } }, [ROW]),
      /\[lsp\.nothing\] needs command/,
    );
    const [own] = configuredRows({ fake: { command: ['mine'] } }, [ROW]);
    assert.equal(own?.probe, undefined, 'a command of the person’s own is there because they say so');
  });

  test('the root is the nearest folder with the strongest mark, inside of the working folder', async () => {
    await using made = await folder({
      'fake.toml': '',
      'a/fake.lock': '',
      'a/b/fake.toml': '',
      'a/b/x.fake': '',
      'c/x.fake': '',
    });
    const { files } = made.context;
    const root = (path: string, cwd = made.path) => findRoot(made.at(path), ROW, cwd, files);
    assert.equal(await root('a/b/x.fake'), made.at('a'));
    assert.equal(await root('c/x.fake'), made.path);
    assert.equal(await root('c/x.fake', made.at('c')), made.at('c'));
    assert.equal(await root('a/b/x.fake', made.at('c')), made.at('a'));
  });

  test('a project’s own program goes before the machine’s, and an old one is not used', async () => {
    const program = 'node_modules/.bin/fake-server';
    await using made = await folder({ [program]: '#!/bin/sh\necho 2.0\n', 'a/x': '' });
    const { files, exec } = made.context;
    const place = { root: made.at('a'), cwd: made.path, files, exec, signal };
    assert.deepEqual(await findProgram(ROW, place), { argv: [made.at(program), '--stdio'] });
    await writeFile(made.at(program), '#!/bin/sh\necho 1.9\n');
    assert.deepEqual(await findProgram(ROW, place), {
      missing: `${made.at(program)} --version says "1.9"`,
    });
    assert.deepEqual(await findProgram({ ...ROW, command: ['no-such-server'] }, place), {
      missing: 'The program no-such-server was not found in PATH.',
    });
  });
});
