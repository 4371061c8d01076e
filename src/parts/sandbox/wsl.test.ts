// The wrapper for Windows, as text, and through a stand-in for `wsl.exe` that runs on Linux what it is given: so the whole
// command line, the filter in it and the mounts are tried, and Windows itself is not.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { createGround, type GroundOptions } from '../../../test/support/sandbox.ts';
import { trySurfaces } from './matrix.ts';
import { pathInWsl, wsl } from './wsl.ts';

test('paths of Windows are where Linux sees them', () => {
  const paths = {
    'C:\\Users\\me\\my work': '/mnt/c/Users/me/my work',
    'd:/src': '/mnt/d/src',
    'C:\\': '/mnt/c',
    'C:': '/mnt/c',
    '\\\\?\\C:\\long': '/mnt/c/long',
    '\\\\wsl$\\Ubuntu\\home\\me\\x': '/home/me/x',
    '\\\\wsl.localhost\\Ubuntu-24.04\\srv': '/srv',
    '/tmp/x': '/tmp/x',
  };
  assert.deepEqual(Object.keys(paths).map(pathInWsl), Object.values(paths));
});

test('a command becomes one of bubblewrap in WSL, in the folder as Linux sees it', () => {
  const backend = wsl({
    program: 'C:\\Windows\\System32\\wsl.exe',
    disablesNamespaces: true,
    filter: () => new Uint8Array([0, 6, 255]),
  });
  const { argv, env, keeper } = backend.wrap(
    ['C:\\Program Files\\Git\\bin\\bash.exe', '-c', 'ls'],
    'C:\\work',
    {
      writable: ['C:\\work'],
      covered: ['C:\\work\\.git\\hooks'],
      hidden: [{ path: 'C:\\Users\\me\\.ssh', kind: 'folder' }],
      temporary: 'C:\\Temp\\crab',
      shown: [],
      reach: 'none',
      unixSockets: false,
      limits: { fileMib: 1 },
    },
  );
  const at = (option: string, skip = 1) => argv[argv.indexOf(option) + skip];
  const pairs = argv.flatMap((word, index) =>
    word.endsWith('bind') ? [`${argv[index + 1]} ${argv[index + 2]}`] : [],
  );
  assert.equal(keeper, undefined);
  assert.deepEqual(argv.slice(0, 6), [
    'C:\\Windows\\System32\\wsl.exe',
    '--cd',
    '/',
    '--exec',
    '/bin/sh',
    '-c',
  ]);
  assert.equal(argv[7], '\\000\\006\\377');
  assert.deepEqual([at('--setenv'), at('--setenv', 2), at('--chdir')], ['TMPDIR', '/tmp', '/mnt/c/work']);
  assert.deepEqual(pairs, [
    '/ /',
    '/mnt/c/Temp/crab /tmp',
    '/mnt/c/work /mnt/c/work',
    '/mnt/c/work/.git/hooks /mnt/c/work/.git/hooks',
  ]);
  for (const hidden of ['/home', '/root', '/mnt/c/Users/me/.ssh']) assert.ok(argv.includes(hidden), hidden);
  assert.deepEqual(argv.slice(-3), ['bash', '-c', 'ls']);
  assert.match(env['WSLENV'] ?? '', /(?:^|:)GIT_TERMINAL_PROMPT\/u(?:$|:)/);
});

const skip =
  process.platform === 'linux' && existsSync('/usr/bin/bwrap') ? false : 'needs bubblewrap on Linux';

suite('through a stand-in for wsl.exe', { skip }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'crab-wsl-'));
    mkdirSync(join(folder, 'none'));
    const script = (inside: string) =>
      `#!/bin/sh\n[ "$1" = --cd ] && [ "$3" = --exec ] || exit 64\ncd "$2"; shift 3\n${inside}exec "$@"\n`;
    writeFileSync(join(folder, 'wsl.exe'), script(''), { mode: 0o755 });
    writeFileSync(join(folder, 'none/wsl.exe'), script('[ "$1" = bwrap ] && exit 127\n'), { mode: 0o755 });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const ground = (options: GroundOptions = {}, programs = [folder]) =>
    createGround({ ...options, sandbox: { platform: 'win32', programs } });

  test('it holds, and no surface is open', async () => {
    await using place = ground();
    const { backend, candidates } = await place.sandbox.find();
    assert.deepEqual([backend?.name, candidates], ['wsl', [{ name: 'wsl', holds: true }]]);
    const { exec } = place.confinement.confined(() => {});
    const other = place.another().confined(() => {}).exec;
    const surfaces = await trySurfaces(exec, place.cwd, { bare: place.exec, other });
    assert.deepEqual(
      surfaces.filter(({ isOpen }) => isOpen),
      [],
    );
  });

  test('a command reads its input, writes in the workspace alone, and ends with its own status', async () => {
    await using place = ground();
    const { exec } = place.confinement.confined(() => {});
    const script = `cat >in; echo x >${place.outside}/new; echo "$TMPDIR"; ls /root /home | wc -l; exit 7`;
    const result = await exec(
      { argv: ['C:\\bin\\bash.exe', '-c', script], cwd: place.cwd, stdin: 'given\n', separate: true },
      new AbortController().signal,
    );
    assert.equal(result.exitCode, 7);
    assert.match(result.stdout.text, /^\/tmp\n\d+\n$/);
    assert.equal(readFileSync(join(place.cwd, 'in'), 'utf8'), 'given\n');
    assert.deepEqual(readdirSync(place.outside), ['secret']);
  });

  test('without it, or without bubblewrap in it, nothing is run, and the reason is told', async () => {
    for (const [programs, reason] of [
      [['/nowhere'], /wsl: WSL is not installed/],
      [[join(folder, 'none')], /wsl: bwrap does not answer in WSL/],
    ] as const) {
      await using place = ground({}, [...programs]);
      await assert.rejects(place.run('echo ran >ran'), reason);
      assert.equal(existsSync(join(place.cwd, 'ran')), false);
    }
  });
});
