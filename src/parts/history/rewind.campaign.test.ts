// Random lives of a workspace, as many as `CRAB_CAMPAIGN` says: the edit tool, the write tool, commands that change files
// in place, commands that move, remove and make, a formatter that writes late within its call, and a person between the
// prompts. Without the person, going back gives every earlier state byte for byte; with her, nothing of hers is lost; and
// going forth again is the inverse each time. Faults that are planted must be noticed, or else this proves nothing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type Past, type PastOptions, past } from '../../../test/support/past.ts';
import { seeded } from '../../core/seeded.ts';
import type { FilesRecord } from './record.ts';

const LIVES = Number(process.env['CRAB_CAMPAIGN'] ?? 150);

const NAMES = [
  'a.txt',
  'b/c.txt',
  'B/C.txt',
  'b/d/ü 名.txt',
  'bin/run',
  'data.bin',
  'empty',
  'crlf.txt',
  'b/link',
];

type Random = (below: number) => number;

function pick<T>(random: Random, all: readonly T[]): T {
  const one = all[random(all.length)];
  if (one === undefined) throw new Error('There is nothing to pick from.');
  return one;
}

function content(random: Random): Buffer {
  const end = random(3) === 0 ? '\r\n' : '\n';
  const lines = Array.from({ length: random(12) }, () => `line ${random(1000)}`);
  const text = Buffer.from(lines.join(end) + (random(2) === 0 ? end : ''));
  return random(5) === 0 ? Buffer.concat([text, Buffer.from([0, 255, random(256)])]) : text;
}

function isFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Clears the way for a file: what stands there goes, and the folders above are made. */
function makeWay(path: string, root: string): void {
  for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
    const info = fs.lstatSync(folder, { throwIfNoEntry: false });
    if (info !== undefined && !info.isDirectory()) fs.rmSync(folder);
  }
  fs.rmSync(path, { recursive: true, force: true });
  fs.mkdirSync(dirname(path), { recursive: true });
}

/** What any program may do to files. */
function disturb(at: Past, random: Random): void {
  const path = at.file(pick(random, NAMES));
  switch (random(8)) {
    case 0:
      if (isFile(path)) fs.appendFileSync(path, content(random));
      return;
    case 1:
      makeWay(path, at.root);
      fs.writeFileSync(path, content(random));
      return;
    case 2:
      if (isFile(path)) fs.chmodSync(path, pick(random, [0o644, 0o755, 0o600, 0o640]));
      return;
    case 3:
      fs.rmSync(path, { recursive: true, force: true });
      return;
    case 4:
      makeWay(path, at.root);
      fs.symlinkSync(pick(random, ['a.txt', '../a.txt', '/nowhere', '..']), path);
      return;
    case 5: {
      const to = at.file(pick(random, NAMES));
      if (!isFile(path) || to === path) return;
      makeWay(to, at.root);
      if (isFile(path)) fs.renameSync(path, to);
      return;
    }
    case 6:
      makeWay(path, at.root);
      fs.mkdirSync(path, { mode: pick(random, [0o755, 0o700]) });
      return;
    default:
      fs.rmSync(dirname(path) === at.root ? path : dirname(path), { recursive: true, force: true });
  }
}

async function writeThroughTool(at: Past, random: Random): Promise<void> {
  const name = pick(random, NAMES);
  const info = fs.lstatSync(at.file(name), { throwIfNoEntry: false });
  if (info !== undefined && !info.isFile()) return;
  for (let folder = dirname(at.file(name)); folder.length > at.root.length; folder = dirname(folder))
    if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) return;
  const old = info === undefined ? Buffer.alloc(0) : fs.readFileSync(at.file(name));
  const isEdit = random(2) === 0;
  const bytes = isEdit ? Buffer.concat([Buffer.from(`edited ${random(100)}\n`), old]) : content(random);
  await at.call('write', [name], (write) => write(name, bytes));
}

async function turn(at: Past, random: Random): Promise<void> {
  for (let calls = 1 + random(3); calls > 0; calls--) {
    if (random(2) === 0) await writeThroughTool(at, random);
    else
      await at.call('command', [], async () => {
        for (let times = 1 + random(4); times > 0; times--) disturb(at, random);
        if (random(3) === 0) await new Promise((resolve) => setImmediate(resolve));
        if (random(3) === 0) disturb(at, random);
      });
  }
}

/** Node's own recursive listing by names follows links. */
function picture(root: string, inside = '', all: Record<string, string> = {}): Record<string, string> {
  for (const entry of fs.readdirSync(join(root, inside), { withFileTypes: true })) {
    const name = join(inside, entry.name);
    const path = join(root, name);
    const mode = (fs.lstatSync(path).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) all[name] = `link ${fs.readlinkSync(path)}`;
    else if (entry.isFile()) all[name] = `file ${mode} ${fs.readFileSync(path).toString('base64')}`;
    else {
      all[name] = `folder ${mode}`;
      picture(root, name, all);
    }
  }
  return all;
}

