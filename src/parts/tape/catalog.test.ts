import assert from 'node:assert/strict';
import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';

import type { SessionFilter, Tape } from '../../core/tape.ts';
import { answerSays, infoOf, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

function tapesIn(home: string, seed = 1) {
  return createTapes({ home, clock: testClock(), random: seeded(seed) });
}

interface Wanted {
  readonly id: string;
  readonly cwd?: string;
  readonly agent?: string;
  readonly name?: string;
  /** Seconds since the epoch. */
  readonly written?: number;
}

async function session(home: string, wanted: Wanted): Promise<Tape> {
  const { id, cwd = '/w', agent = 'crab', name, written = 1000 } = wanted;
  const tape = await tapesIn(home).create({ id, cwd, agent, sender: () => 'user', ...(name && { name }) });
  tape.append([userSays('prompt'), answerSays('answer')]);
  await tape.close();
  utimesSync(tape.path ?? '', written, written);
  return tape;
}

const A1 = '01JA0000000000000000000001';
const A2 = '01JA0000000000000000000002';
const B1 = '01JB0000000000000000000001';

test('a session is found by the beginning of its id, in whatever case', async () => {
  await using folder = await tempFolder();
  const a = await session(folder.path, { id: A1 });
  const b = await session(folder.path, { id: B1, cwd: '/other', agent: 'Other' });
  const tapes = tapesIn(folder.path);
  assert.equal(await tapes.find('01ja'), a.path);
  assert.equal(await tapes.find(A1), a.path);
  assert.equal(await tapes.find('01JB'), b.path);
  await assert.rejects(tapes.find('01JC'), { code: 'session-unknown' });
  await assert.rejects(tapes.find(`${A1}0`), { code: 'session-unknown' });
});

test('what begins several ids is refused with some of them', async () => {
  await using folder = await tempFolder();
  for (let at = 1; at <= 7; at++) await session(folder.path, { id: `01J0000000000000000000000${at}` });
  const named = [1, 2, 3, 4, 5].map((at) => `01J0000000000000000000000${at}`).join(', ');
  await assert.rejects(tapesIn(folder.path).find('01J0'), {
    code: 'session-ambiguous',
    message: `7 sessions’ ids begin with 01J0: ${named} and 2 more.`,
  });
});

test('what can be no id is refused before anything is read', async () => {
  const tapes = tapesIn('/dev/null/not-a-folder');
  for (const id of ['', '../x', 'a/b', 'a\\b', '.', '..', 'x'.repeat(101), 'x'.repeat(300), 'a\0', 'a\nb']) {
    await assert.rejects(tapes.find(id), { code: 'session-id-invalid' }, JSON.stringify(id));
  }
  for (const id of ['x'.repeat(100), 'é', 'a b', '*'])
    await assert.rejects(tapes.find(id), { code: 'session-unknown' }, id);
});

test('a session is found by its name where no id begins so', async () => {
  await using folder = await tempFolder();
  const a = await session(folder.path, { id: A1, name: 'fix the parser' });
  const b = await session(folder.path, { id: A2, name: '01JB' });
  const c = await session(folder.path, { id: B1, name: 'twice' });
  const d = await session(folder.path, { id: '01JD0000000000000000000001', name: 'twice' });
  const tapes = tapesIn(folder.path);
  assert.equal(await tapes.find('fix the parser'), a.path);
  assert.equal(await tapes.find('01JB'), c.path);
  await assert.rejects(tapes.find('fix'), { code: 'session-unknown' });
  await assert.rejects(tapes.find('twice'), {
    code: 'session-ambiguous',
    message: `2 sessions are called twice: ${c.header.id}, ${d.header.id}.`,
  });
  assert.equal(await tapes.find(A2), b.path);
});

test('a list says of whom a session is, when it was made and written, and what was summarised', async () => {
  await using folder = await tempFolder();
  const { path = '' } = await session(folder.path, { id: A1, name: 'n' });
  const tape = await tapesIn(folder.path, 2).open(path);
  const title = 'The parser is mended.';
  const compaction = { summary: 'Long.', firstKeptEntryId: 'x', tokensBefore: 9 };
  tape.append([{ type: 'compaction', ...compaction, details: { readFiles: [], modifiedFiles: [], title } }]);
  await tape.close();
  utimesSync(path, 5000, 5000);
  const [meta] = await tapesIn(folder.path).list();
  assert.deepEqual(meta, {
    ...tape.info(),
    agent: 'crab',
    sender: 'user',
    created: Date.UTC(2030, 0, 1),
    updated: 5_000_000,
    summary: title,
    firstPrompt: 'prompt',
  });
});

test('the latest session is the one written last in this very folder', async () => {
  await using folder = await tempFolder();
  const older = await session(folder.path, { id: A2, written: 1000 });
  const newer = await session(folder.path, { id: A1, written: 2000 });
  await session(folder.path, { id: B1, cwd: '/other', written: 3000 });
  const tapes = tapesIn(folder.path);
  assert.equal(await tapes.latest('crab', '/w'), newer.path);
  assert.equal(await tapes.latest('crab', '/nowhere'), undefined);
  assert.equal(await tapes.latest('other', '/w'), undefined);

  const held = await tapesIn(folder.path, 2).open(newer.path ?? '');
  assert.equal(await tapes.latest('crab', '/w'), older.path);
  await held.close();
  utimesSync(newer.path ?? '', 2000, 2000);
  assert.equal(await tapes.latest('crab', '/w'), newer.path);
});

test('files that are no sessions, newer ones and other folders’ are passed over', async () => {
  await using folder = await tempFolder();
  const tape = await session(folder.path, { id: A1, written: 1000 });
  const beside = dirname(tape.path ?? '');
  writeFileSync(join(beside, 'empty.jsonl'), '');
  writeFileSync(join(beside, 'torn.jsonl'), '{"type":"session","version":3,"id":"t","cwd":"/w"}');
  writeFileSync(join(beside, 'newer.jsonl'), '{"type":"session","version":9,"id":"n","cwd":"/w"}\n');
  writeFileSync(join(beside, 'elsewhere.jsonl'), '{"type":"session","version":3,"id":"e","cwd":"/else"}\n');
  writeFileSync(join(beside, 'notes.txt'), 'notes');
  const tapes = tapesIn(folder.path);
  assert.equal(await tapes.latest('crab', '/w'), tape.path);
  const listed = await tapes.list({ agent: 'crab', cwd: '/w' });
  assert.deepEqual(listed.map(infoOf), [tape.info()]);
});

test('a list tells of every session, the last written first', async () => {
  await using folder = await tempFolder();
  const a = await session(folder.path, { id: A1, written: 1000, name: 'the first' });
  const b = await session(folder.path, { id: A2, written: 3000, cwd: '/other' });
  const c = await session(folder.path, { id: B1, written: 2000, agent: 'other' });
  const tapes = tapesIn(folder.path);
  const listed = async (filter?: SessionFilter) => (await tapes.list(filter)).map(infoOf);
  assert.deepEqual(await listed(), [b.info(), c.info(), a.info()]);
  assert.deepEqual(await listed({ agent: 'crab' }), [b.info(), a.info()]);
  assert.deepEqual(await listed({ agent: 'crab', cwd: '/w' }), [a.info()]);
  assert.deepEqual(await listed({ cwd: '/w' }), [c.info(), a.info()]);
  assert.deepEqual(await listed({ offset: 1, limit: 1 }), [c.info()]);
  assert.deepEqual(await listed({ cwd: '/w', offset: 1 }), [a.info()]);
  assert.deepEqual(await listed({ limit: 0 }), []);
  assert.deepEqual(await tapesIn(join(folder.path, 'none')).list(), []);
});

test('a list tells how far it has come, and ends where it is told to', async () => {
  await using folder = await tempFolder();
  const many = 70;
  for (let at = 10; at < 10 + many; at++) await session(folder.path, { id: `01J000000000000000000000${at}` });
  await session(folder.path, { id: B1, cwd: '/other' });
  const tapes = tapesIn(folder.path);
  const told: string[] = [];
  const onProgress = (read: number, all: number) => void told.push(`${read}/${all}`);
  assert.equal((await tapes.list({}, { onProgress })).length, many + 1);
  assert.deepEqual(told.splice(0), ['32/71', '64/71', '71/71']);
  assert.equal((await tapes.list({ cwd: '/other' }, { onProgress })).length, 1);
  assert.deepEqual(told.splice(0), ['1/1'], 'other folders’ sessions are not read');
  await tapes.list({ limit: 40 }, { onProgress });
  assert.deepEqual(told.splice(0), ['32/71', '64/71'], 'no more is read than is wanted');

  const stop = new AbortController();
  const reason = new Error('enough');
  const stopAtOnce = (read: number, all: number) => {
    onProgress(read, all);
    stop.abort(reason);
  };
  const stopped = tapes.list({}, { onProgress: stopAtOnce, signal: stop.signal });
  await assert.rejects(stopped, reason);
  assert.deepEqual(told.splice(0), ['32/71']);
  await assert.rejects(tapes.list({}, { onProgress, signal: stop.signal }), reason);
  assert.deepEqual(told, []);
});

test('names and counts come from the end of the file, however long its lines are', async () => {
  await using folder = await tempFolder();
  const { path = '' } = await session(folder.path, { id: A1, name: 'first' });
  const tape = await tapesIn(folder.path, 2).open(path);
  tape.append([{ type: 'session_info', name: 'renamed, with "quotes" and ,"session":{} in it' }]);
  for (let at = 0; at < 50; at++) tape.append([userSays(`${at}`.padEnd(20_000, ' “text” '))]);
  tape.append([userSays('x'.repeat(300_000))]);
  await tape.close();
  assert.deepEqual((await tapesIn(folder.path).list()).map(infoOf), [tape.info()]);
  assert.equal(tape.info().messages, 53);

  const line = {
    type: 'message',
    id: 'p1',
    parentId: tape.leafId,
    timestamp: '',
    message: { role: 'user', content: '' },
  };
  appendFileSync(path, `${JSON.stringify(line)}\n{"type":"mess`);
  const again = await tapesIn(folder.path, 3).list();
  assert.deepEqual(again.map(infoOf), [{ ...tape.info(), messages: 54 }]);
});
