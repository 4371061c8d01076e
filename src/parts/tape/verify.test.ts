// What a check finds, and what a repair makes of it. The strict look and the forgiving one must agree on what is there.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import type { Tapes } from '../../core/tape.ts';
import { moveTo } from './branching.ts';
import { encodeLine } from './line.ts';
import { answerSays, diskWith, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const disk = diskWith({ fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() });

function tapesIn(home: string, seed = 1): Tapes {
  return createTapes({ home, clock: testClock(), random: seeded(seed), disk });
}

async function recorded(home: string) {
  const tape = await tapesIn(home).create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  tape.append([userSays('one'), answerSays('two'), userSays('three')]);
  moveTo(tape, [...tape.outlines()][1]?.id ?? null);
  tape.append([userSays('four')]);
  await tape.close();
  const path = tape.path ?? '';
  return { path, bytes: readFileSync(path), lines: readFileSync(path, 'utf8').trimEnd().split('\n') };
}

const faultsOf = async (tapes: Tapes, path: string) =>
  (await tapes.verify(path)).findings.map(({ line, fault }) => `${line} ${fault}`);

test('a sound session has no faults, whoever wrote it and whether or not it is open', async () => {
  await using folder = await tempFolder();
  const { path, bytes } = await recorded(folder.path);
  const sound = { path, bytes: bytes.length, lines: 6, entries: 5, unsealed: 0, findings: [], faults: 0 };
  assert.deepEqual(await tapesIn(folder.path).verify(path), sound);
  const held = await tapesIn(folder.path, 2).open(path);
  await appendFile(path, '{"on its way');
  assert.deepEqual((await tapesIn(folder.path).verify(path)).faults, 0);
  await held.close();
  assert.deepEqual(await faultsOf(tapesIn(folder.path), path), ['7 torn']);
  const pi = join(folder.path, 'pi.jsonl');
  await writeFile(
    pi,
    '{"type":"session","id":"x","timestamp":"","cwd":"/"}\n{"type":"custom","customType":"x"}\n',
  );
  assert.deepEqual(await tapesIn(folder.path).verify(pi), {
    ...{ path: pi, bytes: 88, lines: 2, entries: 1, unsealed: 2, findings: [], faults: 0 },
  });
});

type Damage = (lines: readonly string[]) => string;

const file = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const without =
  (...numbers: readonly number[]): Damage =>
  (lines) =>
    file(lines.filter((_, at) => !numbers.includes(at + 1)));
const replaced =
  (number: number, line: string): Damage =>
  (lines) =>
    file(lines.map((each, at) => (at + 1 === number ? line : each)));
const sealed = (record: object) => encodeLine(record).trimEnd();

const DAMAGES: Readonly<
  Record<string, { readonly damage: Damage; readonly found: readonly string[]; readonly kept: number }>
> = {
  'a flipped letter': {
    damage: (lines) => replaced(3, (lines[2] ?? '').replace('two', 'tvo'))(lines),
    found: ['3 checksum', '4 parent', '5 parent', '6 parent'],
    kept: 4,
  },
  'a line that is gone': { damage: without(3), found: ['3 parent', '4 parent', '5 parent'], kept: 4 },
  'a line told twice': {
    damage: (lines) => file([...lines, lines[5] ?? '']),
    found: ['7 duplicate'],
    kept: 5,
  },
  'no header': { damage: without(1), found: ['1 header'], kept: 5 },
  'a header that is damaged beyond reading': {
    damage: replaced(1, 'garbage'),
    found: ['1 header'],
    kept: 5,
  },
  'text between': {
    damage: (lines) => file([...lines.slice(0, 3), 'text', ...lines.slice(3)]),
    found: ['4 no-json'],
    kept: 5,
  },
  'an entry without its fields': {
    damage: (lines) =>
      file([...lines, sealed({ type: 'leaf', id: 'x', parentId: null, timestamp: '', targetId: 7 })]),
    found: ['7 no-entry'],
    kept: 5,
  },
};

for (const [what, { damage, found, kept }] of Object.entries(DAMAGES)) {
  test(`${what} is found, and mended with nothing lost`, async () => {
    await using folder = await tempFolder();
    const { path, lines } = await recorded(folder.path);
    const damaged = damage(lines);
    await writeFile(path, damaged);
    const tapes = tapesIn(folder.path);
    assert.deepEqual(await faultsOf(tapes, path), found);
    const repair = await tapes.repair(path, '/w');
    assert.deepEqual({ did: repair.did, entries: repair.entries }, { did: 'rewritten', entries: kept });
    assert.equal(readFileSync(repair.kept ?? '', 'utf8'), damaged);
    assert.equal(basename(repair.kept ?? ''), `${basename(path)}.damaged-2030-01-01T00-00-00-000Z`);
    assert.deepEqual((await tapes.verify(path)).faults, 0);
    const again = await tapesIn(folder.path, 2).open(path);
    assert.deepEqual(
      [again.notices, again.header.cwd, again.header.id],
      [[], '/w', basename(path, '.jsonl')],
    );
    await again.append([userSays('on')]).synced;
    await again.close();
    assert.deepEqual(await tapes.repair(path, '/w'), { did: 'nothing', entries: kept + 1, lost: [] });
  });
}

test('of a half-written end only the end is moved away', async () => {
  await using folder = await tempFolder();
  const { path, bytes } = await recorded(folder.path);
  await appendFile(path, '{"torn');
  const repair = await tapesIn(folder.path).repair(path, '/w');
  assert.deepEqual(
    { ...repair, kept: basename(repair.kept ?? '') },
    {
      did: 'tail',
      kept: `${basename(path)}.torn-2030-01-01T00-00-00-000Z`,
      entries: 5,
      lost: [],
    },
  );
  assert.deepEqual(readFileSync(path), bytes);
  assert.equal(readFileSync(repair.kept ?? '', 'utf8'), '{"torn');
});

test('what is held, newer, or holds nothing is left as it is', async () => {
  await using folder = await tempFolder();
  const { path } = await recorded(folder.path);
  const held = await tapesIn(folder.path, 2).open(path);
  await assert.rejects(tapesIn(folder.path, 3).repair(path, '/w'), { code: 'session-held' });
  await held.close();
  const aside = join(folder.path, 'aside');
  await mkdir(aside);
  const newer = join(aside, 'newer.jsonl');
  await writeFile(newer, '{"type":"session","version":9,"id":"x"}\n{}\n');
  await assert.rejects(tapesIn(folder.path).repair(newer, '/w'), { code: 'session-newer' });
  assert.match((await tapesIn(folder.path).verify(newer)).findings[0]?.text ?? '', /newer version/);
  const empty = join(aside, 'empty.jsonl');
  const garbage = join(aside, 'garbage.jsonl');
  await writeFile(empty, '');
  await writeFile(garbage, 'garbage\n'.repeat(200));
  for (const path of [empty, garbage]) {
    await assert.rejects(tapesIn(folder.path).repair(path, '/w'), { code: 'session-damaged' });
    assert.equal((await tapesIn(folder.path).verify(path)).faults > 0, true);
  }
  const { findings, faults } = await tapesIn(folder.path).verify(garbage);
  assert.deepEqual([findings.length, faults], [100, 200]);
  assert.deepEqual(readdirSync(aside).sort(), ['empty.jsonl', 'garbage.jsonl', 'newer.jsonl']);
  await assert.rejects(tapesIn(folder.path).verify(join(dirname(path), 'none.jsonl')), {
    code: 'storage-failed',
  });
});
