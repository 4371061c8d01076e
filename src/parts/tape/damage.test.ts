// What a tape makes of files that crashes, bad disks, other programs and other versions left.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';

import type { Entry } from '../../core/tape.ts';
import { answerSays, diskWith, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

/** Syncs cost time here and prove nothing: no power fails. */
const disk = diskWith({ fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() });

function tapesIn(home: string, seed = 1) {
  return createTapes({ home, clock: testClock(), random: seeded(seed), disk });
}

/** A whole session as bytes, with its entries and the offset at which each begins. */
async function recorded(home: string, entries: number) {
  const tape = await tapesIn(home).create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  for (let at = 0; at < entries; at++) {
    tape.append([at % 2 === 0 ? userSays(`prompt ${at} “ü”`) : answerSays(`answer ${at}`)]);
  }
  await tape.close();
  const bytes = readFileSync(tape.path ?? '');
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return { bytes, starts, branch: [...[...tape.branch()]] };
}

function assertChained(branch: readonly Entry[]): void {
  for (const [at, entry] of branch.entries()) assert.equal(entry.parentId, branch[at - 1]?.id ?? null);
}

test('wherever a file was cut in its last three entries, what is appended then is kept', async () => {
  await using folder = await tempFolder();
  const { bytes, starts, branch } = await recorded(join(folder.path, 'whole'), 8);
  const [from = 0] = starts.slice(-4);
  for (let cut = from; cut < bytes.length; cut++) {
    const path = join(folder.path, `cut-${cut}.jsonl`);
    await writeFile(path, bytes.subarray(0, cut));
    const whole = starts.filter((start) => start <= cut).length - 2;
    const good = starts[whole + 1] ?? 0;
    const tape = await tapesIn(folder.path, cut).open(path);
    assert.deepEqual([...tape.branch()], branch.slice(0, whole));
    assert.equal(tape.notices.length, cut === good ? 0 : 1);
    const { entries } = tape.append([userSays('after the cut'), answerSays('indeed')]);
    await tape.close();
    const again = await tapesIn(folder.path, cut + 1).open(path);
    assert.deepEqual([...again.branch()], [...branch.slice(0, whole), ...entries], `cut at ${cut}`);
    assert.deepEqual(again.notices, []);
    assertChained([...again.branch()]);
    await again.close();
    const aside = readdirSync(folder.path).filter((name) => name.startsWith(`${basename(path)}.torn-`));
    const saved = aside.map((name) => readFileSync(join(folder.path, name)));
    assert.deepEqual(saved, cut === good ? [] : [bytes.subarray(good, cut)]);
  }
});

test('any flipped bit is noticed, and costs no more than the entry that it is in', async () => {
  await using folder = await tempFolder();
  const { bytes, starts, branch } = await recorded(join(folder.path, 'whole'), 40);
  const random = seeded(20);
  const breaks = starts.slice(1, 6).map((start) => (start - 1) * 8 + 3);
  const flips = [...breaks, ...Array.from({ length: 200 }, () => Math.floor(random() * bytes.length * 8))];
  for (const [round, bit] of flips.entries()) {
    const path = join(folder.path, `${round}.jsonl`);
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    await writeFile(path, flipped);
    const line = starts.filter((start) => start <= bit >> 3).length - 1;
    const opened = await tapesIn(folder.path, round)
      .open(path)
      .catch((error: unknown) => error);
    if (opened instanceof Error) {
      assert.equal(line, 0, `bit ${bit}: ${opened.message}`);
      assert.ok(!breaks.includes(bit), 'the header is whole where only the break behind it is lost');
      assert.deepEqual(readFileSync(path), flipped);
      continue;
    }
    const tape = opened as Awaited<ReturnType<ReturnType<typeof tapesIn>['open']>>;
    assert.equal(tape.notices.length, 1, `bit ${bit} in line ${line + 1} went unnoticed`);
    const ids = new Set([...tape.branch()].map(({ id }) => id));
    const missing = branch.flatMap(({ id }, at) => (ids.has(id) ? [] : [at + 1]));
    assert.ok(
      missing.every((at) => at === line),
      `bit ${bit} in line ${line + 1} cost ${missing}`,
    );
    assertChained([...tape.branch()]);
    await tape.close();
  }
});

test('a damaged line in the middle stays in the file, and its number is told', async () => {
  await using folder = await tempFolder();
  const { bytes, starts, branch } = await recorded(folder.path, 6);
  const path = join(folder.path, 'x.jsonl');
  const damaged = Buffer.from(bytes);
  damaged.fill(0, (starts[2] ?? 0) + 10, (starts[2] ?? 0) + 60);
  await writeFile(path, damaged);
  const tape = await tapesIn(folder.path, 2).open(path);
  assert.deepEqual(tape.notices, [`Line 3 of ${path} is damaged; left in the file and skipped.`]);
  const [first, , third, ...rest] = branch;
  assert.deepEqual([...tape.branch()], [first, { ...third, parentId: first?.id }, ...rest]);
  tape.append([userSays('more')]);
  await tape.close();
  assert.deepEqual(readFileSync(path).subarray(0, damaged.length), damaged);
});

test('a tail of several damaged lines is moved away as one', async () => {
  await using folder = await tempFolder();
  const { bytes, starts, branch } = await recorded(folder.path, 6);
  const path = join(folder.path, 'x.jsonl');
  const damaged = Buffer.from(bytes);
  const from = starts[5] ?? 0;
  for (const start of starts.slice(5, -1)) damaged.fill(0, start, start + 20);
  await writeFile(path, damaged);
  const tape = await tapesIn(folder.path, 2).open(path);
  assert.deepEqual([...tape.branch()], branch.slice(0, 4));
  await tape.close();
  assert.deepEqual(readFileSync(path), bytes.subarray(0, from));
  const [aside = ''] = readdirSync(folder.path).filter((name) => name.includes('.torn-'));
  assert.deepEqual(readFileSync(join(folder.path, aside)), damaged.subarray(from));
  assert.equal(aside, 'x.jsonl.torn-2030-01-01T00-00-00-000Z');
});

const NO_SESSIONS = {
  'an empty file': '',
  'a header without an end': '{"type":"session","version":3,"id":"a","timestamp":"","cwd":"/"}',
  'another JSON file': '{"name":"package"}\n',
  'a text': 'hello\n',
  zeros: '\0'.repeat(4096),
  'a header without an id': '{"type":"session","version":3}\n',
  'a header with a version that is none': '{"type":"session","version":"3","id":"a"}\n',
};

for (const [what, content] of Object.entries(NO_SESSIONS)) {
  test(`${what} is refused and left as it is`, async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.jsonl');
    await writeFile(path, content);
    await assert.rejects(tapesIn(folder.path).open(path), { code: 'session-damaged' });
    assert.deepEqual(readdirSync(folder.path), ['x.jsonl']);
    assert.equal(readFileSync(path, 'utf8'), content);
  });
}

