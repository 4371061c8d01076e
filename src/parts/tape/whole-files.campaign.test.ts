// Power fails at every point of what moves or writes whole files: a fork, a repair, a deletion and its undoing. Whatever
// is left, the session is there in one place, whole, and so is the copy once it was acknowledged.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import type { Tapes } from '../../core/tape.ts';
import { fork } from './branching.ts';
import { crashed, type Faults, type Image, MEMORY, Recorder, restore } from './crash-disk.fixture.ts';
import { answerSays, diskWith, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const ROUNDS = Number(process.env['CRAB_CAMPAIGN'] ?? 1500) / 75;
const noSync = diskWith({ fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() });

function tapesIn(root: string, disk = noSync, seed = 1): Tapes {
  const self = { pid: 2 ** 30 + seed, start: '1', host: 'crash' };
  return createTapes({ home: join(root, 'home'), clock: testClock(), random: seeded(seed), disk, self });
}

function imageOf(root: string): Image {
  const image = new Map<string, Buffer | undefined>();
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    image.set(path.slice(root.length + 1), entry.isDirectory() ? undefined : fs.readFileSync(path));
  }
  return image;
}

interface Before {
  readonly image: Image;
  /** Relative to the root. */
  readonly path: string;
  readonly bytes: Buffer;
  /** Of the entries that can be read. */
  readonly ids: readonly string[];
}

/** A session of some size; with `damage` a few of its lines are spoilt. */
async function before(random: () => number, damage: boolean): Promise<Before> {
  await using folder = await tempFolder(MEMORY);
  const tape = await tapesIn(folder.path).create({ agent: 'crab', sender: () => 'user', cwd: '/w' });
  for (let at = 0; at < 12; at++) {
    const text = 'text “ü” '.repeat(1 + Math.floor(random() ** 3 * 3000));
    tape.append([at % 2 === 0 ? userSays(text) : answerSays(text)]);
  }
  await tape.close();
  const path = tape.path ?? '';
  const bytes = fs.readFileSync(path);
  for (let at = 0; damage && at < 3; at++) {
    const spot = Math.floor(random() * bytes.length);
    bytes[spot] = (bytes[spot] ?? 0) ^ 1;
  }
  fs.writeFileSync(path, bytes);
  const reader = await tapesIn(folder.path).read(path);
  const ids = [...reader.outlines()].map(({ id }) => id);
  return { image: imageOf(folder.path), path: path.slice(folder.path.length + 1), bytes, ids };
}

interface Act {
  readonly damage: boolean;
  run(tapes: Tapes, path: string): Promise<unknown>;
  /** What is wrong with what is left, in words. */
  check(root: string, was: Before, isAcknowledged: boolean): Promise<readonly string[]>;
}

async function idsAt(root: string, path: string): Promise<string> {
  const reader = await tapesIn(root).read(join(root, path));
  return [...reader.outlines()].map(({ id }) => id).join();
}

const sessionsIn = (folder: string) => fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

const ACTS: Readonly<Record<string, Act>> = {
  'a fork': {
    damage: false,
    run: async (tapes, path) => (await fork(tapes, await tapes.read(path))).close(),
    async check(root, was, isAcknowledged) {
      const wrong: string[] = [];
      if (!fs.readFileSync(join(root, was.path)).equals(was.bytes)) wrong.push('the source changed');
      const names = sessionsIn(join(root, dirname(was.path)));
      if (isAcknowledged && names.length !== 2) wrong.push('the fork is gone');
      for (const name of names)
        if ((await idsAt(root, join(dirname(was.path), name))) !== was.ids.join())
          wrong.push(`${name} is not whole`);
      return wrong;
    },
  },
  'a repair': {
    damage: true,
    run: (tapes, path) => tapes.repair(path, '/w'),
    async check(root, was, isAcknowledged) {
      const wrong: string[] = [];
      if ((await idsAt(root, was.path)) !== was.ids.join()) wrong.push('the session is not whole');
      const folder = join(root, dirname(was.path));
      const kept = fs.readdirSync(folder).filter((name) => !name.includes('.new') && !name.includes('.lock'));
      const isKept = kept.some((name) => fs.readFileSync(join(folder, name)).equals(was.bytes));
      if (!isKept) wrong.push('what was damaged is gone');
      if (isAcknowledged && (await tapesIn(root).verify(join(root, was.path))).faults > 0)
        wrong.push('still damaged');
      return wrong;
    },
  },
  'a deletion and its undoing': {
    damage: false,
    run: async (tapes, path) => tapes.restore(await tapes.discard(path)),
    async check(root, was, isAcknowledged) {
      const places = [was.path, was.path.replace('/sessions/', '/sessions/.trash/')];
      const there = places.filter((path) => fs.existsSync(join(root, path)));
      if (there.length !== 1) return [`it is in ${there.length} places`];
      const [path = ''] = there;
      const wrong = fs.readFileSync(join(root, path)).equals(was.bytes) ? [] : ['it changed'];
      return isAcknowledged && path !== was.path ? [...wrong, 'it did not come back'] : wrong;
    },
  },
};

/** Runs an act once and looks at what a crash at each of its steps leaves. */
async function crash(act: Act, seed: number, faults: Faults): Promise<readonly string[]> {
  const random = seeded(seed);
  const was = await before(random, act.damage);
  await using folder = await tempFolder(MEMORY);
  restore(was.image, folder.path);
  const recorder = new Recorder(folder.path, was.image, random, faults, { isEverFull: false });
  await act.run(tapesIn(folder.path, recorder.disk, seed + 2), join(folder.path, was.path));
  const wrong: string[] = [];
  for (let count = 0; count <= recorder.steps.length; count++) {
    await using after = await tempFolder(MEMORY);
    restore(crashed(was.image, recorder.steps, count, random), after.path);
    const isAcknowledged = count === recorder.steps.length;
    const found = await act.check(after.path, was, isAcknowledged).catch((error: unknown) => [String(error)]);
    wrong.push(...found.map((what) => `seed ${seed}, step ${count}: ${what}`));
  }
  return wrong;
}

async function campaign(act: Act, rounds: number, faults: Faults = {}): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let seed = 1; seed <= rounds && wrong.length < 5; seed++)
    wrong.push(...(await crash(act, seed, faults)));
  return wrong;
}

for (const [what, act] of Object.entries(ACTS)) {
  test(`${what} leaves the session whole wherever the power fails`, async () => {
    assert.deepEqual(await campaign(act, ROUNDS), []);
  });
}

for (const what of ['a fork', 'a repair']) {
  test(`the campaign would notice ${what} that is not synced`, async () => {
    const act = ACTS[what] ?? assert.fail();
    assert.notDeepEqual(await campaign(act, ROUNDS, { fileSyncIsStub: true }), []);
  });
}
