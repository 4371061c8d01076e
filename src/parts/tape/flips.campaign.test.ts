// Every single flipped bit and every lost end of a session, as many as `CRAB_CAMPAIGN` says, must be found by the check and
// told of by opening, and cost no more than the entry that it is in. A check without checksums shows that finding them
// is no matter of course.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import type { Tapes } from '../../core/tape.ts';
import { moveTo, setLabel } from './branching.ts';
import { MEMORY } from './crash-disk.fixture.ts';
import { answerSays, diskWith, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const FLIPS = Number(process.env['CRAB_CAMPAIGN'] ?? 1000);
const disk = diskWith({ fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() });

function tapesIn(home: string, seed = 1): Tapes {
  return createTapes({ home, clock: testClock(), random: seeded(seed), disk });
}

/** A session with entries of every kind, and the offsets at which its lines begin. */
async function recorded(home: string) {
  const tape = await tapesIn(home).create({ agent: 'crab', sender: () => 'user', cwd: '/w', name: 'flips' });
  for (let at = 0; at < 16; at++)
    tape.append([at % 2 === 0 ? userSays(`prompt ${at} “ü”`) : answerSays(`answer ${at}`)]);
  const [, , , target] = tape.outlines();
  setLabel(tape, target?.id ?? '', 'here');
  moveTo(tape, target?.id ?? null, 'It led nowhere.');
  const compaction = { summary: 'So far.', firstKeptEntryId: '', tokensBefore: 1 };
  tape.append([
    { type: 'compaction', ...compaction },
    { type: 'custom', customType: 'x', data: { a: [1] } },
  ]);
  await tape.close();
  const bytes = readFileSync(tape.path ?? '');
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return { bytes, starts, ids: [...tape.outlines()].map(({ id }) => id) };
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

test(`each of ${FLIPS} flipped bits is found, and costs one entry at most`, async () => {
  await using folder = await tempFolder(MEMORY);
  const { bytes, starts, ids } = await recorded(join(folder.path, 'whole'));
  const path = join(folder.path, 'x.jsonl');
  const random = seeded(20);
  const breaks = starts.slice(1).map((start) => (start - 1) * 8 + 3);
  for (let round = 0; round < FLIPS; round++) {
    const bit = breaks[round] ?? Math.floor(random() * bytes.length * 8);
    const line = starts.filter((start) => start <= bit >> 3).length - 1;
    const where = `bit ${bit} in line ${line + 1}`;
    await writeFile(path, flipped(bytes, bit));
    const { faults } = await tapesIn(folder.path).verify(path);
    assert.ok(faults > 0, `${where} went unnoticed`);
    const repaired = await tapesIn(folder.path, 2).repair(path, '/w');
    assert.ok(repaired.entries >= ids.length - 1, `${where} cost more than its entry`);
    const tape = await tapesIn(folder.path, 3).open(path);
    assert.deepEqual(tape.notices, [], where);
    const there = new Set([...tape.outlines()].map(({ id }) => id));
    // The flip may be in an id: then the entry has none that is known.
    const missing = ids.filter((id) => !there.has(id));
    assert.ok(missing.length <= 1 && missing.every((id) => id === ids[line - 1]), `${where} cost ${missing}`);
    await tape.close();
  }
});

test('wherever the last entries are cut off, the check finds it and a repair moves only the rest away', async () => {
  await using folder = await tempFolder(MEMORY);
  const { bytes, starts } = await recorded(join(folder.path, 'whole'));
  const [from = 0] = starts.slice(-5);
  for (let cut = from; cut < bytes.length; cut++) {
    const path = join(folder.path, `${cut}.jsonl`);
    await writeFile(path, bytes.subarray(0, cut));
    const isWhole = starts.includes(cut);
    const { findings } = await tapesIn(folder.path).verify(path);
    assert.deepEqual(
      findings.map(({ fault }) => fault),
      isWhole ? [] : ['torn'],
      `cut at ${cut}`,
    );
    const { did, kept } = await tapesIn(folder.path).repair(path, '/w');
    assert.equal(did, isWhole ? 'nothing' : 'tail');
    const good = starts.findLast((start) => start <= cut) ?? 0;
    assert.deepEqual(readFileSync(path), bytes.subarray(0, good));
    if (kept !== undefined) assert.deepEqual(readFileSync(kept), bytes.subarray(good, cut));
  }
});

test('without checksums many flips would go unnoticed', async () => {
  await using folder = await tempFolder(MEMORY);
  const { bytes } = await recorded(join(folder.path, 'whole'));
  const bare = Buffer.from(bytes.toString().replaceAll(/,"crc":"[0-9a-f]{8}"\}/g, '}'));
  const path = join(folder.path, 'x.jsonl');
  const random = seeded(21);
  let unnoticed = 0;
  for (let round = 0; round < 100; round++) {
    await writeFile(path, flipped(bare, Math.floor(random() * bare.length * 8)));
    if ((await tapesIn(folder.path).verify(path)).faults === 0) unnoticed++;
  }
  assert.ok(unnoticed > 20, `${unnoticed} of 100 went unnoticed`);
});