test('a session of a newer version is refused and left as it is', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'x.jsonl');
  const content = '{"type":"session","version":4,"id":"a","timestamp":"","cwd":"/"}\n{"type":"torn';
  await writeFile(path, content);
  await assert.rejects(tapesIn(folder.path).open(path), { code: 'session-newer', message: /version 4/ });
  assert.deepEqual(readdirSync(folder.path), ['x.jsonl']);
  assert.equal(readFileSync(path, 'utf8'), content);
});

test('what is not there, or no file, is told apart', async () => {
  await using folder = await tempFolder();
  const tapes = tapesIn(folder.path);
  await assert.rejects(tapes.open(join(folder.path, 'none.jsonl')), { code: 'session-unknown' });
  await assert.rejects(tapes.open(join(folder.path, 'none', 'x.jsonl')), { code: 'session-unknown' });
  await mkdir(join(folder.path, 'folder.jsonl'));
  await assert.rejects(tapes.open(join(folder.path, 'folder.jsonl')), { code: 'session-damaged' });
  execFileSync('mkfifo', [join(folder.path, 'pipe.jsonl')]);
  await assert.rejects(tapes.open(join(folder.path, 'pipe.jsonl')), { code: 'session-damaged' });
});

test('a session of pi opens with all its entry types, and goes on', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, '2026-01-01_pi.jsonl');
  const base = { timestamp: '2026-01-01T00:00:00.000Z' };
  const entries = [
    {
      type: 'message',
      id: 'a1',
      parentId: null,
      ...base,
      message: { role: 'user', content: 'hi', timestamp: 1 },
    },
    { type: 'thinking_level_change', id: 'a2', parentId: 'a1', ...base, thinkingLevel: 'high' },
    {
      type: 'compaction',
      id: 'a3',
      parentId: 'a2',
      ...base,
      summary: 's',
      firstKeptEntryId: 'a1',
      tokensBefore: 5,
    },
    { type: 'message', id: 'a4', parentId: 'a3', ...base, message: { role: 'bashExecution', command: 'ls' } },
    {
      type: 'custom_message',
      id: 'a5',
      parentId: 'a4',
      ...base,
      customType: 'x',
      content: 'c',
      display: true,
    },
    { type: 'something_new', id: 'a6', parentId: 'a5', ...base, anything: [1] },
    { type: 'session_info', id: 'a7', parentId: 'a6', ...base, name: 'from pi' },
  ];
  const header = { type: 'session', version: 3, id: 'uuid-1', ...base, cwd: '/w' };
  await writeFile(path, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const tape = await tapesIn(folder.path).open(path);
  assert.deepEqual([tape.header, [...tape.branch()], tape.notices], [header, entries, []]);
  assert.deepEqual(tape.info(), { id: 'uuid-1', path, name: 'from pi', cwd: '/w', messages: 2 });
  const { entries: more } = tape.append([userSays('on')]);
  await tape.close();
  const again = await tapesIn(folder.path, 2).open(path);
  assert.deepEqual([...again.branch()], [...entries, ...more]);
  await again.close();
});

