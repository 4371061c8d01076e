import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { createTestFolder } from '../../../test/support/tool-folder.ts';
import { createLocalFiles } from './local-files.ts';

const files = createLocalFiles();
const isRoot = process.getuid?.() === 0;

const text = async (path: string) => Buffer.from(await files.read(path)).toString();

function failure(message: RegExp) {
  return { name: 'ToolFailure', message };
}

/** Runs a script on `files` in a process of a user without rights, who need not be able to read this checkout. */
function asNobody(script: string): { status: number | null; output: string } {
  const module = new URL('./local-files.ts', import.meta.url).href;
  const source = `
    import { mkdtempSync, rmSync } from 'node:fs';
    import { createLocalFiles } from ${JSON.stringify(module)};
    const files = createLocalFiles();
    // What is loaded at first use is used once by a user who may load it.
    const folder = mkdtempSync('/tmp/crab-files-');
    await files.write(folder + '/sub/file', Buffer.from('x'));
    rmSync(folder, { recursive: true });
    process.setgid?.(65534);
    process.setuid?.(65534);
    try { ${script} } catch (error) { console.log(error.name + ': ' + error.message); }`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  return { status: result.status, output: result.stdout.trim() + result.stderr };
}

describe('read', () => {
  test('gives a whole file, or a part, or nothing behind the end', async () => {
    await using folder = await createTestFolder();
    const path = folder.at('a.bin');
    const bytes = Buffer.alloc(300_000, 'abcdefg');
    await writeFile(path, bytes);
    assert.ok(bytes.equals(await files.read(path)));
    const part = await files.read(path, { offset: 100_000, length: 150_000 });
    assert.ok(bytes.subarray(100_000, 250_000).equals(part));
    assert.equal((await files.read(path, { offset: 299_999, length: 10 })).length, 1);
    assert.equal((await files.read(path, { offset: 400_000, length: 10 })).length, 0);
  });

  test('reads what says that it is empty, as the files of /proc do', async () => {
    assert.match(await text('/proc/self/status'), /^Name:/);
    assert.equal((await files.read('/proc/self/status', { offset: 0, length: 5 })).length, 5);
  });

  test('reads a part of a file of 1 TiB and refuses the whole', async () => {
    await using folder = await createTestFolder();
    const path = folder.at('sparse');
    const handle = await open(path, 'w');
    await handle.truncate(2 ** 40);
    await handle.close();
    const before = process.memoryUsage().rss;
    assert.equal((await files.read(path, { offset: 2 ** 39, length: 4096 })).length, 4096);
    await assert.rejects(files.read(path), failure(/sparse at once: 1099511627776 bytes, where at most/));
    assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
  });

  test('refuses what is no regular file, and does not wait for it', async () => {
    await using folder = await createTestFolder();
    execFileSync('mkfifo', [folder.at('pipe')]);
    await mkdir(folder.at('sub'));
    await symlink(folder.at('pipe'), folder.at('to-pipe'));
    const server = createServer().listen(folder.at('socket'));
    await new Promise((settle) => server.once('listening', settle));
    await assert.rejects(files.read(folder.at('pipe')), failure(/pipe: it is a FIFO, not a regular file/));
    await assert.rejects(files.read(folder.at('to-pipe')), failure(/to-pipe: it is a FIFO/));
    await assert.rejects(files.read(folder.at('sub')), failure(/sub: it is a folder, not a file/));
    await assert.rejects(files.read(folder.at('socket')), failure(/socket: it is a socket or a device/));
    await assert.rejects(files.read('/dev/zero'), failure(/\/dev\/zero: it is a device/));
    server.close();
  });

  test('says in words why a path cannot be read, and which name is near', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('README.md'), '');
    await symlink('loop', folder.at('loop'));
    await symlink('gone/away', folder.at('dangling'));
    const cases: readonly (readonly [string, RegExp])[] = [
      ['readme.md', /readme\.md: it does not exist; the nearest name there is .*\/README\.md\.$/],
      ['REDME.md', /the nearest name there is .*\/README\.md\.$/],
      ['README.txt', /the nearest name there is .*\/README\.md\.$/],
      ['zzz', /zzz: it does not exist\.$/],
      ['no/such/file', /the folder .*\/no does not exist\.$/],
      ['README.md/x', /README\.md is a file, not a folder\.$/],
      ['dangling', /dangling: it is a link to gone\/away, which does not exist\.$/],
      ['dangling/x', /x: .*\/dangling is a link to gone\/away, which does not exist\.$/],
      ['loop', /too many symbolic links/],
      ['x'.repeat(300), /the name is too long/],
      ['a\0b', /a path cannot hold a NUL byte/],
    ];
    for (const [name, message] of cases) await assert.rejects(files.read(folder.at(name)), failure(message));
    await assert.rejects(files.read('relative'), failure(/the path is not absolute/));
  });

  test('names missing permission', { skip: !isRoot }, async () => {
    await using folder = await createTestFolder();
    await chmod(folder.path, 0o755);
    await writeFile(folder.at('secret'), 'x', { mode: 0o600 });
    const { output } = asNobody(`await files.read(${JSON.stringify(folder.at('secret'))})`);
    assert.equal(output, `ToolFailure: Cannot read ${folder.at('secret')}: permission denied.`);
  });
});

