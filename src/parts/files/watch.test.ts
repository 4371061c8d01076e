// Watching real folders, in each of the ways that there are. What belongs together is changed in one go, so that nobody looks
// in between, however long the machine is busy with others.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../../../test/support/processes.ts';
import { createTestFolder, type TestFolder } from '../../../test/support/tool-folder.ts';
import type { Watch } from '../../core/watch.ts';
import { createWatchFiles, type WatchOptions } from './watch.ts';

const never = new AbortController().signal;

interface Watched extends AsyncDisposable {
  readonly folder: TestFolder;
  readonly watch: Watch;
  /** What was told, a batch a line, and forgotten. */
  told(): readonly string[];
  /** The same for all that has been changed by now, in one list. */
  flushed(): Promise<readonly string[]>;
}

async function watched(
  files: readonly string[],
  way: WatchOptions['way'],
  wants: (path: string) => boolean = () => true,
): Promise<Watched> {
  const folder = await createTestFolder();
  for (const path of files) {
    await mkdir(folder.at(path, '..'), { recursive: true });
    await writeFile(folder.at(path), path.endsWith('.gitignore') ? '*.log\nbuilt/\n' : 'x');
  }
  const batches: string[] = [];
  const watch = await createWatchFiles(way === undefined ? {} : { way })(
    {
      root: folder.path,
      wants,
      batch: (changes) =>
        batches.push(
          changes
            .map(({ path, kind }) => `${kind} ${relative(folder.path, path)}`)
            .toSorted()
            .join(', '),
        ),
    },
    never,
  );
  const told = () => batches.splice(0);
  return {
    folder,
    watch,
    told,
    async flushed() {
      await watch.flush();
      return told()
        .flatMap((batch) => batch.split(', '))
        .toSorted();
    },
    async [Symbol.asyncDispose]() {
      watch.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

for (const way of ['folders', 'tree', 'poll'] as const)
  describe(`watching by ${way}`, () => {
    test('tells of files that come, change and go, and of folders by their files', async () => {
      await using at = await watched(['a', 'b', 'sub/c', 'sub/deep/d'], way);
      const { folder, flushed } = at;
      assert.deepEqual(await flushed(), []);
      writeFileSync(folder.at('new'), '1');
      appendFileSync(folder.at('a'), 'y');
      rmSync(folder.at('b'));
      assert.deepEqual(await flushed(), ['added new', 'changed a', 'removed b']);
      renameSync(folder.at('sub'), folder.at('moved'));
      assert.deepEqual(await flushed(), [
        'added moved/c',
        'added moved/deep/d',
        'removed sub/c',
        'removed sub/deep/d',
      ]);
      appendFileSync(folder.at('moved/deep/d'), 'y');
      assert.deepEqual(await flushed(), ['changed moved/deep/d']);
      rmSync(folder.at('moved'), { recursive: true });
      writeFileSync(folder.at('moved'), 'a file');
      assert.deepEqual(await flushed(), ['added moved', 'removed moved/c', 'removed moved/deep/d']);
      mkdirSync(folder.at('x/y/z'), { recursive: true });
      writeFileSync(folder.at('x/y/z/f'), 'x');
      assert.deepEqual(await flushed(), ['added x/y/z/f']);
    });

    test('counts an atomic save as one change, and what comes and goes as none', async () => {
      await using at = await watched(['a'], way);
      writeFileSync(at.folder.at('a.tmp'), 'new text');
      renameSync(at.folder.at('a.tmp'), at.folder.at('a'));
      writeFileSync(at.folder.at('short'), 'x');
      rmSync(at.folder.at('short'));
      assert.deepEqual(await at.flushed(), ['changed a']);
    });

    test('leaves out version control, node_modules, links, ignored and unwanted files', async () => {
      const files = ['.gitignore', 'a.ts', 'sub/b.ts', 'built/c.ts', 'node_modules/m/d.ts', '.git/e.ts'];
      await using at = await watched(files, way, (path) => path.endsWith('.ts'));
      const { folder, flushed } = at;
      symlinkSync(folder.at('sub'), folder.at('link'));
      for (const path of files) appendFileSync(folder.at(path), '\n');
      writeFileSync(folder.at('f.log'), 'x');
      writeFileSync(folder.at('g.txt'), 'x');
      assert.deepEqual(await flushed(), ['changed a.ts', 'changed sub/b.ts']);
      writeFileSync(folder.at('.gitignore'), 'sub/\n');
      assert.deepEqual(await flushed(), ['added built/c.ts', 'removed sub/b.ts']);
    });
  });

test('without being asked it tells of what belongs together in one batch', async () => {
  await using at = await watched(['a', 'sub/b'], undefined);
  for (const name of ['c', 'd', 'sub/e']) writeFileSync(at.folder.at(name), 'x');
  appendFileSync(at.folder.at('a'), 'y');
  const batches: string[] = [];
  await eventually('all is told', async () => {
    batches.push(...at.told());
    return batches.join(', ').split(', ').length === 4;
  });
  assert.deepEqual(batches, ['added c, added d, added sub/e, changed a']);
});

test('what never rests is told of all the same', async () => {
  await using at = await watched(['a'], undefined);
  const writing = setInterval(() => void appendFile(at.folder.at('a'), 'y').catch(() => {}), 10);
  try {
    await eventually('it is told twice', async () => at.told().includes('changed a'));
    await eventually('it is told twice', async () => at.told().includes('changed a'));
  } finally {
    clearInterval(writing);
  }
});

test('a tree that holds more folders than may be watched is looked at instead', async () => {
  const names = Array.from({ length: 2100 }, (_, at) => `many/${at}/`);
  await using folder = await createTestFolder();
  execFileSync('mkdir', ['-p', ...names.map((name) => folder.at(name))]);
  const told: string[] = [];
  const watch = await createWatchFiles({ way: 'folders' })(
    {
      root: folder.path,
      wants: () => true,
      batch: (changes) => told.push(...changes.map(({ path }) => path)),
    },
    never,
  );
  await writeFile(folder.at('many/2099/a'), 'x');
  await watch.flush();
  assert.deepEqual(told, [folder.at('many/2099/a')]);
  watch.close();
});

test('many more changes than the system reports one by one are all told', async () => {
  await using at = await watched([], undefined);
  const names = Array.from({ length: 800 }, (_, index) => `f${index}`);
  execFileSync('touch', names, { cwd: at.folder.path });
  assert.equal((await at.flushed()).length, 800);
});

test('closed, by itself or by its signal, it tells nothing and keeps nothing open', async () => {
  await using folder = await createTestFolder();
  await mkdir(folder.at('sub'));
  const open = () =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'FSEventWrap' || kind === 'Timeout');
  const before = open();
  for (const end of ['close', 'abort'] as const) {
    const stop = new AbortController();
    const request = { root: folder.path, wants: () => true, batch: () => assert.fail('it is closed') };
    const watch = await createWatchFiles()(request, stop.signal);
    await writeFile(folder.at('sub', end), 'x');
    if (end === 'close') watch.close();
    else stop.abort();
    await watch.flush();
    assert.deepEqual(open(), before);
  }
});
