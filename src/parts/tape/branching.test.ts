import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { RESTRICTION_ENTRY } from '../../core/custom.ts';
import { seeded } from '../../core/seeded.ts';
import type { Entry, EntryBody, NewTape, Tape, TapeReader, Tapes, TreeRow } from '../../core/tape.ts';
import { clone, findEntry, fork, moveTo, setLabel } from './branching.ts';
import { answerSays, diskWith, systemError, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createMemoryTapes, createTapes } from './tapes.ts';
import { treeRows } from './tree-rows.ts';

const request: NewTape = { agent: 'crab', sender: (id) => `cli:${id}`, cwd: '/w' };

function shared(seed = 1) {
  return { clock: testClock(), random: seeded(seed) };
}

/** Both kinds of storage must behave alike. */
function onEachStorage(name: string, run: (tapes: Tapes) => Promise<void>): void {
  test(`${name}, in files`, async () => {
    await using folder = await tempFolder();
    await run(createTapes({ home: folder.path, ...shared() }));
  });
  test(`${name}, in memory`, () => run(createMemoryTapes(shared())));
}

interface Talk {
  readonly tape: Tape;
  readonly entries: readonly Entry[];
}

/** one → two → three, and back at two: → other. */
async function talk(tapes: Tapes): Promise<Talk> {
  const tape = await tapes.create(request);
  const first = tape.append([userSays('one'), answerSays('two'), userSays('three')]).entries;
  moveTo(tape, first[1]?.id ?? '');
  const second = tape.append([userSays('other')]).entries;
  await tape.settled();
  return { tape, entries: [...first, ...second] };
}

const texts = (reader: TapeReader) =>
  [...treeRows(reader)].filter((row) => row.isOnBranch).map(({ text }) => text);

onEachStorage(
  'going back leaves the other way on the tape, and a summary says what happened there',
  async (tapes) => {
    const { tape, entries } = await talk(tapes);
    const [one, two, three] = entries;
    assert.deepEqual(texts(tape), ['one', 'two', 'other']);
    await moveTo(tape, one?.id ?? '', 'We tried two ways.').synced;
    const [, summary] = [...tape.branch()];
    assert.deepEqual(summary, {
      type: 'branch_summary',
      id: tape.leafId,
      parentId: one?.id,
      timestamp: '2030-01-01T00:00:00.000Z',
      fromId: one?.id,
      summary: 'We tried two ways.',
    });
    await moveTo(tape, three?.id ?? '').synced;
    assert.deepEqual([...tape.branch()], [one, two, three]);
    await moveTo(tape, null).synced;
    assert.deepEqual([...tape.branch()], []);
    assert.throws(() => moveTo(tape, 'nobody'), { code: 'internal' });
  },
);

onEachStorage('a fork has the branch up to an entry, the labels on it and nothing else', async (tapes) => {
  const { tape, entries } = await talk(tapes);
  const [one, two, three] = entries;
  setLabel(tape, one?.id ?? '', 'start');
  setLabel(tape, three?.id ?? '', 'elsewhere');
  setLabel(tape, two?.id ?? '', 'wrong');
  setLabel(tape, two?.id ?? '', '');
  const forked = await fork(tapes, tape, { at: two?.id ?? '', name: 'a fork' });
  assert.deepEqual([...forked.branch()].slice(0, 2), [one, two]);
  assert.deepEqual([...forked.labels()], [[one?.id, 'start']]);
  assert.equal(forked.has(three?.id ?? ''), false);
  const { id, parentSession, sender, cwd } = forked.header;
  assert.deepEqual(
    { parentSession, sender, cwd },
    { parentSession: tape.path, sender: `cli:${id}`, cwd: '/w' },
  );
  assert.deepEqual(
    { ...forked.info(), path: undefined },
    {
      id,
      path: undefined,
      name: 'a fork',
      cwd: '/w',
      messages: 2,
    },
  );
  await forked.append([userSays('on')]).synced;
  assert.deepEqual(texts(tape), ['one', 'two', 'other']);
  assert.deepEqual(texts(forked), ['one', 'two', 'on']);
  const again = await fork(tapes, forked);
  assert.deepEqual(texts(again), ['one', 'two', 'on']);
  assert.deepEqual([...again.labels()], [[one?.id, 'start']]);
});

onEachStorage('a clone has every branch and stands where its source stands', async (tapes) => {
  const { tape } = await talk(tapes);
  moveTo(tape, [...tape.outlines()][0]?.id ?? '');
  const copy = await clone(tapes, tape);
  assert.deepEqual([...copy.entries()], [...tape.entries()]);
  assert.deepEqual([...treeRows(copy)], [...treeRows(tape)]);
  assert.equal(copy.leafId, tape.leafId);
});

onEachStorage('an entry is found by its id, either end of it, or its label', async (tapes) => {
  const { tape, entries } = await talk(tapes);
  const id = entries[2]?.id ?? '';
  setLabel(tape, id, 'here');
  const find = (text: string) => findEntry(tape, text);
  assert.deepEqual([find(id), find(id.slice(-6).toLowerCase()), find('here')], [id, id, id]);
  const refused: Readonly<Record<string, RegExp>> = {
    '01J': /No entry has/,
    nobody: /No entry has the label or id "nobody" in session/,
    [id.slice(0, 10)]: /\d entries have/,
    '': /No entry has/,
  };
  for (const [text, message] of Object.entries(refused))
    assert.throws(() => find(text), { code: 'entry-unknown', message });
});