const ALL = { what: 'both', dryRun: false } as const;

/** A run alone: each earlier state comes back exactly, and so does each later one. */
async function quietLife(seed: number, options?: PastOptions): Promise<void> {
  const random = generator(seed);
  await using at = await past(options);
  for (let times = random(12); times > 0; times--) disturb(at, random);
  const states: Record<string, string>[] = [];
  for (let prompts = 1 + random(4); prompts > 0; prompts--) {
    states.push(picture(at.root));
    at.prompt('more');
    await turn(at, random);
    if (random(3) === 0) await at.restart();
  }
  const last = picture(at.root);
  const rewinding = await at.rewinding();
  const back = 1 + random(states.length);
  await rewinding.rewind(String(back), ALL);
  assert.deepEqual(picture(at.root), states.at(-back), `life ${seed}: ${back} back`);
  if (back < states.length) {
    await rewinding.rewind('1', ALL);
    assert.deepEqual(picture(at.root), states.at(-back - 1), `life ${seed}: and one more`);
    await rewinding.redo({ dryRun: false });
    assert.deepEqual(picture(at.root), states.at(-back), `life ${seed}: that one done again`);
  }
  await rewinding.redo({ dryRun: false });
  assert.deepEqual(picture(at.root), last, `life ${seed}: done again`);
}

/** With a person in between: what she wrote is there after going back, and all is as it was after going forth. */
async function sharedLife(seed: number, options?: PastOptions): Promise<void> {
  const random = generator(seed);
  await using at = await past(options);
  for (let times = random(12); times > 0; times--) disturb(at, random);
  const own = at.file('shared.txt');
  const lines = Array.from({ length: 30 }, (_, line) => `line ${line}\n`);
  fs.writeFileSync(own, lines.join(''));
  for (let prompts = 1 + random(3); prompts > 0; prompts--) {
    at.prompt('more');
    await turn(at, random);
    const changed = fs.readFileSync(own, 'utf8').replace(/^line 3\n/m, 'line 3\nby the run\n');
    await at.call('command', [], () => fs.writeFileSync(own, changed));
    for (let times = random(3); times > 0; times--) disturb(at, random);
    fs.appendFileSync(own, `by the person ${prompts}\n`);
  }
  const mine = new Map(Object.entries(picture(at.root)));
  const rewinding = await at.rewinding();
  const points = await rewinding.points();
  await rewinding.rewind(String(points.length), ALL);
  const shared = fs.readFileSync(own, 'utf8');
  assert.match(shared, /by the person 1/, `life ${seed}: the person's line is lost`);
  assert.doesNotMatch(shared, /by the run/, `life ${seed}: the run's line stayed`);
  await rewinding.redo({ dryRun: false });
  assert.deepEqual(picture(at.root), Object.fromEntries(mine), `life ${seed}: done again`);
}

function generator(seed: number): Random {
  const random = seeded(seed);
  return (below) => Math.floor(random() * below);
}

test(`${LIVES} lives: going back and forth gives each state exactly`, async () => {
  for (let seed = 1; seed <= LIVES; seed++) await quietLife(seed);
});

test(`${LIVES} lives with a person in them: nothing of hers is lost`, async () => {
  for (let seed = 1; seed <= LIVES; seed++) await sharedLife(seed);
});

test('a life in which the run’s folder holds what is the person’s', () => sharedLife(819));

/** How many lives it takes to notice; fails when none does. */
async function noticed(life: typeof quietLife, options: PastOptions): Promise<void> {
  for (let seed = 1; seed <= LIVES; seed++) {
    try {
      await life(seed, options);
    } catch (error) {
      if (error instanceof assert.AssertionError) return;
      throw error;
    }
  }
  assert.fail('the planted fault was not noticed');
}

test('a record that is left out is noticed', async () => {
  let count = 0;
  await noticed(quietLife, { record: (record) => (++count % 3 === 0 ? undefined : record) });
});

test('restoring without the mode is noticed', async () => {
  const withoutMode = (record: FilesRecord): FilesRecord => ({
    ...record,
    changes: record.changes.map((change) =>
      change.before.kind === 'file' ? { ...change, before: { ...change.before, mode: 0o644 } } : change,
    ),
  });
  await noticed(quietLife, { record: withoutMode });
});

test('a merge that is left out is noticed', async () => {
  await noticed(sharedLife, { merge: async () => undefined });
});
