// A home that cannot keep a session, and a folder that is gone. What could not be kept is said before any request.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { needs } from '../support/crab.ts';
import { ANSWER, assertComplaint, assertRefused, messagesOf, sessions, setting } from './bad-setting.ts';

const GOOD = { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' };
const CANNOT = { code: 'storage-failed', says: /Cannot create / } as const;

test('a home that is no folder, or in none, refuses before a request is sent', async (t) => {
  for (const home of [
    '/dev/null',
    '/dev/null/home',
    '/proc/home',
    '/sys/home',
    'file',
    'file/home',
    'x'.repeat(300),
  ])
    await t.test(home.slice(0, 20), async () => {
      await using at = await setting(ANSWER, { file: '' });
      assertRefused(await at.run(['hi'], { env: { CRAB_HOME: home } }), CANNOT, at);
      assert.equal(await at.workspace.read('file'), '');
    });
});

test('a home that may not be written to refuses; without a session it is not needed', async (t) => {
  for (const mode of [0o500, 0o000])
    await t.test(mode.toString(8), async () => {
      await using at = await setting();
      const closed = join(at.workspace.home, 'closed');
      mkdirSync(closed);
      const env = { CRAB_HOME: closed };
      execFileSync('chown', ['-R', 'nobody', closed]);
      chmodSync(closed, mode);
      const exit = await at.runAsNobody(['--no-context-files', 'hi'], { env });
      assertRefused(exit, { ...CANNOT, says: /permission denied/ }, at);
      const without = ['--no-context-files', '--no-session', 'hi'];
      const { stderr, ...rest } = await at.runAsNobody(without, { env });
      assert.deepEqual({ ...rest, stderr: '' }, GOOD);
      assert.match(stderr, /^! What requests cost could not be written down: EACCES: .*\n$/);
      chmodSync(closed, 0o700);
    });
});

test('a home that may not even be looked at is no stack trace', async () => {
  await using at = await setting();
  const closed = join(at.workspace.home, 'closed');
  mkdirSync(join(closed, 'home'), { recursive: true });
  chmodSync(closed, 0);
  const exit = await at.runAsNobody(['hi'], { env: { CRAB_HOME: join(closed, 'home') } });
  chmodSync(closed, 0o700);
  assert.doesNotMatch(exit.stderr, /\n\s+at /);
  assert.match(exit.stderr, /permission denied.* \[storage-failed\]\n/);
  assert.deepEqual([exit.code, at.provider.requests], [9, []]);
});

test('a home that does not exist yet is made, and nobody else can look into it', async () => {
  await using at = await setting();
  const home = join(at.workspace.home, 'a/b/c');
  assert.deepEqual(await at.run(['hi'], { env: { CRAB_HOME: home } }), GOOD);
  const mode = execFileSync('stat', ['-c', '%a', home, ...sessions(at)], { encoding: 'utf8' });
  assert.equal(mode, '700\n600\n');
});

test('without HOME the account’s home is used, and CRAB_HOME alone is enough', async () => {
  await using at = await setting();
  const env = { HOME: undefined, CRAB_HOME: join(at.workspace.home, 'only') };
  assert.deepEqual(await at.run(['hi'], { env }), GOOD);
  assert.equal(messagesOf(at).length, 2);
});

const removed = { skip: needs('a removed working directory') };

test('a folder that was removed while we were in it is told in every mode', removed, async (t) => {
  const gone = { code: 'cwd-missing', says: 'The working directory does not exist.' } as const;
  const line = 'mkdir gone && cd gone && rmdir ../gone && "$@"';
  for (const args of [['hi'], ['chat'], ['--add-dir', 'x', 'hi'], ['--session', './s.jsonl', 'hi']])
    await t.test(args.join(' '), async () => {
      await using at = await setting();
      assertRefused(await at.shell(line, args), gone, at);
      assertRefused(await at.shell(line, args, { env: { CRAB_HOME: 'relative' } }), gone, at);
    });
  await t.test('help needs no folder', async () => {
    await using at = await setting();
    const exit = await at.shell(line, ['--help']);
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
  });
});

test('a folder that cannot be read works, and says which instructions it could not see', async () => {
  await using at = await setting();
  execFileSync('chown', ['-R', 'nobody', at.workspace.path]);
  chmodSync(at.workspace.path, 0o100);
  const exit = await at.runAsNobody(['--no-session', 'hi']);
  chmodSync(at.workspace.path, 0o700);
  assert.deepEqual([exit.code, exit.stdout], [0, 'Here I am.\n']);
});

/** Runs with a home on a disk of one mebibyte. Needs root; CI has it. */
async function withSmallDisk(home: string, body: () => Promise<void>): Promise<void> {
  mkdirSync(home);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', home]);
  try {
    await body();
  } finally {
    execFileSync('umount', ['-l', home]);
    rmSync(home, { recursive: true });
  }
}

const isRoot = process.getuid?.() === 0;

test('a full disk is told, what was acknowledged is kept, and the session goes on after', {
  skip: !isRoot && 'needs root',
}, async () => {
  const long: Reply = { text: 'x'.repeat(300_000) };
  await using at = await setting([long, ...ANSWER]);
  const home = join(at.workspace.home, 'small');
  const env = { CRAB_HOME: home };
  await withSmallDisk(home, async () => {
    writeFileSync(join(home, 'filler'), 'x'.repeat(900_000));
    const exit = await at.run(['hi'], { env });
    assertComplaint(
      { ...exit, stdout: '' },
      { code: 'storage-full', says: /^Only \d+ of \d+ bytes could be written/ },
    );
    rmSync(join(home, 'filler'));
    assert.deepEqual(messagesOf(at), ['user: hi']);
    const again = await at.run(['--continue', 'once more'], { env });
    assert.equal(again.code, 0, again.stderr);
  });
});

test('a disk that was full from the start refuses before a request is sent', {
  skip: !isRoot && 'needs root',
}, async () => {
  await using at = await setting();
  const home = join(at.workspace.home, 'small');
  await withSmallDisk(home, async () => {
    execFileSync('sh', ['-c', 'cat /dev/zero > filler 2>/dev/null || true'], { cwd: home });
    const exit = await at.run(['hi'], { env: { CRAB_HOME: home } });
    assertComplaint(exit, { code: 'storage-full', says: /space/i });
    assert.deepEqual(at.provider.requests, []);
  });
});