describe('write', () => {
  test('makes a file, and the folders that it lacks', async () => {
    await using folder = await createTestFolder();
    await files.write(folder.at('a/b/c.txt'), Buffer.from('new'));
    assert.equal(await text(folder.at('a/b/c.txt')), 'new');
    assert.deepEqual(await readdir(folder.at('a/b')), ['c.txt']);
    assert.equal((await stat(folder.at('a/b/c.txt'))).mode & 0o777, 0o666 & ~process.umask());
  });

  test('keeps the mode, and drops the bits that lend rights', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('run.sh'), 'old');
    await chmod(folder.at('run.sh'), 0o4751);
    await files.write(folder.at('run.sh'), Buffer.from('new'));
    assert.equal((await stat(folder.at('run.sh'))).mode & 0o7777, 0o751);
  });

  test('keeps the owner where it may', { skip: !isRoot }, async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'old');
    await chown(folder.at('a'), 1234, 2345);
    await files.write(folder.at('a'), Buffer.from('new'));
    const { uid, gid } = await stat(folder.at('a'));
    assert.deepEqual({ uid, gid }, { uid: 1234, gid: 2345 });
  });

  test('goes through links and leaves them, also a link to nothing', async () => {
    await using folder = await createTestFolder();
    await mkdir(folder.at('real'));
    await writeFile(folder.at('real/a'), 'old');
    await symlink('real/a', folder.at('link'));
    await symlink('../real/new', folder.at('real/dangling'));
    await files.write(folder.at('link'), Buffer.from('new'));
    await files.write(folder.at('real/dangling'), Buffer.from('made'));
    assert.equal(await readlink(folder.at('link')), 'real/a');
    assert.equal(await text(folder.at('real/a')), 'new');
    assert.ok((await lstat(folder.at('real/dangling'))).isSymbolicLink());
    assert.equal(await readFile(folder.at('real/new'), 'utf8'), 'made');
  });

  test('leaves the other names of a hard-linked file with what they had', async () => {
    await using folder = await createTestFolder();
    await writeFile(folder.at('a'), 'old');
    await link(folder.at('a'), folder.at('b'));
    await files.write(folder.at('a'), Buffer.from('new'));
    assert.deepEqual([await text(folder.at('a')), await text(folder.at('b'))], ['new', 'old']);
  });

  test('refuses a folder, a FIFO, and a file in place of a folder', async () => {
    await using folder = await createTestFolder();
    execFileSync('mkfifo', [folder.at('pipe')]);
    await mkdir(folder.at('sub'));
    await writeFile(folder.at('file'), '');
    const write = (name: string) => files.write(folder.at(name), Buffer.from('x'));
    await assert.rejects(write('sub'), failure(/sub: it is a folder, not a file/));
    await assert.rejects(write('pipe'), failure(/pipe: it is no regular file/));
    await assert.rejects(write('file/x'), failure(/file is a file, not a folder/));
    assert.deepEqual(await readdir(folder.path), ['file', 'pipe', 'sub']);
  });

  test('does not replace a file that the user may not write', { skip: !isRoot }, async () => {
    await using folder = await createTestFolder();
    await chmod(folder.path, 0o777);
    await writeFile(folder.at('a'), 'old', { mode: 0o444 });
    const { output } = asNobody(`await files.write(${JSON.stringify(folder.at('a'))}, Buffer.from('new'))`);
    assert.equal(output, `ToolFailure: Cannot write ${folder.at('a')}: permission denied.`);
    assert.equal(await text(folder.at('a')), 'old');
  });

  test('names a folder that may not be written', { skip: !isRoot }, async () => {
    await using folder = await createTestFolder();
    await chmod(folder.path, 0o755);
    const { output } = asNobody(
      `await files.write(${JSON.stringify(folder.at('sub/a'))}, Buffer.from('new'))`,
    );
    assert.match(output, /^ToolFailure: Cannot write .*\/sub\/a: permission denied\.$/);
  });

  test('names a full disk and keeps the old content', async (context) => {
    await using folder = await createTestFolder();
    const disk = folder.at('disk');
    await mkdir(disk);
    const mounted =
      isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status === 0;
    if (!mounted) {
      assert.equal(process.env['CI'], undefined, 'a small disk must be there in CI');
      context.skip('no disk can be mounted here');
      return;
    }
    try {
      await writeFile(`${disk}/a`, 'old');
      await assert.rejects(
        files.write(`${disk}/a`, Buffer.alloc(1024 * 1024)),
        failure(/disk\/a: no space is left on the disk/),
      );
      assert.equal(await text(`${disk}/a`), 'old');
      assert.deepEqual(await readdir(disk), ['a']);
    } finally {
      spawnSync('umount', [disk]);
    }
  });
});

