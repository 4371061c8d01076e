import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import { tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

function tapesIn(home: string, seed = 1) {
  return createTapes({ home, clock: testClock(), random: seeded(seed) });
}

test('a deleted session lies in the trash with what lay beside it, and comes back as it was', async () => {
  await using folder = await tempFolder();
  const tapes = tapesIn(folder.path);
  const tape = await tapes.create({ agent: 'Crab', sender: () => 'user', cwd: '/w', name: 'gone' });
  await tape.append([userSays('one')]).synced;
  await tape.close();
  const path = tape.path ?? '';
  writeFileSync(`${path}.torn-1`, 'torn');
  const before = await tapes.list();

  const trashed = await tapes.discard(path);
  assert.equal(trashed, path.replace('/sessions/', '/sessions/.trash/'));
  assert.deepEqual(readdirSync(dirname(path)), []);
  assert.deepEqual(readdirSync(dirname(trashed)), [basename(path), `${basename(path)}.torn-1`]);
  assert.deepEqual(await tapes.list(), []);
  assert.equal(await tapes.latest('Crab', '/w'), undefined);
  await assert.rejects(tapes.find(tape.header.id), { code: 'session-unknown' });
  assert.deepEqual(
    (await tapes.list({ discarded: true, agent: 'Crab', cwd: '/w' })).map(({ id, name }) => ({ id, name })),
    [{ id: tape.header.id, name: 'gone' }],
  );
  assert.equal(await tapes.find('gone', { discarded: true }), trashed);

  assert.equal(await tapes.restore(trashed), path);
  assert.deepEqual(await tapes.list(), before);
  assert.deepEqual(await tapes.list({ discarded: true }), []);
  assert.deepEqual(readdirSync(dirname(path)), [basename(path), `${basename(path)}.torn-1`]);
});

test('what is held, is no session of this home or would take another’s place stays where it is', async () => {
  await using folder = await tempFolder();
  const tapes = tapesIn(folder.path);
  const tape = await tapes.create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  await tape.append([userSays('one')]).synced;
  const path = tape.path ?? '';
  await assert.rejects(tapesIn(folder.path, 2).discard(path), { code: 'session-held' });
  await tape.close();
  const elsewhere = join(folder.path, 'mine.jsonl');
  writeFileSync(elsewhere, 'mine');
  for (const wrong of [elsewhere, `${path}x`, join(dirname(path), '..', '..', '..', 'x.jsonl')]) {
    await assert.rejects(tapes.discard(wrong), { code: 'session-unknown' });
    await assert.rejects(tapes.restore(wrong), { code: 'session-unknown' });
  }
  await assert.rejects(tapes.restore(path), { code: 'session-unknown' });
  assert.deepEqual([existsSync(elsewhere), existsSync(path)], [true, true]);
  const trashed = await tapes.discard(path);
  writeFileSync(path, 'somebody else');
  await assert.rejects(tapes.restore(trashed), { code: 'storage-failed', message: /there is a file/ });
  assert.deepEqual(readdirSync(dirname(trashed)), [basename(path)]);
});
