import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';

import { nodeSyncFs } from './sync-fs.ts';
import { diskWith, systemError, tempFolder, testClock } from './tape.fixture.ts';
import { createMemoryTapes, createTapes } from './tapes.ts';

const ONE = '01J00000000000000000000001';
const TWO = '01J00000000000000000000002';
const chat = { agent: 'crab', sender: 'tg:12345' };

function headsIn(home: string, changes: Parameters<typeof diskWith>[0] = {}) {
  return createTapes({ home, clock: testClock(), random: seeded(1), disk: diskWith(changes) });
}

test('a client of its own is at the session that it is named after, and no file says so', async () => {
  await using folder = await tempFolder();
  const heads = headsIn(folder.path);
  const own = { agent: 'crab', sender: `cli:${ONE}` };
  assert.equal(await heads.head(own), ONE);
  await heads.moveHead(own, ONE);
  assert.deepEqual(readdirSync(folder.path), []);
  await heads.moveHead(own, TWO);
  assert.equal(await headsIn(folder.path).head(own), TWO);
});

test('a head is where it was last moved to, for each pair by itself', async () => {
  await using folder = await tempFolder();
  const heads = headsIn(folder.path);
  assert.equal(await heads.head(chat), undefined);
  await heads.moveHead(chat, ONE);
  await heads.moveHead({ ...chat, sender: 'tg:1234' }, TWO);
  await heads.moveHead({ ...chat, agent: 'other' }, TWO);
  assert.equal(await headsIn(folder.path).head(chat), ONE);
  await heads.moveHead(chat, TWO);
  assert.equal(await headsIn(folder.path).head(chat), TWO);
  const files = readdirSync(join(folder.path, 'sessions', 'crab', 'heads')).sort();
  assert.deepEqual(files, ['tg%3a1234', 'tg%3a12345']);
});

test('moves at the same time are made one after another', async () => {
  await using folder = await tempFolder();
  const [a, b] = [headsIn(folder.path), headsIn(folder.path)];
  await Promise.all([
    a.moveHead(chat, ONE),
    b.moveHead(chat, TWO),
    a.moveHead(chat, ONE),
    b.moveHead(chat, TWO),
  ]);
  assert.match((await a.head(chat)) ?? '', /^01J0{22}[12]$/);
  assert.deepEqual(readdirSync(join(folder.path, 'sessions', 'crab', 'heads')), ['tg%3a12345']);
});

test('a move that fails leaves the head where it was', async () => {
  await using folder = await tempFolder();
  await headsIn(folder.path).moveHead(chat, ONE);
  const failing = headsIn(folder.path, { fdatasync: () => Promise.reject(systemError('EIO')) });
  await assert.rejects(failing.moveHead(chat, TWO), { code: 'storage-failed', message: /tg%3a12345/ });
  const full = headsIn(folder.path, {
    write: (fd, bytes) => {
      if (bytes.length > 100) throw systemError('ENOSPC');
      return nodeSyncFs.write(fd, bytes);
    },
  });
  await assert.rejects(full.moveHead(chat, TWO), { code: 'storage-full' });
  assert.equal(await headsIn(folder.path).head(chat), ONE);
  await headsIn(folder.path).moveHead(chat, TWO);
  assert.equal(await headsIn(folder.path).head(chat), TWO);
});

test('a head that is damaged or no id is refused', async () => {
  await using folder = await tempFolder();
  const heads = headsIn(folder.path);
  await heads.moveHead(chat, ONE);
  for (const content of ['', '{"type":"head"}\n', `{"id":"../${ONE}"}\n`]) {
    writeFileSync(join(folder.path, 'sessions', 'crab', 'heads', 'tg%3a12345'), content);
    await assert.rejects(heads.head(chat), { code: 'session-damaged', message: /tg%3a12345/ });
  }
  for (const id of ['', '../x', ONE.slice(1)]) {
    await assert.rejects(heads.moveHead(chat, id), { code: 'session-id-invalid' });
  }
});

test('heads of sessions that are kept nowhere are kept in memory', async () => {
  const heads = createMemoryTapes({ clock: testClock(), random: seeded(1) });
  assert.equal(await heads.head(chat), undefined);
  assert.equal(await heads.head({ ...chat, sender: `cli:${ONE}` }), ONE);
  await heads.moveHead(chat, TWO);
  assert.equal(await heads.head(chat), TWO);
  await assert.rejects(heads.moveHead(chat, 'x'), { code: 'session-id-invalid' });
  assert.equal(existsSync('sessions'), false);
});