onEachStorage('the tree shows what was said, each under the nearest entry that is shown', async (tapes) => {
  const { tape, entries } = await talk(tapes);
  const [one, two, three, other] = entries;
  tape.append([
    { type: 'session_info', name: 'hidden' },
    { type: 'custom', customType: 'crab.shell', data: { command: 'ls', cwd: '/', exitCode: 0, output: '' } },
  ]);
  setLabel(tape, other?.id ?? '', 'mark');
  const timestamp = '2030-01-01T00:00:00.000Z';
  const row = (entry: Entry | undefined, parent: Entry | undefined, kind: string, text: string): TreeRow => ({
    id: entry?.id ?? '',
    parentId: parent?.id ?? null,
    kind,
    timestamp,
    text,
    isOnBranch: entry !== three,
  });
  const shell = [...tape.branch()].find(({ type }) => type === 'custom');
  assert.deepEqual(
    [...treeRows(tape)],
    [
      row(one, undefined, 'user', 'one'),
      row(two, one, 'assistant', 'two'),
      row(three, two, 'user', 'three'),
      { ...row(other, two, 'user', 'other'), label: 'mark' },
      row(shell, other, 'crab.shell', '$ ls'),
    ],
  );
  assert.equal([...treeRows(tape, true)].length, 8);
});

test('a text of the tree is one line without controls, and not a long one', async () => {
  const tape = await createMemoryTapes(shared()).create(request);
  tape.append([userSays(`a\n\tb\x1b[31m\u202e${'c'.repeat(1000)}`)]);
  const [row] = treeRows(tape);
  assert.equal(row?.text, `a b [31m ${'c'.repeat(190)}…`);
});

test('a fork of which something cannot be written is not there', async () => {
  await using folder = await tempFolder();
  const home = folder.path;
  const { tape } = await talk(createTapes({ home, ...shared() }));
  let writes = 0;
  const disk = diskWith({
    fdatasync: () => {
      writes++;
      return Promise.reject(systemError('EIO'));
    },
  });
  const failing = createTapes({ home, ...shared(2), disk });
  await assert.rejects(fork(failing, tape), { code: 'storage-failed', message: /EIO/ });
  assert.equal(writes, 1);
  assert.deepEqual(readdirSync(dirname(tape.path ?? '')).sort(), [
    `${tape.header.id}.jsonl`,
    `${tape.header.id}.jsonl.lock`,
  ]);
  await tape.close();
});

test('reading a session takes no lock, mends nothing and sees what is whole', async () => {
  await using folder = await tempFolder();
  const tapes = createTapes({ home: folder.path, ...shared() });
  const { tape } = await talk(tapes);
  const path = tape.path ?? '';
  appendFileSync(path, '{"type":"message","id":"torn');
  const before = readFileSync(path);
  const reader = await tapes.read(path);
  assert.deepEqual(texts(reader), ['one', 'two', 'other']);
  assert.deepEqual([reader.notices, reader.info()], [[], tape.info()]);
  assert.deepEqual(readFileSync(path), before);
  assert.equal(existsSync(`${path}.lock`), true);
  await tape.close();
  await assert.rejects(tapes.read(join(folder.path, 'none.jsonl')), { code: 'session-unknown' });
});

test('an entry whose line changed after it was found is an error, and nothing else', async () => {
  await using folder = await tempFolder();
  const tapes = createTapes({ home: folder.path, ...shared() });
  const { tape, entries } = await talk(tapes);
  await tape.close();
  const path = tape.path ?? '';
  const reader = await tapes.read(path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"three"', '"thrEe"'));
  assert.deepEqual(reader.entry(entries[1]?.id ?? ''), entries[1]);
  assert.throws(() => reader.entry(entries[2]?.id ?? ''), {
    code: 'session-damaged',
    message: /changed after/,
  });
  assert.equal(reader.entry('nobody'), undefined);
});

onEachStorage(
  'what was forbidden, before or behind where it begins, is forbidden in a fork',
  async (tapes) => {
    const { tape, entries } = await talk(tapes);
    const [one, two] = entries;
    const forbid = (rule: string): EntryBody => ({
      type: 'custom',
      customType: RESTRICTION_ENTRY,
      data: { decision: 'deny', rule },
    });
    tape.append([forbid('Bash(rm *)'), userSays('on')]);
    await moveTo(tape, two?.id ?? '').synced;
    await tape.append([forbid('WebFetch')]).synced;
    const early = await fork(tapes, tape, { at: one?.id ?? '' });
    const whole = await fork(tapes, tape);
    for (const copy of [early, whole]) {
      const rules = [...copy.branch()].flatMap((entry) =>
        entry.type === 'custom' ? [Object(entry.data).rule] : [],
      );
      assert.deepEqual(rules.sort(), ['Bash(rm *)', 'WebFetch']);
    }
    assert.deepEqual(texts(early).slice(0, 1), ['one']);
    assert.ok(!texts(early).includes('on'));
  },
);