test('sessions of versions 1 and 2 are read as chains, the same way each time', async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, 'old.jsonl');
  const timestamp = '2025-01-01T00:00:00.000Z';
  const message = { role: 'hookMessage', content: 'hook' };
  const lines = [
    { type: 'session', id: 'old', timestamp, cwd: '/w' },
    { type: 'message', timestamp, message: { role: 'user', content: 'hi', timestamp: 1 } },
    { type: 'message', timestamp, message },
    { type: 'compaction', timestamp, summary: 's', firstKeptEntryIndex: 2, tokensBefore: 1 },
  ];
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const tape = await tapesIn(folder.path).open(path);
  const { entries } = tape.append([userSays('on')]);
  await tape.close();
  const again = await tapesIn(folder.path, 2).open(path);
  assert.deepEqual(
    [...again.branch()],
    [
      { ...lines[1], id: 'line-2', parentId: null },
      { ...lines[2], id: 'line-3', parentId: 'line-2', message: { ...message, role: 'custom' } },
      { ...lines[3], id: 'line-4', parentId: 'line-3', firstKeptEntryId: 'line-3' },
      ...entries,
    ],
  );
  assert.deepEqual([...again.branch()], [...tape.branch()]);
  await again.close();
});

test('lines that are JSON but no entries, and entries told twice, are damage', async () => {
  await using folder = await tempFolder();
  const { bytes, starts, branch } = await recorded(folder.path, 4);
  const path = join(folder.path, 'x.jsonl');
  const bad = [
    '{"type":"message","id":"m","parentId":null,"timestamp":"","message":{"role":"assistant","content":"text"}}',
    '{"type":"message","id":"m","parentId":null,"timestamp":"","message":null}',
    '{"type":"message","parentId":null,"timestamp":"","message":{"role":"user","content":""}}',
    '{"type":"leaf","id":"l","parentId":null,"timestamp":"","targetId":7}',
    '[]',
    'null',
  ];
  const second = bytes.subarray(starts[2], starts[3]);
  const lines = bad.map((line) => Buffer.from(`${line}\n`));
  await writeFile(
    path,
    Buffer.concat([bytes.subarray(0, starts[3]), ...lines, second, bytes.subarray(starts[3])]),
  );
  const tape = await tapesIn(folder.path, 2).open(path);
  assert.deepEqual([...tape.branch()], branch);
  assert.deepEqual(tape.notices, [
    `Lines 4, 5, 6, 7, 8, 9, 10 of ${path} are damaged; left in the file and skipped.`,
  ]);
  await tape.close();
});

test('a link to a session is that session, with the same lock', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  tape.append([userSays('one')]);
  const link = join(folder.path, 'link.jsonl');
  symlinkSync(tape.path ?? '', link);
  await assert.rejects(tapesIn(folder.path).open(link), { code: 'session-held' });
  await tape.close();
  const again = await tapesIn(folder.path, 2).open(link);
  assert.equal(dirname(again.path ?? ''), dirname(tape.path ?? ''));
  await again.close();
});
