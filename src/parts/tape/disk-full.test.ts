// A disk that really is full, and a home that really cannot be written.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CrabError } from '../../core/errors.ts';
import { seeded } from '../../core/seeded.ts';
import type { NewTape } from '../../core/tape.ts';
import { fork } from './branching.ts';
import { infoOf, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const request: NewTape = { agent: 'crab', sender: () => 'user', cwd: '/w' };
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

function tapesIn(home: string, seed = 1) {
  return createTapes({ home, clock: testClock(), random: seeded(seed) });
}

/** A file system of its own in memory, gone at the end of the test. */
function smallDisk(path: string, size: string, options = ''): Disposable {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}${options}`, 'tmpfs', path], { stdio: 'pipe' });
  return { [Symbol.dispose]: () => execFileSync('umount', ['-l', path]) };
}

/** Why a small file system cannot be mounted; false when it can. */
function withoutMount(): string | false {
  if (!isRoot || process.platform !== 'linux') return 'mounting needs root on Linux';
  const probe = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'crab-mount-'));
  try {
    smallDisk(join(probe, 'disk'), '64k')[Symbol.dispose]();
    return false;
  } catch (error) {
    return `mount refuses: ${error instanceof Error ? error.message : error}`;
  } finally {
    rmSync(probe, { recursive: true });
  }
}

const skip = withoutMount();

test('a full disk costs the entry that found no room, and writing goes on when there is', {
  skip,
}, async () => {
  await using folder = await tempFolder();
  const disk = join(folder.path, 'disk');
  using _mounted = smallDisk(disk, '1m');
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(400_000));
  const tape = await tapesIn(disk).create(request);
  const acknowledged: string[] = [];
  let refusal: CrabError | undefined;
  for (let at = 0; refusal === undefined && at < 1000; at++) {
    try {
      const { entries, synced } = tape.append([userSays(`${at}`.padEnd(3000))]);
      await synced;
      for (const { id } of entries) acknowledged.push(id);
    } catch (error) {
      refusal = error as CrabError;
    }
  }
  assert.equal(refusal?.code, 'storage-full');
  assert.ok(refusal?.message.includes(tape.path ?? '?'), refusal?.message);
  assert.throws(() => tape.append([userSays('x'.repeat(10_000))]), { code: 'storage-full' });
  tape.partial({ api: 'a', provider: 'p', model: 'm', text: 'x'.repeat(20_000) });

  rmSync(join(disk, 'ballast'));
  const { entries } = tape.append([userSays('there is room')]);
  await tape.close();
  const again = await tapesIn(disk, 2).open(tape.path ?? '');
  const ids = [...again.branch()].map(({ id }) => id);
  assert.deepEqual(ids, [...acknowledged, ...entries.map(({ id }) => id)]);
  assert.deepEqual(again.notices, []);
  await again.close();
});

test('a disk without room for the first entry keeps nothing of it', { skip }, async () => {
  await using folder = await tempFolder();
  const disk = join(folder.path, 'disk');
  using _mounted = smallDisk(disk, '64k');
  const tapes = tapesIn(disk);
  const tape = await tapes.create(request);
  assert.throws(() => tape.append([userSays('x'.repeat(100_000))]), { code: 'storage-full' });
  assert.deepEqual(await tapes.list(), []);
  await tape.append([userSays('small')]).synced;
  assert.deepEqual((await tapes.list()).map(infoOf), [tape.info()]);
  await tape.close();
});

test('a disk without room for a fork keeps nothing of it, and has it when there is', { skip }, async () => {
  await using folder = await tempFolder();
  const disk = join(folder.path, 'disk');
  using _mounted = smallDisk(disk, '1m');
  const tapes = tapesIn(disk);
  const tape = await tapes.create(request);
  await tape.append([userSays('x'.repeat(400_000))]).synced;
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(400_000));
  const before = readdirSync(disk, { recursive: true });
  await assert.rejects(fork(tapes, tape), { code: 'storage-full' });
  assert.deepEqual(readdirSync(disk, { recursive: true }), before);
  rmSync(join(disk, 'ballast'));
  const forked = await fork(tapes, tape);
  assert.deepEqual([...forked.branch()], [...tape.branch()]);
  await Promise.all([tape.close(), forked.close()]);
});

test('a disk without room for another name keeps the session that is open going', { skip }, async () => {
  await using folder = await tempFolder();
  const disk = join(folder.path, 'disk');
  using _mounted = smallDisk(disk, '4m', ',nr_inodes=20');
  const tape = await tapesIn(disk).create(request);
  await tape.append([userSays('first')]).synced;
  let names = 0;
  const fill = () => writeFileSync(join(disk, `filler-${names}`), '');
  for (; names < 30; names++) {
    try {
      fill();
    } catch {
      break;
    }
  }
  assert.ok(names < 30, 'the disk has no limit of names');
  const other = await tapesIn(disk, 2).create({ ...request, cwd: '/other' });
  assert.throws(() => other.append([userSays('no room')]), { code: 'storage-full' });
  tape.partial({ api: 'a', provider: 'p', model: 'm', text: 'x'.repeat(20_000) });
  await tape.append([userSays('second')]).synced;
  for (let at = 0; at < names; at++) rmSync(join(disk, `filler-${at}`));
  await other.append([userSays('room again')]).synced;
  await Promise.all([tape.close(), other.close()]);
  const again = await tapesIn(disk, 3).open(tape.path ?? '');
  assert.deepEqual([...again.outlines()].length, 2);
  await again.close();
});

test('a disk that cannot be written is read as before, and what would change it says why', {
  skip,
}, async () => {
  await using folder = await tempFolder();
  const disk = join(folder.path, 'disk');
  using _mounted = smallDisk(disk, '1m');
  const tape = await tapesIn(disk).create(request);
  await tape.append([userSays('first')]).synced;
  await tape.close();
  const path = tape.path ?? '';
  execFileSync('mount', ['-o', 'remount,ro', disk], { stdio: 'pipe' });
  const tapes = tapesIn(disk, 2);
  assert.deepEqual((await tapes.list()).map(infoOf), [tape.info()]);
  const reader = await tapes.read(path);
  assert.deepEqual([...reader.branch()], [...tape.branch()]);
  assert.equal((await tapes.verify(path)).faults, 0);
  const refused = { code: 'storage-failed', message: /EROFS/ };
  await assert.rejects(tapes.open(path), refused);
  await assert.rejects(fork(tapes, reader), refused);
  await assert.rejects(tapes.discard(path), refused);
  await assert.rejects(tapes.repair(path, '/w'), refused);
  execFileSync('mount', ['-o', 'remount,rw', disk], { stdio: 'pipe' });
  const again = await tapes.open(path);
  await again.append([userSays('second')]).synced;
  await again.close();
});

/** Runs as somebody whom permission bits stop. */
async function asNobody<T>(run: () => Promise<T>): Promise<T> {
  if (!isRoot) return run();
  process.seteuid?.(NOBODY);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

test('a home that cannot be written is an error that names the path, and changes nothing', async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'home');
  mkdirSync(home);
  if (isRoot) for (const path of [folder.path, home]) chownSync(path, NOBODY, NOBODY);
  await asNobody(async () => {
    const written = await tapesIn(home).create(request);
    await written.append([userSays('one')]).synced;
    await written.close();
    const path = written.path ?? '';
    const own = join(path, '..');
    chmodSync(own, 0o500);
    const tape = await tapesIn(home, 2).create(request);
    assert.throws(
      () => tape.append([userSays('two')]),
      (error: CrabError) => error.code === 'storage-failed' && error.message.includes(tape.path ?? '?'),
    );
    await tape.close();
    await assert.rejects(tapesIn(home).open(path), { code: 'storage-failed', message: /\.jsonl/ });
    assert.equal(await tapesIn(home).latest('crab', '/w'), path);
    assert.deepEqual((await tapesIn(home).list()).map(infoOf), [written.info()]);
    assert.equal(readdirSync(own).length, 1);
    chmodSync(own, 0o700);

    chmodSync(path, 0o400);
    await assert.rejects(tapesIn(home).open(path), { code: 'storage-failed', message: /open .*\.jsonl/ });
    assert.equal(readdirSync(own).length, 1);
    chmodSync(path, 0);
    await assert.rejects(tapesIn(home).open(path), { code: 'storage-failed', message: /read .*\.jsonl/ });
    assert.equal(readdirSync(own).length, 1);
  });
});