describe('resolve', () => {
  test('follows links, of what is not there as far as it is', async () => {
    await using folder = await createTestFolder();
    await mkdir(folder.at('real/deep'), { recursive: true });
    await writeFile(folder.at('real/a'), '');
    await symlink('real', folder.at('link'));
    await symlink('/nowhere/x', folder.at('out'));
    await symlink('link/deep/../../up', folder.at('tricky'));
    const cases: Readonly<Record<string, string>> = {
      'link/a': folder.at('real/a'),
      'link/new/b': folder.at('real/new/b'),
      'none/../x': folder.at('x'),
      out: '/nowhere/x',
      'out/y': '/nowhere/x/y',
      tricky: folder.at('up'),
    };
    for (const [name, expected] of Object.entries(cases))
      assert.equal(await files.resolve(`${folder.path}/${name}`), expected, name);
  });

  test('gives up on links in a circle', async () => {
    await using folder = await createTestFolder();
    await symlink('b', folder.at('a'));
    await symlink('a', folder.at('b'));
    await assert.rejects(files.resolve(folder.at('a')), failure(/too many symbolic links/));
    await assert.rejects(files.resolve(folder.at('a/x')), failure(/too many symbolic links/));
  });
});

test('info and list say what is there', async () => {
  await using folder = await createTestFolder();
  await writeFile(folder.at('a'), 'abc', { mode: 0o640 });
  await mkdir(folder.at('sub'));
  await symlink('a', folder.at('link'));
  execFileSync('mkfifo', [folder.at('pipe')]);
  const kind = async (name: string, follow?: boolean) =>
    (await files.info(folder.at(name), { follow }))?.kind;
  assert.deepEqual(
    [await kind('a'), await kind('sub'), await kind('link'), await kind('link', false), await kind('none')],
    ['file', 'directory', 'file', 'link', undefined],
  );
  const { size, mode, modified } = (await files.info(folder.at('a'))) ?? {};
  assert.deepEqual(
    { size, mode, modified },
    { size: 3, mode: 0o640, modified: (await stat(folder.at('a'))).mtimeMs },
  );
  assert.equal((await files.info(folder.at('pipe')))?.what, 'FIFO');
  assert.equal(await files.info(folder.at('a/b')), undefined);
  assert.deepEqual(
    [...(await files.list(folder.path))].sort((a, b) => (a.name < b.name ? -1 : 1)),
    [
      { name: 'a', kind: 'file' },
      { name: 'link', kind: 'link' },
      { name: 'pipe', kind: 'other' },
      { name: 'sub', kind: 'directory' },
    ],
  );
  await assert.rejects(files.list(folder.at('none')), failure(/none: it does not exist/));
});
